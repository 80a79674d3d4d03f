package precondition

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// bent is the objective of rows of 60 numbers under |r|^3 near a sheet, at a point on it.
func bent(t *testing.T, d, s int) (*objective.Objective, framework.Point) {
	t.Helper()
	const n, D = 14, 60
	random := rand.New(rand.NewPCG(7, 0))
	normals := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = random.NormFloat64()
		}
		return v
	}
	data := rows.Data{N: n, D: D, X: normals(n * D), Weights: normals(n)}
	for i, w := range data.Weights {
		data.Weights[i] = 0.1 + w*w
	}
	o, err := objective.New(context.Background(), data, problemtest.Named(t, "lp 3", D), d, s, 2)
	require.NoError(t, err)
	o.Lambda = 0.7
	x := framework.NewPoint(o.Blocks())
	for k, b := range o.Blocks() {
		copy(x[k], normals(len(x[k])))
		if k == objective.BlockQ {
			require.NoError(t, b.Restore(x[k]))
		}
	}
	return o, x
}

// spanChange returns change j of the list (gamma, K, Delta) at x, as a change of all blocks.
func spanChange(x framework.Point, s sheet.Shape, j int) framework.Point {
	v := framework.Point{make([]float64, s.D), make([]float64, s.D*s.M), make([]float64, s.Q*s.S), make([]float64, len(x[objective.BlockTau]))}
	axis := func(dst []float64, from, to int, sign float64, width int) {
		for i := range s.D {
			dst[i*width+to] = sign * x[objective.BlockQ][i*s.M+from]
		}
	}
	if j < s.M {
		axis(v[objective.BlockC], j, 0, 1, 1)
		return v
	}
	j -= s.M
	for a := range s.M {
		for b := a + 1; b < s.M; b++ {
			if j == 0 {
				axis(v[objective.BlockQ], a, b, 1, s.M)
				axis(v[objective.BlockQ], b, a, -1, s.M)
				return v
			}
			j--
		}
	}
	v[objective.BlockTheta][j] = 1
	return v
}

// residuals returns all of them at x.
func residuals(o *objective.Objective, x framework.Point) []float64 {
	f, s := o.NewSheet(), o.Shape()
	f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	z, phi := make([]float64, s.M), make([]float64, s.Q)
	r := make([]float64, o.Data().N*s.D)
	for i := range o.Data().N {
		f.Coordinates(z, phi, x[objective.BlockTau][i*s.Latent:(i+1)*s.Latent])
		f.Residual(r[i*s.D:(i+1)*s.D], z, o.Data().Row(i))
	}
	return r
}

// Within the span the coupled preconditioner is the inverse of J'WJ and the penalty, J by differences
// of residuals, with the diagonal of the Schur complement of Tau lifted.
func TestCouplingInvertsWithinTheSpan(t *testing.T) {
	for _, shape := range [][2]int{{2, 3}, {1, 1}, {2, 0}} {
		o, x := bent(t, shape[0], shape[1])
		p := New(o)
		_, err := p.BuildPreconditioner(x)
		require.NoError(t, err)
		h, s := p.approximation, o.Shape()
		h.coupled = true
		size, nd := h.coupling.size, len(x[objective.BlockTau])
		changes := make([]framework.Point, size+nd)
		for j := range changes {
			if j < size {
				changes[j] = spanChange(x, s, j)
				continue
			}
			changes[j] = framework.NewPoint(o.Blocks())
			changes[j][objective.BlockTau][j-size] = 1
		}
		a := gaussNewton(o, x, h.weights.W, changes)
		eliminated := dampedSchur(t, a, size, o)
		for _, j := range []int{0, s.M, size - 1, size, size + nd - 1} {
			want, got := framework.NewPoint(o.Blocks()), framework.NewPoint(o.Blocks())
			right := make([]float64, size+nd)
			for k, c := range changes {
				for b := range c {
					right[k] += floats.Dot(c[b], changes[j][b])
				}
			}
			for k, v := range eliminated(right) {
				want.AddScaled(v, changes[k])
			}
			p.Precondition(got, changes[j])
			got.AddScaled(-1, want)
			assert.Less(t, got.Norm(), 1e-5*want.Norm(), "%v, change %d", shape, j)
		}
	}
}

// gaussNewton returns J'WJ along the changes.
func gaussNewton(o *objective.Objective, x framework.Point, w []float64, changes []framework.Point) *mat.SymDense {
	const step = 1e-5
	columns := make([][]float64, len(changes))
	for j, c := range changes {
		ahead, back := x.Clone(), x.Clone()
		ahead.AddScaled(step, c)
		back.AddScaled(-step, c)
		columns[j] = residuals(o, ahead)
		floats.Sub(columns[j], residuals(o, back))
		floats.Scale(0.5/step, columns[j])
	}
	a := mat.NewSymDense(len(changes), nil)
	weighted := make([]float64, len(w))
	for i := range changes {
		floats.MulTo(weighted, w, columns[i])
		for j := range i + 1 {
			a.SetSym(i, j, floats.Dot(weighted, columns[j]))
		}
	}
	return a
}

// dampedSchur returns what solves systems of a with the first size unknowns after the elimination of the
// others, with the second derivatives of the penalty, and the diagonal lifted.
func dampedSchur(t *testing.T, a *mat.SymDense, size int, o *objective.Objective) func(right []float64) []float64 {
	t.Helper()
	n := a.SymmetricDim()
	var inner mat.Cholesky
	require.True(t, inner.Factorize(a.SliceSym(size, n)))
	coupled := mat.DenseCopyOf(a).Slice(size, n, 0, size)
	var follow, schur mat.Dense
	require.NoError(t, inner.SolveTo(&follow, coupled))
	schur.Mul(coupled.T(), &follow)
	schur.Sub(mat.DenseCopyOf(a).Slice(0, size, 0, size), &schur)
	for i := range size {
		schur.Set(i, i, schur.At(i, i)+couplingDamping*a.At(i, i))
	}
	shape := o.Shape()
	for k := range shape.Q * shape.S {
		i := size - shape.Q*shape.S + k
		schur.Set(i, i, schur.At(i, i)+2*o.Lambda*sheet.VechWeight(shape.Latent, k/shape.S))
	}
	return func(right []float64) []float64 {
		var u, delta, moved mat.VecDense
		outer, rest := mat.NewVecDense(size, right[:size]), mat.NewVecDense(n-size, right[size:])
		u.MulVec(follow.T(), rest)
		u.SubVec(outer, &u)
		require.NoError(t, u.SolveVec(&schur, &u))
		require.NoError(t, inner.SolveVecTo(&delta, rest))
		moved.MulVec(&follow, &u)
		delta.SubVec(&delta, &moved)
		return append(append([]float64(nil), u.RawVector().Data...), delta.RawVector().Data...)
	}
}

// Blocks are not coupled far from a minimum, nor where rows are short.
func TestCouplingIsForLongRowsNearMinima(t *testing.T) {
	o, x := bent(t, 2, 3)
	p := New(o)
	_, err := p.BuildPreconditioner(x)
	require.NoError(t, err)
	require.NotNil(t, p.approximation.coupling)
	assert.False(t, p.approximation.coupled)

	assert.False(t, Couples(sheet.Shape{D: 47, Latent: 2, S: 3, Q: 3, M: 5}))
	assert.True(t, Couples(sheet.Shape{D: 48, Latent: 2, S: 3, Q: 3, M: 5}))
}
