package standard

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// rosenbrock is the sum of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2, a curved valley.
func rosenbrock(size Size, _ *rand.Rand) *Problem {
	n := size.pick(20, 100)
	start := steps(n, func(i int) float64 { return []float64{-1.2, 1}[i%2] })
	return &Problem{
		Start:  framework.Point{start},
		blocks: one("x", manifolds.Euclidean(n), 1),
		cost: func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			for i := range n - 1 {
				u, v := x[0][i], x[0][i+1]
				a, b := v-u*u, 1-u
				cost += 100*a*a + b*b
				grad[0][i] += -400*a*u - 2*b
				grad[0][i+1] += 200 * a
			}
			return cost
		},
		hessian: func(dst, x, v framework.Point) {
			clear(dst[0])
			for i := range n - 1 {
				u := x[0][i]
				cross := -400 * u
				dst[0][i] += (1200*u*u-400*x[0][i+1]+2)*v[0][i] + cross*v[0][i+1]
				dst[0][i+1] += cross*v[0][i] + 200*v[0][i+1]
			}
		},
	}
}

// illConditioned is a quadratic of condition number 100 plus the constant 1e6.
func illConditioned(size Size, _ *rand.Rand) *Problem {
	n := size.pick(20, 200)
	weights := steps(n, func(i int) float64 { return math.Pow(100, float64(i)/float64(n-1)) })
	return &Problem{
		blocks: one("x", manifolds.Euclidean(n), 1),
		cost: func(grad, x framework.Point) float64 {
			cost := 0.
			for i, w := range weights {
				d := x[0][i] - 1
				grad[0][i] = w * d
				cost += w * d * d / 2
			}
			return cost + 1e6
		},
		hessian: func(dst, _, v framework.Point) { floats.MulTo(dst[0], weights, v[0]) },
	}
}

// unlikeBlocks is a Rayleigh quotient plus a stiff quadratic that depends on it.
func unlikeBlocks(size Size, rng *rand.Rand) *Problem {
	n, m := size.pick(10, 30), size.pick(20, 50)
	weights := steps(n, func(i int) float64 { return 1e4 * (1 + float64(i)/10) })
	a := Spread(rng, steps(m, func(i int) float64 { return 1e-1 * float64(i+1) }))
	apply := func(dst, x []float64) {
		mat.NewVecDense(m, dst).MulVec(a, mat.NewVecDense(m, x))
	}
	return &Problem{
		blocks: []framework.Block{{Name: "flat", Manifold: manifolds.Euclidean(n)}, {Name: "direction", Manifold: manifolds.Sphere(m)}},
		cost: func(grad, x framework.Point) float64 {
			apply(grad[1], x[1])
			cost := floats.Dot(grad[1], x[1]) / 2
			for i, w := range weights {
				d := x[0][i] - x[1][i]
				cost += w * d * d / 2
				grad[0][i] = w * d
				grad[1][i] -= w * d
			}
			return cost
		},
		hessian: func(dst, _, v framework.Point) {
			apply(dst[1], v[1])
			for i, w := range weights {
				d := v[0][i] - v[1][i]
				dst[0][i] = w * d
				dst[1][i] -= w * d
			}
		},
	}
}
