package plugins

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/protocol"
)

const (
	// maxDim bounds the length of a row.
	maxDim = 1 << 22
	// partBytes bounds the residuals of one call. Larger batches make several,
	// of which some are under way at a time: while the plugin computes one, the
	// next is copied. Smaller parts were slower on a busy machine, where it
	// takes long until the other process has its turn.
	partBytes = 1 << 20
	underWay  = 2
	// maxMessage bounds messages, and with them batches, in the plugin: there
	// can be rows longer than a part.
	maxMessage = 256 << 20
	// replySlack is what a reply may have beside its arrays.
	replySlack = 64 << 10
	// ordinary bounds the residuals for which results must be finite.
	ordinary = 1e100
	// wordBytes is the size of a number.
	wordBytes = 8
	// blockLength is how many results are copied and judged at a time, while
	// they are in the cache; the first and the last of each block are marked
	// as unwritten before the call.
	blockLength = 1024
)

// result is a quantity asked for, and where it goes: per numbers for each row.
type result struct {
	quantity protocol.Quantity
	to       []float64
	per      int
}

// batch is an evaluation. Directions are nil except for products.
type batch struct {
	dim                   int
	eps                   float64
	stretches             []*protocol.Stretch // with eps of their own; may be nil
	residuals, directions []float64
	results               []result
}

func (b *batch) rows() int { return len(b.residuals) / b.dim }

// part is the evaluation of rows lo to hi only, which have the same eps.
func (b *batch) part(lo, hi int) *batch {
	cut := &batch{dim: b.dim, eps: b.eps, residuals: b.residuals[lo*b.dim : hi*b.dim]}
	if b.directions != nil {
		cut.directions = b.directions[lo*b.dim : hi*b.dim]
	}
	for _, r := range b.results {
		cut.results = append(cut.results, result{r.quantity, r.to[lo*r.per : hi*r.per], r.per})
	}
	return cut
}

// kept returns the residuals for after the call: a copy where results overwrite them.
func (b *batch) kept() []float64 {
	for _, r := range b.results {
		if len(r.to) > 0 && &r.to[0] == &b.residuals[0] {
			return slices.Clone(b.residuals)
		}
	}
	return b.residuals
}

// bytes is the size of a segment that holds all arrays.
func (b *batch) bytes() int {
	sum := shm.Span(len(b.residuals)) + shm.Span(len(b.directions))
	for _, r := range b.results {
		sum += shm.Span(len(r.to))
	}
	return sum
}

func (b *batch) request() *protocol.EvaluateRequest {
	r := &protocol.EvaluateRequest{Rows: uint64(b.rows()), Dim: uint32(b.dim), Eps: b.eps, Stretches: b.stretches}
	for _, result := range b.results {
		r.Want = append(r.Want, result.quantity)
	}
	return r
}

// split cuts a batch into parts of bounded size, but at least a row. Batches
// with stretches are small.
func (b *batch) split() []*batch {
	rows := max(partBytes/(wordBytes*b.dim), 1)
	if b.rows() <= rows || b.stretches != nil {
		return []*batch{b}
	}
	var parts []*batch
	for lo := 0; lo < b.rows(); lo += rows {
		parts = append(parts, b.part(lo, min(lo+rows, b.rows())))
	}
	return parts
}

func toBytes(x []float64) []byte {
	if x == nil {
		return nil
	}
	b := make([]byte, wordBytes*len(x))
	for i, v := range x {
		binary.LittleEndian.PutUint64(b[wordBytes*i:], math.Float64bits(v))
	}
	return b
}

// fromBytes reads len(dst) numbers.
func fromBytes(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = fromWord(b[wordBytes*i:])
	}
}

func fromWord(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
