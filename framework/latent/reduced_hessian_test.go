package latent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// quadraticArrowhead is a problem at a point where its derivatives are given.
type quadraticArrowhead struct {
	framework.Problem
	at Arrowhead
}

func (q quadraticArrowhead) Blocks() []framework.Block              { return nil }
func (q quadraticArrowhead) ArrowheadShape() (ArrowheadShape, bool) { return q.at.ArrowheadShape, true }
func (q quadraticArrowhead) RetractOuter(_, _ framework.Point, _ []float64) error {
	return nil
}
func (q quadraticArrowhead) InnerStep(framework.Point, []float64) (cost, passes float64, err error) {
	return 0, 0, nil
}
func (q quadraticArrowhead) AssembleHessian(a *Arrowhead, _ framework.Point) (cost, passes float64, err error) {
	for _, p := range [][2][]float64{
		{a.OuterGrad, q.at.OuterGrad}, {a.InnerGrad, q.at.InnerGrad}, {a.A, q.at.A}, {a.B, q.at.B}, {a.C, q.at.C},
	} {
		copy(p[0], p[1])
	}
	return 1, 2, nil
}

// S = [8 0; 0 3] - [2; 0] [2 0] / 1 - [0; 1] [0 1] / 1 = [4 0; 0 2], and the reduced
// gradient is (6, 1) - 2 (1, 0) - (0, 1) = (4, 0).
func TestReducedHessian(t *testing.T) {
	p := quadraticArrowhead{at: Arrowhead{
		ArrowheadShape: ArrowheadShape{Outer: 2, Rows: 2, Dim: 1},
		OuterGrad:      []float64{6, 1}, InnerGrad: []float64{1, 1},
		A: []float64{8, 0, 0, 3}, B: []float64{2, 0, 0, 1}, C: []float64{1, 1},
	}}
	h, ok, err := ReduceHessian(p, nil)
	require.NoError(t, err)
	require.True(t, ok)
	assert.True(t, h.Promises(1.99))
	assert.False(t, h.Promises(2.01))
	require.True(t, h.Decompose())
	assert.InDeltaSlice(t, []float64{-1, 0}, h.NewtonStep(), 1e-14)
	assert.InDelta(t, 2, h.Decrement(), 1e-14)
	white, step := make([]float64, 2), make([]float64, 2)
	h.Whiten(white, []float64{4, 2})
	assert.InDelta(t, 4+2, floats.Dot(white, white), 1e-14, "g'S^-1 g")
	h.Follow(step, white)
	assert.InDeltaSlice(t, []float64{-1, -1}, step, 1e-14)

	p.at.A[3] = 1 // no curvature along the second coordinate
	h, ok, err = ReduceHessian(p, nil)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, h.Decompose())
	h.Whiten(white, []float64{4, 2})
	assert.InDelta(t, 4, floats.Dot(white, white), 1e-14)
}
