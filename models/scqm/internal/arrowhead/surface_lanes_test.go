package arrowhead

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Rows in lanes have the bits of plain Go, for any number of rows, with weights and without, near to the sheet and so
// far away that full steps are refused.
func TestSurfaceLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 7))
	huber, err := losses.Huber(0.5)
	require.NoError(t, err)
	for n := 1; n < 150; n += 1 + n/20 {
		for _, loss := range []framework.Loss{losses.SquaredL2(), huber, lp(t, 3), losses.L2(), lp(t, 1.5)} {
			a, x := anyHessian(t, rng, loss, n, 3, 2, 1)
			for j := range x[objective.BlockTheta] {
				x[objective.BlockTheta][j] *= math.Pow(10, float64(n%3)-1)
			}
			if n%2 == 0 {
				data := a.o.Data()
				data.Weights = make([]float64, n)
				for i := range data.Weights {
					data.Weights[i] = max(0, rng.Float64()-0.2)
				}
			}
			other := slices.Clone(x[objective.BlockTau])
			for i := range other {
				other[i] += rng.NormFloat64()
			}
			a.o.Smooth(0.1)
			a.prepare(x)
			most := a.lanes
			plain := assembled(t, a, x, other, 0)
			for _, lanes := range []int{4, 8} {
				if lanes <= most {
					assert.Equal(t, plain, assembled(t, a, x, other, lanes), "%s, n = %d, %d lanes", loss.Name(), n, lanes)
				}
			}
		}
	}
}

// assembled are derivatives and an inner step with so many rows at a time.
func assembled(t *testing.T, a *Hessian, x framework.Point, other []float64, lanes int) [][]float64 {
	t.Helper()
	a.lanes, a.coords.kept = lanes, false
	clear(a.workers)
	shape, _ := a.ArrowheadShape()
	h, to := framework.NewArrowhead(shape), x.Clone()
	cost, _, err := a.AssembleHessian(h, x)
	require.NoError(t, err)
	lower, _, err := a.InnerStep(to, other)
	require.NoError(t, err)
	all := [][]float64{{cost, lower}, h.OuterGrad, h.A, h.B, h.C, h.InnerGrad, to[objective.BlockTau]}
	if a.o.SmoothingLength() == 0 {
		return all
	}
	dual := slices.Clone(a.o.Data().X)
	for i := range dual {
		dual[i] /= 1 + 2*math.Abs(dual[i])
	}
	again := framework.NewArrowhead(shape)
	higher, _, err := a.AssemblePrimalDual(again, x, dual)
	require.NoError(t, err)
	move := []float64{0.1, -0.2, 0.3, 0.1, 0.2, -0.1, 0.1, 0.05, 0.2}
	require.NoError(t, a.MoveDual(dual, x, move, other, 0.5))
	return append(all, []float64{higher}, again.OuterGrad, again.A, again.B, again.C, again.InnerGrad, dual)
}
