package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// orthonormal returns a D x m matrix with Q'Q = I, from the singular vectors of a.
func orthonormal(a []float64, D, m int) []float64 {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(D, m, a), mat.SVDThin) {
		panic("columns: no singular vectors")
	}
	var u, v, q mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&u, v.T())
	return q.RawMatrix().Data
}

// small is a fit of 12 noisy rows of 60 columns, and a start near the sheet that they scatter about.
func small() (*Problem, Sheet) {
	const n, D, d, s = 12, 60, 2, 3
	c := rand.New(rand.NewPCG(3, 4))
	draw := func(k int, size float64) []float64 {
		x := make([]float64, k)
		for i := range x {
			x[i] = size * c.NormFloat64()
		}
		return x
	}
	from := Sheet{C: draw(D, 1), Q: orthonormal(draw(D*(d+s), 1), D, d+s), Theta: draw(9, .2), Tau: draw(n*d, 1)}
	p := New(draw(n*D, .2), n, D, d, s, .05)
	at := p.newPlaces()
	p.place(at, from)
	r := make([]float64, D*n)
	p.residuals(r, from, at)
	for i, v := range r { // noise and the sheet
		p.X[i] += v + p.X[i]
	}
	return p, from
}

// along is the cost sum g r + penalty at the sheet moved by t times a direction.
func along(p *Problem, s Sheet, g, direction []float64, t float64) float64 {
	o := s.clone()
	for _, x := range [][]float64{o.C, o.Q, o.Theta, o.Tau} {
		for i := range x {
			x[i] += t * direction[i]
		}
		direction = direction[len(x):]
	}
	o.Q = orthonormal(o.Q, p.D, p.m)
	at, r := p.newPlaces(), make([]float64, p.D*p.N)
	p.place(at, o)
	p.residuals(r, o, at)
	sum := p.penalty(o)
	for i, v := range r {
		sum += g[i] * v
	}
	return sum
}

// The multipliers are subgradients, and no direction has a slope under them.
func TestFinishIsCertified(t *testing.T) {
	p, from := small()
	f := NewFinish(p, from)
	before := p.penalty(from)
	at, r := p.newPlaces(), make([]float64, p.D*p.N)
	p.place(at, from)
	p.residuals(r, from, at)
	before += rounded(r, 0)
	f.Run(1e-6, func() bool { return false })
	require.LessOrEqual(t, f.Residual, 1e-6)
	assert.Less(t, f.Cost, before)

	p.place(at, f.Sheet)
	p.residuals(r, f.Sheet, at)
	off, size := 0., 0.
	for i, g := range f.Multipliers {
		assert.LessOrEqual(t, math.Abs(g), 1.)
		off += math.Abs(r[i]) - g*r[i]
		size += math.Abs(r[i])
	}
	assert.InDelta(t, f.Cost, size+p.penalty(f.Sheet), 1e-9*size)
	assert.Less(t, off, 1e-6*size)
	c := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		direction := make([]float64, p.D*p.a+len(f.Sheet.Theta)+len(f.Sheet.Tau))
		for i := range direction {
			direction[i] = c.NormFloat64()
		}
		const h = 1e-5
		slope := (along(p, f.Sheet, f.Multipliers, direction, h) - along(p, f.Sheet, f.Multipliers, direction, -h)) / (2 * h)
		assert.Less(t, math.Abs(slope), 2e-5*size)
	}
}

// A fit that is told to stop at once keeps its sheet, and one that is told later has an orthonormal Q.
func TestFinishStops(t *testing.T) {
	p, from := small()
	f := NewFinish(p, from)
	f.Run(1e-6, func() bool { return true })
	assert.Zero(t, f.Iterations)
	assert.Equal(t, from, f.Sheet)
	assert.Zero(t, f.sys.newProximal().run(f.r, firstNear, f.stopped), "no system of a model is solved any more")

	asked, cost := 0, f.Cost
	f.Run(1e-6, func() bool { asked++; return asked > 40 })
	assert.LessOrEqual(t, f.Iterations, 40)
	assert.Less(t, f.Cost, cost)
	var gram mat.Dense
	q := mat.NewDense(p.D, p.m, f.Sheet.Q)
	gram.Mul(q.T(), q)
	for i := range p.m {
		assert.InDelta(t, 1, gram.At(i, i), 1e-12)
	}
}

// The eliminated system solves the whole one: H dx + grad is a sum of the derivatives of Q'Q.
func TestSystemIsSolved(t *testing.T) {
	p, from := small()
	s, x := p.newSystem(), from
	s.move(x)
	c := rand.New(rand.NewPCG(5, 6))
	w, g := make([]float64, p.D*p.N), make([]float64, p.D*p.N)
	for i := range w {
		w[i], g[i] = c.ExpFloat64(), c.NormFloat64()
	}
	s.assemble(w, nil)
	for i := range s.nv {
		s.v[i*s.nv+i]++
	}
	require.True(t, s.factor(0))
	gu, gv := make([]float64, p.D*p.a), make([]float64, s.nv)
	s.gradients(gu, gv, g)
	dx := s.newStep()
	s.solve(dx.du, dx.dv, gu, gv)
	dr := make([]float64, p.D*p.N)
	s.linear(dr, dx)
	for i := range dr {
		dr[i] = g[i] + w[i]*dr[i]
	}
	s.gradients(gu, gv, dr)
	l := make([]float64, p.m*p.m)
	s.turning(l, x.Q, gu)
	s.tangent(gu, x.Q, l)
	for _, v := range gu {
		assert.InDelta(t, 0, v, 1e-8)
	}
	for i, v := range gv {
		assert.InDelta(t, 0, v+dx.dv[i], 1e-8)
	}
	for b := range p.m {
		for e := range p.m {
			sum := 0.
			for k := range p.D {
				sum += x.Q[k*p.m+b]*dx.du[k*p.a+1+e] + x.Q[k*p.m+e]*dx.du[k*p.a+1+b]
			}
			assert.InDelta(t, 0, sum, 1e-10)
		}
	}
}
