package plugins

import (
	"slices"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/gather"
	"github.com/scqm/scqm/plugins/protocol"
)

const (
	// coalesceBytes is the maximum size of the residuals of a batch that is merged with
	// batches of other goroutines. A larger batch is sent in a call of its own.
	coalesceBytes = 64 << 10
	// smallCalls is the maximum number of concurrent calls for small batches.
	smallCalls = 2
	// maxCoalesced is the maximum number of stretches of a request.
	maxCoalesced = 1024
	// callers is the recommended number of goroutines that use a plugin at the same time.
	callers = 64
)

// kind is the key of a batch. Only batches with equal keys are merged.
type kind struct {
	dim        int
	directions bool
	smooth     bool
	want       [7]protocol.Quantity
}

// score evaluates a batch. It sends only rows with finite residuals to the plugin.
func (p *Plugin) score(b *batch) error {
	if b.dim < 1 || len(b.residuals)%b.dim != 0 {
		return p.evaluate(b) // which returns the error
	}
	var results [][]float64
	for _, r := range b.results {
		results = append(results, r.to)
	}
	return dense.WithFiniteRows(b.residuals, b.dim, func(finite []float64) error {
		b.residuals = finite
		return p.scoreFinite(b)
	}, results...)
}

// scoreFinite evaluates a batch. It merges a small batch with those of other goroutines.
func (p *Plugin) scoreFinite(b *batch) error {
	k := kind{dim: b.dim, directions: b.directions != nil, smooth: b.eps > 0}
	if b.rows() == 0 || wordBytes*len(b.residuals) > coalesceBytes ||
		len(b.results) == 0 || len(b.results) > len(k.want) {
		return p.evaluate(b)
	}
	whole := gather.Batch[kind]{Rows: b.rows(), In: [][]float64{b.residuals}}
	if k.directions {
		whole.In = append(whole.In, b.directions)
	}
	if k.smooth { // rows of merged batches may have different eps
		whole.In = append(whole.In, slices.Repeat([]float64{b.eps}, b.rows()))
	}
	for i, r := range b.results {
		k.want[i] = r.quantity
		whole.Out = append(whole.Out, r.to)
	}
	whole.Key = k
	return p.coalescer.Do(whole)
}

// newCoalescer returns the gatherer that merges the batches of a plugin.
func (p *Plugin) newCoalescer() *gather.Gatherer[kind] {
	return &gather.Gatherer[kind]{
		Call: p.evaluateCoalesced, Limit: smallCalls, Max: 2 * coalesceBytes / wordBytes, MaxBatches: maxCoalesced,
	}
}

func (p *Plugin) evaluateCoalesced(whole gather.Batch[kind]) error {
	k := whole.Key
	b := &batch{dim: k.dim, residuals: whole.In[0]}
	if k.directions {
		b.directions = whole.In[1]
	}
	if k.smooth {
		b.setLengths(whole.In[len(whole.In)-1])
	}
	for i, to := range whole.Out {
		b.results = append(b.results, result{k.want[i], to, len(to) / whole.Rows})
	}
	return p.evaluate(b)
}

// setLengths sets the smoothing length eps of every row.
func (b *batch) setLengths(eps []float64) {
	for from, to := 0, 0; from < len(eps); from = to {
		for to = from; to < len(eps) && eps[to] == eps[from]; to++ {
		}
		b.stretches = append(b.stretches, &protocol.Stretch{Rows: uint64(to - from), Eps: eps[from]})
	}
	if len(b.stretches) == 1 {
		b.eps, b.stretches = eps[0], nil
	}
}
