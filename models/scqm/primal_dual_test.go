package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// At the dual variables of the rounded loss its primal-dual derivatives are its
// second derivatives, and the dual variables move as its gradients do.
func TestPrimalDualOfRoundedLoss(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}, {4, 3, 1}} {
		for _, name := range []string{"l1", "l2"} {
			p, x := curvedProblem(t, name, shape.D, shape.d, shape.s)
			p.Smooth(0.3)
			shapeOf, ok := p.ArrowheadShape()
			require.True(t, ok)
			want, got := framework.NewArrowhead(shapeOf), framework.NewArrowhead(shapeOf)
			cost, _, err := p.AssembleHessian(want, x)
			require.NoError(t, err)
			dual := make([]float64, p.Data().N*shape.D)
			require.NoError(t, p.StartDual(dual, x))
			again, _, err := p.AssemblePrimalDual(got, x, dual)
			require.NoError(t, err)
			assert.InEpsilon(t, cost, again, 1e-12)
			for k, w := range [][]float64{want.A, want.B, want.C, want.OuterGrad, want.InnerGrad} {
				g := [][]float64{got.A, got.B, got.C, got.OuterGrad, got.InnerGrad}[k]
				assert.LessOrEqual(t, floats.Distance(w, g, math.Inf(1)), 1e-11*floats.Norm(w, math.Inf(1)), "%s %v: %d", name, shape, k)
			}
			const h = 1e-6
			v, w := problemtest.Gaussians(2, shapeOf.Outer), problemtest.Gaussians(3, shapeOf.Inner())
			moved := append([]float64(nil), dual...)
			floats.Scale(h, v)
			floats.Scale(h, w)
			require.NoError(t, p.MoveDual(moved, x, v, w, 1))
			there := x.Clone()
			require.NoError(t, p.RetractOuter(there, x, v))
			floats.Add(there[BlockTau], w)
			exact := make([]float64, len(dual))
			require.NoError(t, p.StartDual(exact, there))
			assert.Less(t, floats.Distance(exact, moved, math.Inf(1)), 1e-4*floats.Distance(exact, dual, math.Inf(1)), "%s %v", name, shape)
		}
	}
}
