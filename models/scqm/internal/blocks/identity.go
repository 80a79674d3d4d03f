package blocks

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// Identity returns a string that identifies a loss: name, parameters, program and matrix.
func Identity(l framework.Loss) string {
	id := l.Name()
	if p, ok := l.(rowloss.Parametric); ok {
		params := p.Params()
		for _, name := range slices.Sorted(maps.Keys(params)) {
			id += fmt.Sprintf(" %s=%x", name, math.Float64bits(params[name]))
		}
	}
	if e, ok := l.(rowloss.Identified); ok {
		program := e.Program()
		id += " " + program.SHA256 + " " + program.Params
	}
	if q, ok := l.(framework.Quadratic); ok {
		matrix := q.Matrix()
		b := make([]byte, 0, 8*len(matrix))
		for _, v := range matrix {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		sum := sha256.Sum256(b)
		id += " " + hex.EncodeToString(sum[:])
	}
	return id
}
