package denoise

import (
	"encoding/binary"
	"fmt"
	"math"
)

// numbers are encoded as 8 bytes each, the least significant first: package gob takes a number apart, which took
// most of the time of tiles that go through files.
type numbers []float64

// GobEncode implements [gob.GobEncoder].
func (v numbers) GobEncode() ([]byte, error) {
	b := make([]byte, 8*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(x))
	}
	return b, nil
}

// GobDecode implements [gob.GobDecoder].
func (v *numbers) GobDecode(b []byte) error {
	if len(b)%8 != 0 {
		return fmt.Errorf("denoise: %d bytes are no numbers: %w", len(b), ErrInput)
	}
	*v = nil
	if len(b) > 0 {
		*v = make(numbers, len(b)/8)
	}
	for i := range *v {
		(*v)[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return nil
}

// lists are lists of numbers, as they are encoded.
func lists(of [][]float64) []numbers {
	v := make([]numbers, len(of))
	for k, list := range of {
		v[k] = list
	}
	return v
}

// plainLists are those lists again.
func plainLists(of []numbers) [][]float64 {
	v := make([][]float64, len(of))
	for k, list := range of {
		v[k] = list
	}
	return v
}
