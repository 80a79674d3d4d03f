package bindings

import (
	"encoding/json"
	"math"

	"github.com/scqm/scqm/framework"
)

// runTrace is the history of a run, with an entry for the start and for each iteration.
type runTrace struct {
	blocks framework.Product

	Iteration    []int     `json:"iteration"`
	Cost         []float64 `json:"cost"`
	GradientNorm []norm    `json:"grad_norm"`
	Seconds      []float64 `json:"seconds"`
}

func newRunTrace(blocks framework.Product) *runTrace {
	return &runTrace{blocks, []int{}, []float64{}, []norm{}, []float64{}} // not null in JSON
}

// observe appends an entry. It has the signature of an observer of framework.
func (t *runTrace) observe(p framework.Record) {
	t.Iteration, t.Cost = append(t.Iteration, p.Iteration), append(t.Cost, p.Cost)
	t.GradientNorm = append(t.GradientNorm, gradientNorm(t.blocks, p))
	t.Seconds = append(t.Seconds, p.Elapsed.Seconds())
}

// gradientNorm returns the norm of the Riemannian gradient of all blocks together at
// the iterate. It is NaN if the solver does not provide the gradient.
func gradientNorm(blocks framework.Product, p framework.Record) norm {
	state, ok := p.State.(interface{ Gradient() framework.Point })
	if !ok || state.Gradient() == nil {
		return norm(math.NaN())
	}
	x, _ := p.State.Iterate()
	return norm(blocks.Norm(x, state.Gradient()))
}

// norm is a number that may be unknown. An unknown norm is NaN in Go and null in JSON.
type norm float64

// MarshalJSON writes the number or null.
func (v norm) MarshalJSON() ([]byte, error) {
	if v-v != 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}
