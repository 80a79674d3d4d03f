package standard

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// quadratic is tr(N X'AX)/2 - tr(C'X), where N is the diagonal matrix of weights; c may be nil.
func quadratic(m framework.Manifold, a *mat.Dense, weights []float64, c *mat.Dense) *Problem {
	n, p := a.RawMatrix().Rows, len(weights)
	apply := func(dst, x []float64) {
		mat.NewDense(n, p, dst).Mul(a, mat.NewDense(n, p, x))
		for i := range n {
			floats.Mul(dst[i*p:(i+1)*p], weights)
		}
	}
	return &Problem{
		blocks: one("X", m, 1),
		cost: func(grad, x framework.Point) float64 {
			apply(grad[0], x[0])
			cost := floats.Dot(grad[0], x[0]) / 2
			if c != nil {
				linear := c.RawMatrix().Data
				cost -= floats.Dot(linear, x[0])
				floats.Sub(grad[0], linear)
			}
			return cost
		},
		hessian: func(dst, _, v framework.Point) { apply(dst[0], v[0]) },
	}
}

func ones(n int) []float64 { return steps(n, func(int) float64 { return 1 }) }

// eigenvector finds the dominant eigenvector of a symmetric Gaussian matrix.
func eigenvector(size Size, rng *rand.Rand) *Problem {
	n := size.pick(100, 1000)
	a := symmetric(gaussian(rng, n, n))
	a.Scale(-1, a)
	return quadratic(manifolds.Sphere(n), a, ones(1), nil)
}

// subspace finds the dominant invariant subspace of a symmetric Gaussian matrix.
func subspace(size Size, rng *rand.Rand) *Problem {
	n := size.pick(40, 128)
	a := symmetric(gaussian(rng, n, n))
	a.Scale(-1, a)
	return quadratic(manifolds.NewGrassmann(n, 3), a, ones(3), nil)
}

// principal finds the weighted principal components of data with decreasing variances.
func principal(size Size, rng *rand.Rand) *Problem {
	n, p := size.pick(30, 100), size.pick(2, 5)
	data := gaussian(rng, 4*n, n)
	for i := range 4 * n {
		for j := range n {
			data.Set(i, j, data.At(i, j)/math.Sqrt(float64(1+j)))
		}
	}
	var a mat.Dense
	a.Mul(data.T(), data)
	a.Scale(-1/float64(4*n), &a)
	return quadratic(manifolds.NewStiefel(n, p), &a, steps(p, func(i int) float64 { return float64(p - i) }), nil)
}

// brockett is tr(N X'AX)/2 for a matrix A with eigenvalues 1 to n.
func brockett(size Size, rng *rand.Rand) *Problem {
	n := size.pick(50, 200)
	a := Spread(rng, steps(n, func(i int) float64 { return float64(i + 1) }))
	return quadratic(manifolds.NewStiefel(n, 5), a, []float64{5, 4, 3, 2, 1}, nil)
}

// procrustes is |AXB - C|^2/2 without its constant term, for diagonal A and B.
func procrustes(size Size, rng *rand.Rand) *Problem {
	n, p := size.pick(60, 100), size.pick(6, 10)
	a := steps(n, func(i int) float64 { return math.Pow(10, -float64(i)/float64(n)) })
	b := steps(p, func(i int) float64 { return math.Pow(10, -float64(i)/float64(p)) })
	linear := gaussian(rng, n, p)
	for i := range n {
		floats.Scale(a[i], linear.RawRowView(i))
		floats.Mul(linear.RawRowView(i), b)
	}
	square := mat.NewDense(n, n, nil)
	for i, v := range a {
		square.Set(i, i, v*v)
	}
	return quadratic(manifolds.NewStiefel(n, p), square, steps(p, func(i int) float64 { return b[i] * b[i] }), linear)
}

// sparsePCA is -tr(X'AX)/2 + lambda sum_ij sqrt(x_ij^2 + eps^2).
func sparsePCA(size Size, rng *rand.Rand) *Problem {
	const lambda, eps = 0.1, 0.01
	n, p := size.pick(20, 100), 3
	data := gaussian(rng, 2*n, n)
	for j := range 3 {
		for i := range 2 * n {
			f := 2 * rng.NormFloat64()
			for k := range n / 5 {
				data.Set(i, j*n/5+k, data.At(i, j*n/5+k)+f/math.Sqrt(float64(1+j)))
			}
		}
	}
	var a mat.Dense
	a.Mul(data.T(), data)
	a.Scale(-1/float64(n), &a)
	q := quadratic(manifolds.NewStiefel(n, p), &a, ones(p), nil)
	cost, product := q.cost, q.hessian
	q.cost = func(grad, x framework.Point) float64 {
		f := cost(grad, x)
		for i, v := range x[0] {
			r := math.Sqrt(v*v + eps*eps)
			f += lambda * r
			grad[0][i] += lambda * v / r
		}
		return f
	}
	q.hessian = func(dst, x, v framework.Point) {
		product(dst, x, v)
		for i, u := range x[0] {
			r := math.Sqrt(u*u + eps*eps)
			dst[0][i] += lambda * eps * eps / (r * r * r) * v[0][i]
		}
	}
	return q
}
