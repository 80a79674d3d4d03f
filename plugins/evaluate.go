package plugins

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/internal/protocol"
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
	// mostMessage bounds messages, and with them batches, in the plugin: there
	// can be rows longer than a part.
	mostMessage = 256 << 20
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

// unwritten marks results that the plugin has yet to write: a NaN like no
// other.
var unwritten = math.Float64frombits(0x7ff8_5c93_11ed_a75e)

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

// evaluate scores a batch, in calls of bounded size.
func (p *Plugin) evaluate(b *batch) error {
	if err := p.failed(); err != nil {
		return err
	}
	if b.dim < 1 || b.dim > maxDim || len(b.residuals)%b.dim != 0 {
		return fmt.Errorf("plugins: %s: evaluate: %d residuals are not rows of %d", p.name, len(b.residuals), b.dim)
	}
	if len(b.results) == 0 || len(b.residuals) == 0 {
		return nil
	}
	parts := b.split()
	if len(parts) == 1 {
		return p.call(b)
	}
	return p.callAll(parts)
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

// callAll makes a call for each part. The error is that of the first part that
// has one.
func (p *Plugin) callAll(parts []*batch) error {
	errs := make([]error, len(parts))
	var next atomic.Int64
	var broken atomic.Bool
	work := func() {
		for !broken.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(parts) {
				return
			}
			if errs[i] = p.call(parts[i]); errs[i] != nil {
				broken.Store(true)
			}
		}
	}
	var wg sync.WaitGroup
	for range min(underWay, len(parts)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// call makes one call when it is its turn, through shared memory where that is
// possible.
func (p *Plugin) call(b *batch) error {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-p.ctx.Done():
	}
	if err := p.ctx.Err(); err != nil { // also where there was a turn
		return fmt.Errorf("plugins: %s: evaluate: %w", p.name, err)
	}
	if err := p.terminal(); err != nil { // since it waits
		return err
	}
	shared, err := p.lanes.borrow(b.bytes())
	if errors.Is(err, errNoSegment) {
		return p.callBytes(b)
	}
	if err != nil {
		return err
	}
	err = p.callShared(b, shared)
	if p.ctx.Err() != nil {
		shared.close() // its reply may come still, and is of no other call
		return err
	}
	p.lanes.give(shared)
	return err
}

// callShared copies the arrays once in each direction. Results are judged on
// the copy, which the plugin cannot change any more.
func (p *Plugin) callShared(b *batch, l *lane) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.CallTimeout)
	defer cancel()
	at := 0
	next := func(n int) []float64 {
		place := l.segment.Floats(at, n)
		at += shm.Span(n)
		return place
	}
	residuals := next(len(b.residuals))
	copy(residuals, b.residuals)
	copy(next(len(b.directions)), b.directions)
	places := make([][]float64, len(b.results))
	for i, r := range b.results {
		places[i] = next(len(r.to))
		for from := 0; from < len(places[i]); from += blockLength {
			places[i][from] = unwritten
			places[i][min(from+blockLength, len(places[i]))-1] = unwritten
		}
	}
	request := b.request()
	request.Segment = l.id
	var reply *protocol.EvaluateResponse
	var err error
	if l.line != nil {
		reply, err = l.line.call(ctx, request)
	} else {
		reply, err = p.rpc.Evaluate(ctx, request, grpc.MaxCallRecvMsgSize(replySlack))
	}
	if err != nil {
		return p.callError(ctx, "evaluate", p.options.CallTimeout, err)
	}
	if err := checkRows(b, reply); err != nil {
		return p.wrong("evaluate", err)
	}
	return p.judge(b, places, func(k int) float64 { return residuals[k] })
}

// callBytes sends the arrays inside of the messages.
func (p *Plugin) callBytes(b *batch) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.CallTimeout)
	defer cancel()
	request, want := b.request(), 0
	request.Residuals = toBytes(b.residuals)
	request.Directions = toBytes(b.directions)
	for _, r := range b.results {
		want += wordBytes * len(r.to)
	}
	reply, err := p.rpc.Evaluate(ctx, request, grpc.MaxCallRecvMsgSize(want+replySlack))
	if err != nil {
		return p.callError(ctx, "evaluate", p.options.CallTimeout, err)
	}
	if err := checkBytes(b, reply); err != nil {
		return p.wrong("evaluate", err)
	}
	for i, r := range b.results {
		fromBytes(r.to, reply.Results[i])
	}
	return p.judge(b, nil, func(k int) float64 { return fromWord(request.Residuals[wordBytes*k:]) })
}

func checkRows(b *batch, reply *protocol.EvaluateResponse) error {
	if reply.Rows != uint64(b.rows()) {
		return fmt.Errorf("it says that it evaluated %d rows of %d", reply.Rows, b.rows())
	}
	return nil
}

func checkBytes(b *batch, reply *protocol.EvaluateResponse) error {
	if err := checkRows(b, reply); err != nil {
		return err
	}
	if len(reply.Results) != len(b.results) {
		return fmt.Errorf("%d arrays came back, %d were asked for", len(reply.Results), len(b.results))
	}
	for i, r := range b.results {
		if got := len(reply.Results[i]); got != wordBytes*len(r.to) {
			return fmt.Errorf("%s has %d bytes, want %d", word(r.quantity), got, wordBytes*len(r.to))
		}
	}
	return nil
}

// judge looks for results that break a law which every loss must keep. Results
// that are in places of the segment are copied before.
func (p *Plugin) judge(b *batch, places [][]float64, residual func(k int) float64) error {
	for i, r := range b.results {
		good := true
		for from := 0; from < len(r.to); from += blockLength {
			block := r.to[from:min(from+blockLength, len(r.to))]
			source := block
			if places != nil {
				source = places[i][from:]
			}
			good = take(block, source, r.positive()) && good
		}
		if good {
			continue
		}
		if err := r.inspect(b, residual); err != nil {
			return &Error{p.name, "evaluate", ErrReply, err.Error(), p.process.words.lastWords()}
		}
	}
	return nil
}

// positive says that the numbers must be at least 0.
func (r result) positive() bool {
	q := r.quantity
	return q == protocol.Quantity_QUANTITY_VALUES || q == protocol.Quantity_QUANTITY_WEIGHTS
}

// take copies numbers, each of which it reads once, and reports whether all are
// finite and, where that is asked, at least 0. Four sums keep the adder busy:
// x - x is 0 for finite numbers only.
func take(dst, src []float64, positive bool) bool {
	var s0, s1, s2, s3, least float64
	taken, src := dst, src[:len(dst)]
	for len(dst) >= 4 {
		to, from := (*[4]float64)(dst), (*[4]float64)(src)
		a, b, c, d := from[0], from[1], from[2], from[3]
		to[0], to[1], to[2], to[3] = a, b, c, d
		s0 += a - a
		s1 += b - b
		s2 += c - c
		s3 += d - d
		dst, src = dst[4:], src[4:]
	}
	for k, v := range src {
		dst[k] = v
		s0 += v - v
	}
	if positive {
		for _, v := range taken {
			least = min(least, v)
		}
	}
	return s0+s1+s2+s3 == 0 && least >= 0
}

// inspect finds the first bad number. Numbers that are not finite are fine
// where the residuals are not, or are so large that a loss may overflow.
func (r result) inspect(b *batch, residual func(k int) float64) error {
	for k, v := range r.to {
		row := k / r.per
		switch {
		case math.Float64bits(v) == math.Float64bits(unwritten):
			return fmt.Errorf("%s of row %d was not written", word(r.quantity), row)
		case r.positive() && v < 0:
			return fmt.Errorf("%s of row %d is %g, and must be at least 0", word(r.quantity), row, v)
		case !math.IsNaN(v) && !math.IsInf(v, 0):
			continue
		}
		extreme, norm := false, 0.0
		for j := row * b.dim; j < (row+1)*b.dim; j++ {
			extreme = extreme || !(math.Abs(residual(j)) <= ordinary)
			norm = math.Hypot(norm, residual(j))
		}
		if !extreme {
			return fmt.Errorf("%s of row %d is %g for finite residuals of norm %.3g", word(r.quantity), row, v, norm)
		}
	}
	return nil
}

// word is the word for a result in errors.
func word(q protocol.Quantity) string {
	switch q {
	case protocol.Quantity_QUANTITY_VALUES:
		return "the value"
	case protocol.Quantity_QUANTITY_GRADIENTS:
		return "the gradient"
	case protocol.Quantity_QUANTITY_WEIGHTS:
		return "the weight"
	case protocol.Quantity_QUANTITY_PRODUCTS:
		return "the Hessian product"
	default:
		return "the profile"
	}
}

// refuses reports whether a plugin answered that it cannot do something.
func refuses(err error) bool {
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Unavailable, codes.Canceled, codes.Internal:
		return false
	default:
		return true
	}
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
