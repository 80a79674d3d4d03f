package influence

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/arrowhead"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// settledPoint is an objective at random c, Q and Theta with every tau_i at a
// minimum.
func settledPoint(t *testing.T, loss string, D, d, s int) (*objective.Objective, framework.Point) {
	t.Helper()
	l := problemtest.Named(t, loss, D)
	if smooth, ok := l.(framework.Smoother); ok {
		l = smooth.Smooth(0.3)
	}
	return settledObjective(t, l, D, d, s)
}

func settledObjective(t *testing.T, l framework.Loss, D, d, s int) (*objective.Objective, framework.Point) {
	t.Helper()
	o, err := objective.New(t.Context(), problemtest.WeightedRows(D), l, d, s, 1)
	require.NoError(t, err)
	x := problemtest.Place(t, o)
	floats.Scale(0.1, x[objective.BlockTheta]) // no row is near a centre of curvature
	settleRows(t, o, x)
	return o, x
}

// settleRows takes every tau_i to a minimum nearby.
func settleRows(t *testing.T, o *objective.Objective, x framework.Point) {
	t.Helper()
	require.NoError(t, nearest.RefineRows(t.Context(), x[objective.BlockTau], sheetAt(o, x), o.Loss(), *o.Data(), 1))
}

func sheetAt(o *objective.Objective, x framework.Point) *sheet.Sheet {
	f := o.NewSheet()
	f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	return f
}

// rawJackknife assembles without inverting, which needs a minimum.
func rawJackknife(t *testing.T, p *objective.Objective, x framework.Point) *Jackknife {
	t.Helper()
	k, err := New(sheetAt(p, x))
	require.NoError(t, err)
	sums := make([]float64, SumsLen(k.P, k.Nf))
	require.NoError(t, k.Sum(sums, p, x[objective.BlockTau]))
	require.NoError(t, k.assemble(sums, p.Regularizer))
	return k
}

// The Hessian and the gradient are those that Newton's method assembles, with
// Tau eliminated and without the coordinates that slide the sheet along itself.
func TestJackknifeHessianIsSchurComplement(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}, {6, 1, 0}} {
		for _, name := range append([]string{"black box"}, problemtest.AllLosses...) {
			p, x := settledPoint(t, strings.Replace(name, "black box", "squared_l2", 1), shape.D, shape.d, shape.s)
			if name == "black box" {
				p, x = settledObjective(t, problemtest.BlackBox{Loss: losses.SquaredL2()}, shape.D, shape.d, shape.s)
			}
			k, second := rawJackknife(t, p, x), arrowhead.New(p)
			arrowShape, ok := second.ArrowheadShape()
			require.True(t, ok)
			a := latent.NewArrowhead(arrowShape)
			_, _, err := second.AssembleHessian(a, x)
			require.NoError(t, err)
			want, at := schur(t, a, p), slots(t, second.Chart, k.Chart)
			for i := range k.P {
				assert.InDelta(t, a.OuterGrad[at[i]], k.grad[i], 1e-9*(1+math.Abs(k.grad[i])), name)
				for j := i; j < k.P; j++ {
					require.InDelta(t, want.At(at[i], at[j]), k.Factor[i*k.P+j], 1e-6*(1+math.Abs(want.At(at[i], at[j]))), "%s %v: %d, %d", name, shape, i, j)
				}
			}
		}
	}
}

// schur eliminates the inner block.
func schur(t *testing.T, a *latent.Arrowhead, p *objective.Objective) *mat.Dense {
	t.Helper()
	s := mat.NewDense(a.Outer, a.Outer, slices.Clone(a.A))
	b := mat.NewDense(a.Outer, a.Inner(), a.B)
	for i := range a.Rows {
		if p.Data().Weight(i) == 0 {
			continue
		}
		c := mat.NewDense(a.Dim, a.Dim, a.C[i*a.Dim*a.Dim:(i+1)*a.Dim*a.Dim])
		bi := b.Slice(0, a.Outer, i*a.Dim, (i+1)*a.Dim)
		var solved, part mat.Dense
		require.NoError(t, solved.Solve(c, bi.T()))
		part.Mul(bi, &solved)
		s.Sub(s, &part)
	}
	return s
}

// slots returns, for every coordinate of the slice, its number among all.
func slots(t *testing.T, all, slice *arrowhead.Chart) []int {
	t.Helper()
	at := make([]int, slice.P)
	for i := range at {
		at[i] = -1
		for j := range all.P {
			if slices.Equal(all.TermsOf(j), slice.TermsOf(i)) {
				at[i] = j
			}
		}
		require.GreaterOrEqual(t, at[i], 0)
	}
	return at
}

// lifted makes matrices positive definite where there is no minimum.
const lifted = 1e5

// The square of a step in the metric of the moves is what becomes of the
// points nearest to the rows.
func TestMovesAreThoseOfSteps(t *testing.T) {
	for _, name := range []string{"squared_l2", "huber", "lp 3", "mahalanobis"} {
		p, x := settledPoint(t, name, 4, 2, 2)
		k := rawJackknife(t, p, x)
		for i := range k.P { // any positive definite matrix serves
			k.Factor[i*k.P+i] += lifted
		}
		require.NoError(t, k.factorize())
		v := make([]float64, k.P)
		rng := rand.New(rand.NewPCG(4, 4))
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		moved := make([]float64, k.P)
		k.move(moved, v, 1)
		assert.InEpsilon(t, movedBy(t, p, k, x, v), floats.Dot(v, moved), 1e-5, name)
	}
}

// movedBy is the mean square change of f(tau_j) per square of step.
func movedBy(t *testing.T, p *objective.Objective, k *Jackknife, x framework.Point, v []float64) float64 {
	t.Helper()
	change := changes(t, p, k, x, v)
	var sum float64
	D := p.Shape().D
	for i := range p.Data().N {
		gap := floats.Norm(change[i*D:(i+1)*D], 2)
		sum += p.Data().Weight(i) * gap * gap
	}
	return sum / p.Data().TotalWeight()
}

// changes are those of f(tau_j) per step, by central differences.
func changes(t *testing.T, p *objective.Objective, k *Jackknife, x framework.Point, v []float64) []float64 {
	t.Helper()
	const step = 1e-6
	all := make([]float64, arrowhead.OuterDim(p.Shape(), false))
	at := slots(t, arrowhead.NewChart(p.NewSheet(), true), k.Chart)
	var ends [2][]float64
	for side, sign := range []float64{-1, 1} {
		for i, j := range at {
			all[j] = sign * step * v[i]
		}
		y := x.Clone()
		require.NoError(t, arrowhead.New(p).RetractOuter(y, x, all))
		settleRows(t, p, y)
		f := sheetAt(p, y)
		z, phi := make([]float64, f.M), make([]float64, f.Q)
		for i := range p.Data().N {
			image := make([]float64, f.D)
			f.Coordinates(z, phi, y[objective.BlockTau][i*f.Latent:(i+1)*f.Latent])
			f.Residual(image, z, make([]float64, f.D))
			ends[side] = append(ends[side], image...)
		}
	}
	floats.Sub(ends[1], ends[0])
	floats.Scale(1/(2*step), ends[1])
	return ends[1]
}

// The response to leaving out a row is how its nearest point moves along the step, and the parts of the second
// derivative that leverages are made of are those of Hessians with and without the row.
func TestResponsesAreThoseOfSteps(t *testing.T) {
	for _, name := range []string{"squared_l2", "huber", "lp 3", "mahalanobis"} {
		p, x := settledPoint(t, name, 4, 2, 2)
		k, all := rawJackknife(t, p, x), rawJackknife(t, p, x)
		for i := range k.P { // any positive definite matrix serves
			k.Factor[i*k.P+i] += lifted
		}
		whole := slices.Clone(k.Factor)
		require.NoError(t, k.factorize())
		a := newResponse(k)
		require.NoError(t, a.load(p, x[objective.BlockTau], 0, 8))
		require.NoError(t, a.run(make([]Row, 8)))
		D := p.Shape().D
		for _, i := range []int{1, 6, 7} {
			v, curved := a.x[i*k.P:(i+1)*k.P], 0.0
			for r := range k.P {
				for c := range k.P {
					curved += v[r] * v[c] * whole[min(r, c)*k.P+max(r, c)]
				}
			}
			assert.InEpsilon(t, curved, a.slope[i], 1e-9, "%s, row %d", name, i)
			step := slices.Clone(v)
			size := floats.Norm(step, 2)
			floats.Scale(1/size, step)
			want := changes(t, p, k, x, step)[i*D : (i+1)*D]
			floats.Scale(size, want)
			data := *p.Data()
			data.Weights = slices.Clone(data.Weights)
			data.Weights[i] = 0
			q, err := objective.New(t.Context(), data, p.Loss(), p.Shape().Latent, p.Shape().S, 1)
			require.NoError(t, err)
			q.Lambda = p.Lambda
			without, own := rawJackknife(t, q, x), 0.0
			for r := range k.P {
				for c := range k.P {
					at := min(r, c)*k.P + max(r, c)
					own += v[r] * v[c] * (all.Factor[at] - without.Factor[at])
				}
			}
			got := p.Data().Weight(i)*dense.Dot(a.v[i*D:(i+1)*D], a.curve[i*D:(i+1)*D]) + a.remainder[i]
			assert.InEpsilon(t, own, got, 1e-6, "%s, row %d", name, i)
			assert.InDeltaSlice(t, want, a.v[(a.n+i)*D:(a.n+i+1)*D], 1e-5*floats.Norm(want, 2), "%s, row %d", name, i)
		}
	}
}
