package scqm

import (
	"context"
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
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
)

// settledPoint is a problem at random c, Q and Theta with every tau_i at a
// minimum.
func settledPoint(t *testing.T, loss string, D, d, s int) (*Problem, framework.Point) {
	t.Helper()
	p, x := arrowProblem(t, loss, D, d, s)
	if l, ok := p.loss.(framework.Smoother); ok {
		p.loss = l.Smooth(0.3)
	}
	floats.Scale(0.1, x[BlockTheta]) // no row is near a centre of curvature
	settleRows(t, p, x)
	return p, x
}

// settleRows takes every tau_i to a minimum nearby.
func settleRows(t *testing.T, p *Problem, x framework.Point) {
	t.Helper()
	f := newSheet(p.sheet.D, p.sheet.d, p.sheet.s)
	f.load(x[BlockC], x[BlockQ], x[BlockTheta])
	require.NoError(t, refineRows(context.Background(), x[BlockTau], f, p.loss, p.data, 1))
}

// rawJackknife assembles without inverting, which needs a minimum.
func rawJackknife(t *testing.T, p *Problem, x framework.Point) *jackknife {
	t.Helper()
	k := prepareJackknife(p.objective, x)
	require.NoError(t, k.assemble(context.Background()))
	return k
}

// The Hessian and the gradient are those that Newton's method assembles, with
// Tau eliminated and without the coordinates that slide the sheet along itself.
func TestJackknifeHessianIsSchurComplement(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {3, 1, 2}, {5, 2, 2}, {6, 1, 0}} {
		for _, name := range append([]string{"black box"}, allLosses...) {
			p, x := settledPoint(t, strings.Replace(name, "black box", "squared_l2", 1), shape.D, shape.d, shape.s)
			if name == "black box" {
				p.loss = blackBox{losses.SquaredL2()}
			}
			k := rawJackknife(t, p, x)
			arrowShape, ok := p.ArrowShape()
			require.True(t, ok)
			a := framework.NewArrow(arrowShape)
			_, _, err := p.AssembleArrow(a, x)
			require.NoError(t, err)
			want, at := schur(t, a, p), slots(t, p.chart, k.chart)
			for i := range k.p {
				assert.InDelta(t, a.OuterGrad[at[i]], k.grad[i], 1e-9*(1+math.Abs(k.grad[i])), name)
				for j := i; j < k.p; j++ {
					require.InDelta(t, want.At(at[i], at[j]), k.hessian[i*k.p+j], 1e-6*(1+math.Abs(want.At(at[i], at[j]))), "%s %v: %d, %d", name, shape, i, j)
				}
			}
		}
	}
}

// schur eliminates the inner block.
func schur(t *testing.T, a *framework.Arrow, p *Problem) *mat.Dense {
	t.Helper()
	s := mat.NewDense(a.Outer, a.Outer, slices.Clone(a.A))
	b := mat.NewDense(a.Outer, a.Inner(), a.B)
	for i := range a.Rows {
		if p.data.Weight(i) == 0 {
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
func slots(t *testing.T, all, slice *chart) []int {
	t.Helper()
	at := make([]int, slice.p)
	for i := range at {
		at[i] = -1
		for j := range all.p {
			if slices.Equal(all.termsOf(j), slice.termsOf(i)) {
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
		for i := range k.p { // any positive definite matrix serves
			k.hessian[i*k.p+i] += lifted
		}
		require.NoError(t, k.factorize())
		v := make([]float64, k.p)
		rng := rand.New(rand.NewPCG(4, 4))
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		moved := make([]float64, k.p)
		times(moved, k.moves, v, 1)
		assert.InEpsilon(t, movedBy(t, p, k, x, v), floats.Dot(v, moved), 1e-5, name)
	}
}

// movedBy is the mean square change of f(tau_j) per square of step, by central
// differences.
func movedBy(t *testing.T, p *Problem, k *jackknife, x framework.Point, v []float64) float64 {
	t.Helper()
	const step = 1e-6
	all := make([]float64, arrowOuter(p.Shape()))
	at := slots(t, newChart(p.newSheet(), true), k.chart)
	var ends [2][]float64
	for side, sign := range []float64{-1, 1} {
		for i, j := range at {
			all[j] = sign * step * v[i]
		}
		y := x.Clone()
		require.NoError(t, p.MoveOuter(y, x, all))
		settleRows(t, p, y)
		f := newSheet(p.sheet.D, p.sheet.d, p.sheet.s)
		f.load(y[BlockC], y[BlockQ], y[BlockTheta])
		m := &Model{}
		m.fromSheet(f)
		rows, err := m.Reconstruct(context.Background(), y[BlockTau], 1)
		require.NoError(t, err)
		ends[side] = rows
	}
	var sum float64
	D := p.sheet.D
	for i := range p.data.N {
		gap := floats.Distance(ends[0][i*D:(i+1)*D], ends[1][i*D:(i+1)*D], 2) / (2 * step)
		sum += p.data.Weight(i) * gap * gap
	}
	return sum / p.data.TotalWeight()
}

// The parts of the second derivatives along a step that leverages are made of are
// those of Hessians assembled with and without the row, and of the move of its
// nearest point.
func TestLeveragePartsAreThoseOfHessians(t *testing.T) {
	for _, name := range []string{"squared_l2", "huber", "lp 3", "mahalanobis"} {
		p, x := settledPoint(t, name, 4, 2, 2)
		k, whole := rawJackknife(t, p, x), rawJackknife(t, p, x)
		for i := range k.p { // any positive definite matrix serves
			k.hessian[i*k.p+i] += lifted
		}
		require.NoError(t, k.factorize())
		a := newAnswers(k)
		require.NoError(t, a.rows.load(0, 8))
		a.solve()
		for i := range a.rows.n {
			a.follow(i)
		}
		require.NoError(t, a.bendAll())
		for _, i := range []int{1, 6, 7} {
			data := p.data
			data.Weights = slices.Clone(data.Weights)
			data.Weights[i] = 0
			q, err := NewProblem(context.Background(), data, p.loss, p.sheet.d, p.sheet.s, 1)
			require.NoError(t, err)
			q.Lambda = p.Lambda
			without, v := rawJackknife(t, q, x), a.x[i*k.p:(i+1)*k.p]
			var want float64
			for r := range k.p {
				for c := range k.p {
					at := min(r, c)*k.p + max(r, c)
					want += v[r] * v[c] * (whole.hessian[at] - without.hessian[at])
				}
			}
			D := p.sheet.D
			got := dense.Dot(a.d[i*D:(i+1)*D], a.bent[i*D:(i+1)*D]) + a.beyond[i]
			assert.InEpsilon(t, want, p.data.Weight(i)*got, 1e-6, "%s, row %d", name, i)
		}
	}
}
