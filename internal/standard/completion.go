package standard

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// partial returns a noisy matrix of rank r, and which entries are observed (1) or not (0).
func partial(rng *rand.Rand, n, r int, share, noise float64) (a, seen *mat.Dense) {
	a, seen = new(mat.Dense), mat.NewDense(n, n, nil)
	a.Mul(gaussian(rng, n, r), gaussian(rng, n, r).T())
	for i := range seen.RawMatrix().Data {
		a.RawMatrix().Data[i] += noise * rng.NormFloat64()
		if rng.Float64() < share {
			seen.RawMatrix().Data[i] = 1
		}
	}
	a.MulElem(a, seen)
	return a, seen
}

// completion is half the sum of squares of (LR' - A)_ij over the observed entries.
func completion(size Size, rng *rand.Rand) *Problem {
	n, r := size.pick(60, 200), size.pick(3, 4)
	a, seen := partial(rng, n, r, []float64{0.4, 0.25}[size], 0)
	product := func(l, q []float64) *mat.Dense {
		var e mat.Dense
		e.Mul(mat.NewDense(n, r, l), mat.NewDense(n, r, q).T())
		e.MulElem(&e, seen)
		return &e
	}
	factor := manifolds.Euclidean(r)
	return &Problem{
		blocks: []framework.Block{{Name: "L", Manifold: factor, Copies: n}, {Name: "R", Manifold: factor, Copies: n}},
		cost: func(grad, x framework.Point) float64 {
			e := product(x[0], x[1])
			e.Sub(e, a)
			mat.NewDense(n, r, grad[0]).Mul(e, mat.NewDense(n, r, x[1]))
			mat.NewDense(n, r, grad[1]).Mul(e.T(), mat.NewDense(n, r, x[0]))
			return dot(e, e) / 2
		},
		hessian: func(dst, x, v framework.Point) {
			e, d := product(x[0], x[1]), product(v[0], x[1])
			e.Sub(e, a)
			d.Add(d, product(x[0], v[1]))
			var more mat.Dense
			for k, m := range []struct{ e, d mat.Matrix }{{e, d}, {e.T(), d.T()}} {
				t := mat.NewDense(n, r, dst[k])
				t.Mul(m.e, mat.NewDense(n, r, v[1-k]))
				more.Mul(m.d, mat.NewDense(n, r, x[1-k]))
				t.Add(t, &more)
			}
		},
	}
}

// noisyCompletion is the problem of fixedRank with noisy data.
func noisyCompletion(size Size, rng *rand.Rand) *Problem {
	n, r := size.pick(40, 200), size.pick(2, 4)
	a, seen := partial(rng, n, r, []float64{0.5, 0.25}[size], 0.1)
	return fixedRank(n, r, a, seen)
}

// lowRank is the best approximation of given rank of a matrix with decreasing singular values.
func lowRank(size Size, rng *rand.Rand) *Problem {
	n, r := size.pick(30, 100), size.pick(2, 5)
	a := gaussian(rng, n, n)
	for i := range n {
		for j := range n {
			a.Set(i, j, a.At(i, j)/float64(1+i+j)*10)
		}
	}
	seen := mat.NewDense(n, n, ones(n*n))
	return fixedRank(n, r, a, seen)
}

// factored is a fixed-rank manifold with the observed entries.
type factored struct {
	m    *manifolds.FixedRank
	n, r int
	seen *mat.Dense
}

// parts returns the factors u, s and v of a point.
func (f factored) parts(x []float64) (u, s, v *mat.Dense) {
	a, b, c := f.m.Parts(x)
	return mat.NewDense(f.n, f.r, a), mat.NewDense(f.r, f.r, b), mat.NewDense(f.n, f.r, c)
}

// product returns u s v' at the observed entries, 0 elsewhere.
func (f factored) product(u, s, v *mat.Dense) *mat.Dense {
	var us, w mat.Dense
	us.Mul(u, s)
	w.Mul(&us, v.T())
	w.MulElem(&w, f.seen)
	return &w
}

// add adds to dst those of g v s', u'g v and g'u s that are requested.
func (f factored) add(dst []float64, g, u, s, v *mat.Dense, first, second, third bool) {
	du, ds, dv := f.parts(dst)
	var gv, gu, a, b, c mat.Dense
	gv.Mul(g, v)
	gu.Mul(g.T(), u)
	if first {
		a.Mul(&gv, s.T())
		du.Add(du, &a)
	}
	if second {
		b.Mul(u.T(), &gv)
		ds.Add(ds, &b)
	}
	if third {
		c.Mul(&gu, s)
		dv.Add(dv, &c)
	}
}

// fixedRank is half the sum of squares of (W - A)_ij over the observed entries, for a
// matrix W of rank r in factored form.
func fixedRank(n, r int, a, seen *mat.Dense) *Problem {
	f := factored{manifolds.NewFixedRank(n, n, r), n, r, seen}
	return &Problem{
		blocks: one("W", f.m, 1),
		cost: func(grad, x framework.Point) float64 {
			u, s, v := f.parts(x[0])
			e := f.product(u, s, v)
			e.Sub(e, a)
			clear(grad[0])
			f.add(grad[0], e, u, s, v, true, true, true)
			return dot(e, e) / 2
		},
		hessian: func(dst, x, t framework.Point) {
			u, s, v := f.parts(x[0])
			du, ds, dv := f.parts(t[0])
			e := f.product(u, s, v)
			e.Sub(e, a)
			change := f.product(du, s, v)
			change.Add(change, f.product(u, ds, v))
			change.Add(change, f.product(u, s, dv))
			clear(dst[0])
			f.add(dst[0], change, u, s, v, true, true, true)
			f.add(dst[0], e, du, s, v, false, true, true)
			f.add(dst[0], e, u, ds, v, true, false, true)
			f.add(dst[0], e, u, s, dv, true, true, false)
		},
	}
}

// phaseRetrieval is sum_i ((a_i'x)^2 - b_i)^2 / 4m.
func phaseRetrieval(size Size, rng *rand.Rand) *Problem {
	n := size.pick(16, 64)
	m := 6 * n
	a := gaussian(rng, m, n)
	truth := gaussian(rng, n, 1)
	var b mat.Dense
	b.Mul(a, truth)
	b.MulElem(&b, &b)
	times := func(x []float64) []float64 {
		t := make([]float64, m)
		mat.NewVecDense(m, t).MulVec(a, mat.NewVecDense(n, x))
		return t
	}
	back := func(dst, t []float64) {
		mat.NewVecDense(n, dst).MulVec(a.T(), mat.NewVecDense(m, t))
		floats.Scale(1/float64(m), dst)
	}
	data := b.RawMatrix().Data
	return &Problem{
		blocks: one("x", manifolds.Euclidean(n), 1),
		cost: func(grad, x framework.Point) float64 {
			t, cost := times(x[0]), 0.
			for i, v := range t {
				e := v*v - data[i]
				cost += e * e / float64(4*m)
				t[i] = e * v
			}
			back(grad[0], t)
			return cost
		},
		hessian: func(dst, x, v framework.Point) {
			t, w := times(x[0]), times(v[0])
			for i, u := range t {
				w[i] *= 3*u*u - data[i]
			}
			back(dst[0], w)
		},
	}
}
