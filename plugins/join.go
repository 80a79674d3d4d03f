package plugins

import (
	"github.com/scqm/scqm/internal/gather"
	"github.com/scqm/scqm/plugins/internal/protocol"
)

const (
	// jointBytes is the size of residuals up to which batches of several
	// goroutines are joined: more is worth a call of its own.
	jointBytes = 64 << 10
	// smallCalls is the number of calls under way for small batches.
	smallCalls = 2
	// callers is the number of goroutines that should use a plugin at a time.
	callers = 64
)

// kind is what batches must have in common to be joined.
type kind struct {
	dim  int
	eps  float64
	want [7]protocol.Quantity
}

// score evaluates a batch, a small one together with those of other goroutines.
func (p *Plugin) score(b *batch) error {
	k := kind{dim: b.dim, eps: b.eps}
	if b.dim < 1 || len(b.residuals)%b.dim != 0 || b.rows() == 0 || wordBytes*len(b.residuals) > jointBytes ||
		len(b.results) == 0 || len(b.results) > len(k.want) {
		return p.evaluate(b)
	}
	whole := gather.Batch[kind]{Rows: b.rows(), In: [][]float64{b.residuals}}
	if b.directions != nil {
		whole.In = append(whole.In, b.directions)
	}
	for i, r := range b.results {
		k.want[i] = r.quantity
		whole.Out = append(whole.Out, r.to)
	}
	whole.Key = k
	return p.joint.Do(whole)
}

// newJoint makes the gatherer of a plugin.
func (p *Plugin) newJoint() *gather.Gatherer[kind] {
	return &gather.Gatherer[kind]{
		Call: p.evaluateJoint, Limit: smallCalls, Most: leastPart / wordBytes,
	}
}

func (p *Plugin) evaluateJoint(whole gather.Batch[kind]) error {
	b := &batch{dim: whole.Key.dim, eps: whole.Key.eps, residuals: whole.In[0]}
	if len(whole.In) > 1 {
		b.directions = whole.In[1]
	}
	for i, to := range whole.Out {
		b.results = append(b.results, result{whole.Key.want[i], to, len(to) / whole.Rows})
	}
	return p.evaluate(b)
}
