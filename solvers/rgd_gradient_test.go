package solvers_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/standard"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// Observers of gradient descent see the norm of the gradient at every iterate, for the
// evaluations that the blocks take anyway: a gradient and a trial each.
func TestGradientDescentTellsItsGradient(t *testing.T) {
	norms := func(x framework.Point) (u, v float64) { return 2 * floats.Norm(x[0], 2), 3 * floats.Norm(x[1], 2) }
	p := struct{ framework.Problem }{standard.Of( // no Resumer
		[]framework.Block{{Name: "u", Manifold: manifolds.Euclidean(2)}, {Name: "v", Manifold: manifolds.Euclidean(3)}},
		func(grad, x framework.Point) float64 {
			floats.ScaleTo(grad[0], 2, x[0])
			floats.ScaleTo(grad[1], 3, x[1])
			return floats.Dot(x[0], x[0]) + 1.5*floats.Dot(x[1], x[1])
		}, nil)}
	var seen int
	look := func(q framework.Record) {
		x, _ := q.State.Iterate()
		assert.InDelta(t, math.Max(norms(x)), q.GradientNorm, 1e-14)
		seen++
	}
	res := run(t, p, framework.Point{{1, 2}, {3, 1, 2}}, solvers.RGD{InitialStep: 0.1, Grow: 1},
		framework.Options{Tolerance: 1e-6, Observers: []func(framework.Record){look}})
	assert.Equal(t, framework.Converged, res.Status)
	assert.Equal(t, res.Iterations+1, seen)
	assert.Equal(t, 1+4*res.Iterations, res.Counts.Evaluations)
}
