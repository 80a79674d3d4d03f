package standard

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// sphereMean is half the sum of squared angles to points around a pole.
func sphereMean(size Size, rng *rand.Rand) *Problem {
	n, count := size.pick(20, 100), size.pick(20, 50)
	points := gaussian(rng, count, n)
	for i := range count {
		p := points.RawRowView(i)
		p[0] += 2 * math.Sqrt(float64(n))
		floats.Scale(1/floats.Norm(p, 2), p)
	}
	start := make([]float64, n)
	start[1] = 1
	return &Problem{
		Start:  framework.Point{start},
		blocks: one("x", manifolds.Sphere(n), 1),
		cost: func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			for i := range count {
				c := floats.Dot(points.RawRowView(i), x[0])
				angle := math.Acos(math.Min(1, c))
				cost += angle * angle / 2
				floats.AddScaled(grad[0], -angle/math.Sqrt(1-c*c), points.RawRowView(i))
			}
			return cost
		},
		hessian: func(dst, x, v framework.Point) {
			clear(dst[0])
			for i := range count {
				p := points.RawRowView(i)
				c := floats.Dot(p, x[0])
				angle, square := math.Acos(math.Min(1, c)), 1-c*c
				floats.AddScaled(dst[0], (1-angle*c/math.Sqrt(square))/square*floats.Dot(p, v[0]), p)
			}
		},
	}
}

// spdMean is the sum of squared affine-invariant distances to given matrices, divided by twice their number.
func spdMean(size Size, rng *rand.Rand) *Problem {
	n, count := size.pick(3, 5), size.pick(5, 20)
	m := manifolds.NewSPD(n)
	points := mat.NewDense(count, n*n, nil)
	for i := range count {
		a := gaussian(rng, n, n)
		for j := range n {
			floats.Scale(math.Pow(5, float64(j)/2), a.RawRowView(j))
		}
		var square mat.Dense
		square.Mul(a, a.T())
		copy(points.RawRowView(i), symmetric(&square).RawMatrix().Data)
	}
	log := make([]float64, n*n)
	return &Problem{
		blocks: one("X", m, 1),
		cost: func(grad, x framework.Point) float64 {
			sum, cost := mat.NewDense(n, n, nil), 0.
			for i := range count {
				if m.Log(log, x[0], points.RawRowView(i)) != nil {
					return math.Inf(1)
				}
				cost += m.Inner(x[0], log, log) / float64(2*count)
				floats.AddScaled(sum.RawMatrix().Data, -1/float64(count), log)
			}
			// The Euclidean gradient of the Riemannian one G is X^-1 G X^-1.
			var c mat.Cholesky
			if !c.Factorize(mat.NewSymDense(n, x[0])) {
				return math.Inf(1)
			}
			var half, g mat.Dense
			if c.SolveTo(&half, sum) != nil || c.SolveTo(&g, half.T()) != nil {
				return math.Inf(1)
			}
			copy(grad[0], symmetric(&g).RawMatrix().Data)
			return cost
		},
	}
}

// hyperbolicMean is half the sum of squared distances in the Lorentz model.
func hyperbolicMean(size Size, rng *rand.Rand) *Problem {
	n, count := size.pick(5, 20), size.pick(15, 50)
	points := gaussian(rng, count, n+1)
	for i := range count {
		p := points.RawRowView(i)
		p[1] += 3
		p[0] = math.Sqrt(1 + floats.Dot(p[1:], p[1:]))
	}
	return &Problem{
		blocks: one("x", manifolds.Hyperbolic(n), 1),
		cost: func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			for i := range count {
				p := points.RawRowView(i)
				c := math.Max(1, x[0][0]*p[0]-floats.Dot(x[0][1:], p[1:]))
				d, factor := math.Acosh(c), 1.
				if d > 1e-6 {
					factor = d / math.Sqrt(c*c-1)
				}
				cost += d * d / 2
				grad[0][0] += factor * p[0]
				floats.AddScaled(grad[0][1:], -factor, p[1:])
			}
			return cost
		},
	}
}

// noisyEdges returns the edges (i, j, H) of a connected graph. H are relative rotations of
// random rotations, with noise; a tenth of them are wrong.
func noisyEdges(rng *rand.Rand, so *manifolds.Rotations, n int) []float64 {
	truth := make([]float64, 9*n)
	for i := range n {
		so.Rand(truth[9*i:9*i+9], rng)
	}
	var edges []float64
	v, h := make([]float64, 9), make([]float64, 9)
	for i := range n {
		for j := range i {
			if j < i-1 && rng.Float64() > 0.3 {
				continue
			}
			var relative mat.Dense
			relative.Mul(mat.NewDense(3, 3, truth[9*i:9*i+9]), mat.NewDense(3, 3, truth[9*j:9*j+9]).T())
			for k := range v {
				v[k] = 0.1 * rng.NormFloat64()
			}
			so.Project(v, relative.RawMatrix().Data, v)
			if rng.Float64() < 0.1 {
				so.Rand(h, rng)
			} else if so.Exp(h, relative.RawMatrix().Data, v) != nil {
				continue
			}
			edges = append(append(edges, float64(i), float64(j)), h...)
		}
	}
	return edges
}

// turned writes a - H b into dst, for matrices of order 3.
func turned(dst, a, h, b []float64) {
	for r := range 3 {
		for c := range 3 {
			dst[3*r+c] = a[3*r+c] - h[3*r]*b[c] - h[3*r+1]*b[3+c] - h[3*r+2]*b[6+c]
		}
	}
}

// turnBack adds e to a and -H'e to b.
func turnBack(a, h, b, e []float64) {
	for r := range 3 {
		for c := range 3 {
			a[3*r+c] += e[3*r+c]
			b[3*r+c] -= h[r]*e[c] + h[3+r]*e[3+c] + h[6+r]*e[6+c]
		}
	}
}

// synchronisation is the sum of sqrt(|R_i - H_ij R_j|^2 + eps^2) over the edges of a
// graph with noisy relative rotations, some of them wrong.
func synchronisation(size Size, rng *rand.Rand) *Problem {
	const eps = 0.1
	n := size.pick(8, 40)
	so := manifolds.NewRotations(3)
	edges := noisyEdges(rng, so, n)
	count := len(edges) / 11
	each := func(do func(i, j int, h []float64)) {
		for k := range count {
			do(9*int(edges[11*k]), 9*int(edges[11*k+1]), edges[11*k+2:11*k+11])
		}
	}
	e, d := make([]float64, 9), make([]float64, 9)
	return &Problem{
		blocks: one("rotations", so, n),
		cost: func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			each(func(i, j int, h []float64) {
				turned(e, x[0][i:i+9], h, x[0][j:j+9])
				length := math.Sqrt(floats.Dot(e, e) + eps*eps)
				cost += length
				floats.Scale(1/length, e)
				turnBack(grad[0][i:i+9], h, grad[0][j:j+9], e)
			})
			return cost
		},
		hessian: func(dst, x, v framework.Point) {
			clear(dst[0])
			each(func(i, j int, h []float64) {
				turned(e, x[0][i:i+9], h, x[0][j:j+9])
				turned(d, v[0][i:i+9], h, v[0][j:j+9])
				length := math.Sqrt(floats.Dot(e, e) + eps*eps)
				slope := floats.Dot(e, d)
				floats.Scale(1/length, d)
				floats.AddScaled(d, -slope/(length*length*length), e)
				turnBack(dst[0][i:i+9], h, dst[0][j:j+9], d)
			})
		},
	}
}
