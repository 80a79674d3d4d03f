package plugins

import (
	"slices"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/gather"
	"github.com/scqm/scqm/plugins/protocol"
)

const (
	// coalesceBytes is the size of residuals up to which batches of several
	// goroutines are put together: more is worth a call of its own.
	coalesceBytes = 64 << 10
	// smallCalls is the number of calls under way for small batches.
	smallCalls = 2
	// maxCoalesced bounds the stretches of a request.
	maxCoalesced = 1024
	// callers is the number of goroutines that should use a plugin at a time.
	callers = 64
)

// kind is what batches must have in common to be coalesced.
type kind struct {
	dim        int
	directions bool
	smooth     bool
	want       [7]protocol.Quantity
}

// score evaluates a batch. The plugin sees finite residuals only.
func (p *Plugin) score(b *batch) error {
	if b.dim < 1 || len(b.residuals)%b.dim != 0 {
		return p.evaluate(b) // which says so
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

// scoreFinite evaluates a batch, a small one together with those of other goroutines.
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
	if k.smooth { // rows that are coalesced may have different eps
		whole.In = append(whole.In, slices.Repeat([]float64{b.eps}, b.rows()))
	}
	for i, r := range b.results {
		k.want[i] = r.quantity
		whole.Out = append(whole.Out, r.to)
	}
	whole.Key = k
	return p.coalescer.Do(whole)
}

// newCoalescer makes the gatherer of a plugin.
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

// setLengths sets the smoothing length of every row.
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
