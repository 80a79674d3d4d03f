package scqm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/blocks"
)

// fingerprinted returns the options with a checkpoint that is identified by hashes of the data and of all settings that
// change the course of a fit. Only the same fit can then resume a stored run. Limits and the number of threads may
// change.
func (c Config) fingerprinted(o framework.Options, n, D, s int, solver framework.Solver, data func(h hash.Hash)) framework.Options {
	if o.Checkpoint == nil || o.Checkpoint.Fingerprint != "" {
		return o
	}
	h := sha256.New()
	fmt.Fprintf(h, "scqm %d x %d, d %d, s %d, linear %v, ridge %x, inits %d, seed %d, solver %T %+v, loss %s, missing %v",
		n, D, c.Latent, s, c.Linear, c.ridge(), c.Inits, c.Seed, solver, solver, blocks.Identity(c.Loss), c.IgnoreMissing)
	data(h)
	checkpoint := *o.Checkpoint
	checkpoint.Fingerprint = hex.EncodeToString(h.Sum(nil))
	o.Checkpoint = &checkpoint
	return o
}

func hashFloats(h hash.Hash, x []float64) {
	buf := make([]byte, 0, 8192)
	for i, v := range x {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		if len(buf) == cap(buf) || i == len(x)-1 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
}
