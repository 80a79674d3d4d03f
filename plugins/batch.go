package plugins

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/protocol"
)

const (
	// maxDim is the maximum number of entries of a row.
	maxDim = 1 << 22
	// partBytes is the maximum size of the residuals of one call. A larger batch is split
	// into several calls, some of which overlap: while the plugin computes one, the next
	// is copied. Smaller parts were slower on a busy machine, where it takes long until
	// the other process is scheduled.
	partBytes = 1 << 20
	underWay  = 2
	// maxMessage is the maximum size of a message, and so of a batch, in the plugin. It
	// exceeds partBytes because one row can be longer than a part.
	maxMessage = 256 << 20
	// replySlack is the maximum size of a reply in addition to its arrays.
	replySlack = 64 << 10
	// ordinary is the largest absolute residual for which results must be finite.
	ordinary = 1e100
	// wordBytes is the size of a float64.
	wordBytes = 8
	// blockLength is the number of results that are copied and checked at a time, while
	// they are in the cache. The first and the last result of each block are set to the
	// value unwritten before the call.
	blockLength = 1024
)

// result is a requested quantity and its destination. Each row has per numbers.
type result struct {
	quantity protocol.Quantity
	to       []float64
	per      int
}

// batch is one evaluation request. The directions are nil except for Hessian products.
type batch struct {
	dim                   int
	eps                   float64
	stretches             []*protocol.Stretch // each with its own eps; may be nil
	residuals, directions []float64
	results               []result
}

func (b *batch) rows() int { return len(b.residuals) / b.dim }

// part returns the batch of rows lo to hi only. These rows have the same eps.
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

// kept returns the residuals for use after the call. It copies them if the results overwrite them.
func (b *batch) kept() []float64 {
	for _, r := range b.results {
		if len(r.to) > 0 && &r.to[0] == &b.residuals[0] {
			return slices.Clone(b.residuals)
		}
	}
	return b.residuals
}

// bytes returns the size of a segment that holds all arrays of the batch.
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

// split divides a batch into parts of at most partBytes, but at least one row. It does
// not divide a batch with stretches, which is small.
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

// fromBytes decodes len(dst) numbers from b.
func fromBytes(dst []float64, b []byte) {
	for i := range dst {
		dst[i] = fromWord(b[wordBytes*i:])
	}
}

func fromWord(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
