package standard

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// correlation is |XX' - C|^2/4 for rows of unit length.
func correlation(size Size, rng *rand.Rand) *Problem {
	n, p := size.pick(40, 100), 5
	c := Spread(rng, steps(n, func(i int) float64 { return 12 * math.Pow(0.7, float64(i)) }))
	residual := func(x *mat.Dense) *mat.Dense {
		var r mat.Dense
		r.Mul(x, x.T())
		r.Sub(&r, c)
		return &r
	}
	return &Problem{
		blocks: one("rows", manifolds.Sphere(p), n),
		cost: func(grad, x framework.Point) float64 {
			m := mat.NewDense(n, p, x[0])
			r := residual(m)
			mat.NewDense(n, p, grad[0]).Mul(r, m)
			return dot(r, r) / 4
		},
		hessian: func(dst, x, v framework.Point) {
			m, w := mat.NewDense(n, p, x[0]), mat.NewDense(n, p, v[0])
			d := mat.NewDense(n, p, dst[0])
			d.Mul(residual(m), w)
			var cross, more mat.Dense
			cross.Mul(w, m.T())
			more.Add(&cross, cross.T())
			cross.Reset()
			cross.Mul(&more, m)
			d.Add(d, &cross)
		},
	}
}

// maxCut is -tr(X'LX)/4 for the Laplacian of a random graph and rows of unit length.
func maxCut(size Size, rng *rand.Rand) *Problem {
	n, p := size.pick(60, 300), size.pick(8, 25)
	laplacian := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i {
			if rng.IntN(n) >= 8 {
				continue
			}
			laplacian.Set(i, j, 0.5)
			laplacian.Set(j, i, 0.5)
			laplacian.Set(i, i, laplacian.At(i, i)-0.5)
			laplacian.Set(j, j, laplacian.At(j, j)-0.5)
		}
	}
	q := quadratic(manifolds.Sphere(p), laplacian, ones(p), nil)
	q.blocks = one("rows", manifolds.Sphere(p), n)
	return q
}

// robustPCA is sum_i sqrt(|y_i - X X'y_i|^2 + eps^2) on a Grassmann manifold.
func robustPCA(size Size, rng *rand.Rand) *Problem {
	const eps = 0.1
	n, p, count := size.pick(30, 100), size.pick(3, 5), size.pick(100, 500)
	y := gaussian(rng, count, n)
	for i := range count {
		for j := range n {
			if j < p {
				y.Set(i, j, 4*y.At(i, j))
			} else if i%5 > 0 {
				y.Set(i, j, 0.1*y.At(i, j))
			}
		}
	}
	squares := steps(count, func(i int) float64 { return floats.Dot(y.RawRowView(i), y.RawRowView(i)) })
	distances := func(x *mat.Dense) (t *mat.Dense, d []float64) {
		t = new(mat.Dense)
		t.Mul(y, x)
		return t, steps(count, func(i int) float64 {
			return math.Sqrt(squares[i] - floats.Dot(t.RawRowView(i), t.RawRowView(i)) + eps*eps)
		})
	}
	return &Problem{
		blocks: one("X", manifolds.NewGrassmann(n, p), 1),
		cost: func(grad, x framework.Point) float64 {
			t, d := distances(mat.NewDense(n, p, x[0]))
			for i := range count {
				floats.Scale(-1/d[i], t.RawRowView(i))
			}
			mat.NewDense(n, p, grad[0]).Mul(y.T(), t)
			return floats.Sum(d)
		},
		hessian: func(dst, x, v framework.Point) {
			t, d := distances(mat.NewDense(n, p, x[0]))
			var w mat.Dense
			w.Mul(y, mat.NewDense(n, p, v[0]))
			for i := range count {
				a, b := t.RawRowView(i), w.RawRowView(i)
				slope := floats.Dot(a, b)
				floats.Scale(-1/d[i], b)
				floats.AddScaled(b, -slope/(d[i]*d[i]*d[i]), a)
			}
			mat.NewDense(n, p, dst[0]).Mul(y.T(), &w)
		},
	}
}
