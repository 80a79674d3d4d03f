package standard

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// thomson is the sum of 1/|x_i - x_j| for points on the sphere.
func thomson(size Size, _ *rand.Rand) *Problem {
	n := size.pick(12, 40)
	return pairs(n, 3, func(square float64) (f, d, dd float64) {
		r := math.Sqrt(square)
		return 1 / r, -1 / (2 * square * r), 3 / (4 * square * square * r)
	})
}

// packing is the sum of exp(a (<x_i,x_j> - 1)), which is dominated by the nearest pairs of points.
func packing(size Size, _ *rand.Rand) *Problem {
	n, a := size.pick(10, 24), 20.
	return pairs(n, 3, func(square float64) (f, d, dd float64) {
		f = math.Exp(-a * square / 2)
		return f, -a / 2 * f, a * a / 4 * f
	})
}

// pairs is a sum of f(|x_i - x_j|^2) over pairs of points on the sphere. f returns its
// value and two derivatives.
func pairs(n, dim int, f func(square float64) (value, first, second float64)) *Problem {
	e, w := make([]float64, dim), make([]float64, dim)
	each := func(x framework.Point, do func(i, j int, value, first, second float64)) {
		for i := range n {
			for j := range i {
				floats.SubTo(e, x[0][dim*i:dim*i+dim], x[0][dim*j:dim*j+dim])
				value, first, second := f(floats.Dot(e, e))
				do(dim*i, dim*j, value, first, second)
			}
		}
	}
	return &Problem{
		blocks: one("points", manifolds.Sphere(dim), n),
		cost: func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			each(x, func(i, j int, value, first, _ float64) {
				cost += value
				floats.AddScaled(grad[0][i:i+dim], 2*first, e)
				floats.AddScaled(grad[0][j:j+dim], -2*first, e)
			})
			return cost
		},
		hessian: func(dst, x, v framework.Point) {
			clear(dst[0])
			each(x, func(i, j int, _, first, second float64) {
				floats.SubTo(w, v[0][i:i+dim], v[0][j:j+dim])
				along := 4 * second * floats.Dot(e, w)
				floats.Scale(2*first, w)
				floats.AddScaled(w, along, e)
				floats.Add(dst[0][i:i+dim], w)
				floats.Sub(dst[0][j:j+dim], w)
			})
		},
	}
}
