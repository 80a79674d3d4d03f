package bindings

import "github.com/scqm/scqm/internal/gather"

const (
	// pythonCallers is the number of goroutines that ask Python at a time.
	pythonCallers = 64
	// jointNumbers bounds the residuals of questions that are joined: larger
	// ones are worth a question of their own.
	jointNumbers = 1 << 13
)

// askKind is what questions must have in common to be joined.
type askKind struct {
	question, columns      int
	values, grad, argument bool
}

// join asks, a short question together with those of other goroutines.
func (j *job) join(a *ask) error {
	if a.rows == 0 || len(a.r) > jointNumbers {
		return j.put(a)
	}
	return j.joint.Do(gather.Batch[askKind]{
		Key:  askKind{a.question, a.columns, a.values != nil, a.grad != nil, a.v != nil},
		Rows: a.rows, In: [][]float64{a.r, a.v}, Out: [][]float64{a.values, a.grad},
	})
}

// newJoint makes the gatherer of a job.
func (j *job) newJoint() *gather.Gatherer[askKind] {
	return &gather.Gatherer[askKind]{Limit: 1, Most: 4 * jointNumbers, Call: func(b gather.Batch[askKind]) error {
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
