package plugins

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/shm"
	"github.com/scqm/scqm/plugins/internal/segment"
	"github.com/scqm/scqm/plugins/protocol"
)

// evaluate evaluates a batch in calls of at most partBytes.
func (p *Plugin) evaluate(b *batch) error {
	if err := p.failed(); err != nil {
		return err
	}
	if next := p.next.Load(); next != nil {
		return next.evaluate(b)
	}
	if b.dim < 1 || b.dim > maxDim || len(b.residuals)%b.dim != 0 {
		return fmt.Errorf("plugins: %s: evaluate: %d residuals are not rows of %d", p.name, len(b.residuals), b.dim)
	}
	if only := int(p.offer.Dim); only > 0 && b.dim != only {
		return fmt.Errorf("plugins: loss %s is for rows of length %d, not %d: %w", p.name, only, b.dim, framework.ErrInvalid)
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

// callAll makes one call for each part, with at most cap(p.turns) calls at a time. It
// returns the error of the first part that failed.
func (p *Plugin) callAll(parts []*batch) error {
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		wg.Go(func() { errs[i] = p.call(part) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// call makes one call. If the plugin has ended, it calls the plugin that replaces it.
func (p *Plugin) call(b *batch) error {
	err := p.callOnce(b)
	if next := p.successor(err); next != nil {
		return next.callOnce(b)
	}
	return err
}

// callOnce waits for its turn and makes one call. It uses shared memory if possible.
func (p *Plugin) callOnce(b *batch) error {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-p.ctx.Done():
	}
	if err := p.ctx.Err(); err != nil { // turns may be free although ctx is done
		return fmt.Errorf("plugins: %s: evaluate: %w", p.name, err)
	}
	if err := p.terminal(); err != nil { // the plugin may have failed during the wait
		return err
	}
	shared, err := p.segments.Borrow(b.bytes())
	if errors.Is(err, segment.ErrNone) {
		return p.callBytes(b)
	}
	if err != nil {
		return err
	}
	err = p.callShared(b, shared)
	if p.ctx.Err() != nil {
		shared.Close() // a late reply could be taken for that of the next call
		return err
	}
	p.segments.Return(shared)
	return err
}

// callShared copies the arrays into the segment and the results out of it. It checks the copies,
// against residuals that are not shared, so that the plugin cannot change what is checked.
func (p *Plugin) callShared(b *batch, s *segment.Segment) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.CallTimeout)
	defer cancel()
	at := 0
	next := func(n int) []float64 {
		place := s.Floats(at, n)
		at += shm.Span(n)
		return place
	}
	copy(next(len(b.residuals)), b.residuals)
	residuals := b.kept()
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
	request.Segment = s.ID
	var reply *protocol.EvaluateResponse
	var err error
	if s.Conn != nil {
		reply, err = s.Conn.Call(ctx, request)
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

// callBytes sends the arrays as bytes in the gRPC messages.
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

// judge returns an error if a result violates a law that holds for every loss. It first
// copies results from the segment, in places, to b.
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
			return &Error{p.name, "evaluate", ErrReply, err.Error(), p.process.LastWords()}
		}
	}
	return nil
}
