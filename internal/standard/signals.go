package standard

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// independentComponents is the mean of sum_j log cosh(w_j'z) for whitened mixtures z of
// uniform signals.
func independentComponents(size Size, rng *rand.Rand) *Problem {
	n, count := size.pick(4, 10), size.pick(200, 2000)
	sources := mat.NewDense(count, n, steps(count*n, func(int) float64 { return 2*rng.Float64() - 1 }))
	var mixed, covariance mat.Dense
	mixed.Mul(sources, gaussian(rng, n, n))
	covariance.Mul(mixed.T(), &mixed)
	covariance.Scale(1/float64(count), &covariance)
	var eigen mat.EigenSym
	eigen.Factorize(mat.NewSymDense(n, symmetric(&covariance).RawMatrix().Data), true)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for j, v := range eigen.Values(nil) {
		for i := range n {
			vectors.Set(i, j, vectors.At(i, j)/math.Sqrt(v))
		}
	}
	z := new(mat.Dense)
	z.Mul(&mixed, &vectors)
	return &Problem{
		blocks: one("W", manifolds.NewStiefel(n, n), 1),
		// Uniform signals are flatter than Gaussian ones: their log cosh is largest.
		cost: func(grad, x framework.Point) float64 {
			var t mat.Dense
			t.Mul(z, mat.NewDense(n, n, x[0]))
			cost := 0.
			for i, v := range t.RawMatrix().Data {
				cost -= math.Abs(v) + math.Log1p(math.Exp(-2*math.Abs(v))) - math.Ln2
				t.RawMatrix().Data[i] = -math.Tanh(v) / float64(count)
			}
			mat.NewDense(n, n, grad[0]).Mul(z.T(), &t)
			return cost / float64(count)
		},
		hessian: func(dst, x, v framework.Point) {
			var t, w mat.Dense
			t.Mul(z, mat.NewDense(n, n, x[0]))
			w.Mul(z, mat.NewDense(n, n, v[0]))
			for i, u := range t.RawMatrix().Data {
				th := math.Tanh(u)
				w.RawMatrix().Data[i] *= -(1 - th*th) / float64(count)
			}
			mat.NewDense(n, n, dst[0]).Mul(z.T(), &w)
		},
	}
}

// nearlyCommuting returns symmetric matrices that nearly share their eigenvectors.
func nearlyCommuting(rng *rand.Rand, n, count int) []*mat.Dense {
	var qr mat.QR
	qr.Factorize(gaussian(rng, n, n))
	var q mat.Dense
	qr.QTo(&q)
	list := make([]*mat.Dense, count)
	for k := range list {
		var a mat.Dense
		a.Mul(&q, mat.NewDiagDense(n, steps(n, func(int) float64 { return rng.NormFloat64() })))
		a.Mul(&a, q.T())
		noise := gaussian(rng, n, n)
		noise.Scale(0.05, noise)
		a.Add(&a, noise)
		list[k] = symmetric(&a)
	}
	return list
}

// diagonal is diag(X'Y).
func diagonal(x, y *mat.Dense) []float64 {
	n, p := x.Dims()
	d := make([]float64, p)
	for i := range n {
		for j := range p {
			d[j] += x.At(i, j) * y.At(i, j)
		}
	}
	return d
}

// addColumns adds a Y diag(d) to dst.
func addColumns(dst *mat.Dense, a float64, y *mat.Dense, d []float64) {
	n, p := y.Dims()
	for i := range n {
		for j := range p {
			dst.Set(i, j, dst.At(i, j)+a*y.At(i, j)*d[j])
		}
	}
}

// jointDiagonalisation is -sum_k |diag(X'A_k X)|^2/4 for matrices that nearly share
// their eigenvectors.
func jointDiagonalisation(size Size, rng *rand.Rand) *Problem {
	n, count := size.pick(5, 20), size.pick(4, 10)
	list := nearlyCommuting(rng, n, count)
	return &Problem{
		blocks: one("X", manifolds.NewStiefel(n, n), 1),
		cost: func(grad, x framework.Point) float64 {
			m, g := mat.NewDense(n, n, x[0]), mat.NewDense(n, n, grad[0])
			g.Zero()
			cost := 0.
			var ax mat.Dense
			for _, a := range list {
				ax.Mul(a, m)
				d := diagonal(m, &ax)
				cost -= floats.Dot(d, d) / 4
				addColumns(g, -1, &ax, d)
			}
			return cost
		},
		hessian: func(dst, x, v framework.Point) {
			m, w, h := mat.NewDense(n, n, x[0]), mat.NewDense(n, n, v[0]), mat.NewDense(n, n, dst[0])
			h.Zero()
			var ax, av mat.Dense
			for _, a := range list {
				ax.Mul(a, m)
				av.Mul(a, w)
				addColumns(h, -1, &av, diagonal(m, &ax))
				addColumns(h, -2, &ax, diagonal(w, &ax))
			}
		},
	}
}

// logistic is logistic regression with a small ridge penalty.
func logistic(size Size, rng *rand.Rand) *Problem {
	const ridge = 1e-4
	n, count := size.pick(10, 100), size.pick(60, 1000)
	a := gaussian(rng, count, n)
	for i := range count {
		sign := 1.
		if a.At(i, 0)+a.At(i, 1)+rng.NormFloat64() < 0 {
			sign = -1
		}
		for j := range n {
			a.Set(i, j, sign*a.At(i, j)*math.Pow(10, -float64(j)/float64(n)))
		}
	}
	times := func(x []float64) []float64 {
		t := make([]float64, count)
		mat.NewVecDense(count, t).MulVec(a, mat.NewVecDense(n, x))
		return t
	}
	back := func(dst, t, x []float64) {
		mat.NewVecDense(n, dst).MulVec(a.T(), mat.NewVecDense(count, t))
		floats.Scale(1/float64(count), dst)
		floats.AddScaled(dst, ridge, x)
	}
	return &Problem{
		blocks: one("x", manifolds.Euclidean(n), 1),
		cost: func(grad, x framework.Point) float64 {
			t, cost := times(x[0]), 0.
			for i, m := range t {
				cost += math.Log1p(math.Exp(-math.Abs(m))) + math.Max(0, -m)
				t[i] = -1 / (1 + math.Exp(m))
			}
			back(grad[0], t, x[0])
			return cost/float64(count) + ridge*floats.Dot(x[0], x[0])/2
		},
		hessian: func(dst, x, v framework.Point) {
			t, w := times(x[0]), times(v[0])
			for i, m := range t {
				e := math.Exp(-math.Abs(m))
				w[i] *= e / ((1 + e) * (1 + e))
			}
			back(dst[0], w, v[0])
		},
	}
}
