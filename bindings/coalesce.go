package bindings

import (
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/gather"
)

const (
	// pythonCallers is the number of goroutines that may ask Python at the same time.
	pythonCallers = 64
	// coalescedNumbers is the maximum number of residual entries of a question that is
	// merged with others. Larger questions are asked on their own.
	coalescedNumbers = 1 << 13
)

// askKind is the key of a question. Only questions with equal keys are merged.
type askKind struct {
	question, columns      int
	values, grad, argument bool
}

// coalesce asks Python about the finite rows of a only. The results of other rows are set here.
func (j *job) coalesce(a *ask) error {
	return dense.WithFiniteRows(a.r, a.columns, func(finite []float64) error {
		a.r = finite
		return j.coalesceFinite(a)
	}, a.values, a.grad)
}

// coalesceFinite asks Python. It merges a short question with those of other goroutines.
func (j *job) coalesceFinite(a *ask) error {
	if a.rows == 0 || len(a.r) > coalescedNumbers {
		return j.put(a)
	}
	return j.coalescer.Do(gather.Batch[askKind]{
		Key:  askKind{a.question, a.columns, a.values != nil, a.grad != nil, a.v != nil},
		Rows: a.rows, In: [][]float64{a.r, a.v}, Out: [][]float64{a.values, a.grad},
	})
}

// newCoalescer returns the gatherer that merges the questions of a job.
func (j *job) newCoalescer() *gather.Gatherer[askKind] {
	return &gather.Gatherer[askKind]{Limit: 1, Max: 4 * coalescedNumbers, Call: func(b gather.Batch[askKind]) error {
		a := &ask{question: b.Key.question, rows: b.Rows, columns: b.Key.columns, r: b.In[0]}
		if b.Key.argument {
			a.v = b.In[1]
		}
		if b.Key.values {
			a.values = b.Out[0]
		}
		if b.Key.grad {
			a.grad = b.Out[1]
		}
		return j.put(a)
	}}
}
