package scqm

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// linear is the loss slope'r, plus an offset.
type linear struct{ slope []float64 }

func (l linear) Name() string { return "linear" }

func (l linear) Evaluate(values, grad, r []float64, dim int) error {
	for i := range len(r) / dim {
		if values != nil {
			values[i] = 1e3 + floats.Dot(l.slope, r[i*dim:(i+1)*dim])
		}
		if grad != nil {
			copy(grad[i*dim:(i+1)*dim], l.slope)
		}
	}
	return nil
}

func (l linear) HessianProduct(dst, _, _ []float64, _ int) error {
	clear(dst)
	return nil
}

// Rounded over a great length a loss has no second derivatives of its own: what is
// left are those of g'r, whatever the gradient.
func TestPrimalDualBendsByItsDual(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}} {
		for _, name := range []string{"l1", "l2"} {
			p, x := curvedProblem(t, name, shape.D, shape.d, shape.s)
			slope := problemtest.Gaussians(9, shape.D)
			floats.Scale(0.5/floats.Norm(slope, 2), slope)
			q, err := NewProblem(context.Background(), *p.Data(), linear{slope}, shape.d, shape.s, 1)
			require.NoError(t, err)
			q.Lambda = p.Lambda
			size, _ := p.ArrowheadShape()
			want, got := latent.NewArrowhead(size), latent.NewArrowhead(size)
			_, _, err = q.AssembleHessian(want, x)
			require.NoError(t, err)
			p.Smooth(1e9)
			var dual []float64
			for range p.Data().N {
				dual = append(dual, slope...)
			}
			_, _, err = p.AssemblePrimalDual(got, x, dual)
			require.NoError(t, err)
			for k, w := range [][]float64{want.A, want.B, want.C} {
				g := [][]float64{got.A, got.B, got.C}[k]
				assert.Less(t, floats.Distance(w, g, math.Inf(1)), 1e-5, "%s %v: %d", name, shape, k)
				assert.Greater(t, floats.Norm(w, math.Inf(1)), 0.01)
			}
		}
	}
}

// At the dual variables of the rounded loss its primal-dual derivatives are its
// second derivatives, and the dual variables move as its gradients do.
func TestPrimalDualOfRoundedLoss(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}, {4, 3, 1}} {
		for _, name := range []string{"l1", "l2"} {
			p, x := curvedProblem(t, name, shape.D, shape.d, shape.s)
			p.Smooth(0.3)
			shapeOf, ok := p.ArrowheadShape()
			require.True(t, ok)
			want, got := latent.NewArrowhead(shapeOf), latent.NewArrowhead(shapeOf)
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
			half := slices.Clone(dual)
			require.NoError(t, p.MoveDual(half, x, v, w, 0.5))
			floats.AddScaled(half, 0.5, dual)
			floats.AddScaled(half, -0.5, moved)
			assert.Less(t, floats.Distance(half, dual, math.Inf(1)), 1e-4*floats.Distance(exact, dual, math.Inf(1)), "%s %v", name, shape)

			p.Smooth(0)
			kept, stationarity, again2 := slices.Clone(dual), make([]float64, 4), make([]float64, 4)
			p.SetMultipliers(kept)
			require.NoError(t, p.Stationarity(stationarity, x))
			clear(kept)
			require.NoError(t, p.Stationarity(again2, x))
			assert.Equal(t, stationarity, again2, "a copy is kept")
			p.SetMultipliers(nil)
		}
	}
}

// Steps of inner rows that raise their loss end no higher than they began, others stay,
// and the cost is that of the rounded loss.
func TestShortenInner(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}} {
		for _, name := range []string{"l1", "l2"} {
			p, x := curvedProblem(t, name, shape.D, shape.d, shape.s)
			const eps = 1e-3
			p.Smooth(eps)
			from := x.Clone()
			for i, v := range problemtest.Gaussians(3, len(x[BlockTau])) {
				x[BlockTau][i] += v
			}
			far := x.Clone()
			before, err := p.Evaluate(nil, from)
			require.NoError(t, err)
			cost, passes, err := p.ShortenInner(x, from[BlockTau])
			require.NoError(t, err)
			assert.Positive(t, passes)
			again, err := p.Evaluate(nil, x)
			require.NoError(t, err)
			assert.InEpsilon(t, again, cost, 1e-12)
			assert.LessOrEqual(t, cost, before+float64(shape.D*p.Data().N)*eps)
			var stayed, returned, between int
			for i := range p.Data().N {
				part := func(y framework.Point) []float64 { return y[BlockTau][i*shape.d : (i+1)*shape.d] }
				gone, whole := floats.Distance(part(x), part(from), 2), floats.Distance(part(far), part(from), 2)
				switch gone {
				case 0:
					returned++
				case whole:
					stayed++
				default:
					between++
					assert.InDelta(t, gone+floats.Distance(part(far), part(x), 2), whole, 1e-12)
				}
			}
			assert.Positive(t, stayed, "%s %v", name, shape)
			assert.Positive(t, returned+between, "%s %v", name, shape)
		}
	}
}
