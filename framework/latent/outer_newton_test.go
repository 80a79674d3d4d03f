package latent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
func TestOuterNewtonStep(t *testing.T) {
	p := quadraticArrowhead{at: Arrowhead{
		ArrowheadShape: ArrowheadShape{Outer: 2, Rows: 2, Dim: 1},
		OuterGrad:      []float64{6, 1}, InnerGrad: []float64{1, 1},
		A: []float64{8, 0, 0, 3}, B: []float64{2, 0, 0, 1}, C: []float64{1, 1},
	}}
	step, ok, err := OuterNewtonStep(p, nil)
	require.NoError(t, err)
	require.True(t, ok)
	assert.InDeltaSlice(t, []float64{-1, 0}, step, 1e-14)
}
