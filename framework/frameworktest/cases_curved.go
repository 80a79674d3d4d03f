package frameworktest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// curvedCases are problems on manifolds with their own metric, on frames, on products of different blocks, and of a
// hundred coordinates.
func curvedCases() []SolverCase {
	many := make(rayleigh, 120)
	start := make([]float64, len(many))
	for i := range many {
		many[i], start[i] = 1+4*float64(i)/float64(len(many)), math.Sqrt(1/float64(len(many)))
	}
	many[0] = 0
	return []SolverCase{
		{
			Name: "metric", New: func() framework.Problem { return logDistances{n: 5} },
			Start: framework.Point{{1e3, 1e-3, 1e2, 1e-2, 1}}, Tolerance: 1e-8,
		},
		{
			Name: "frames", New: func() framework.Problem { return subspace{1, 2, 3, 5, 7, 11} },
			Start: framework.Point{{0.8, 0, 0, 0.6, 0, 0.8, 0.6, 0, 0, 0, 0, 0}}, Best: 3, Tolerance: 1e-8,
		},
		{
			Name: "unlike blocks", New: func() framework.Problem { return unlike{} },
			Start: framework.Point{{3, -2}, {0.6, 0, 0.8}, {2, 0.5}}, Best: 1, Tolerance: 1e-8,
		},
		{
			Name: "Rayleigh quotient of 120", New: func() framework.Problem { return many },
			Start: framework.Point{start}, Best: 0, Tolerance: 1e-8,
		},
	}
}

// logarithmic is the manifold of positive numbers with the metric uv/x^2, in which log is an isometry to the real
// line.
type logarithmic struct{}

func (logarithmic) Size() int                   { return 1 }
func (logarithmic) Dim() int                    { return 1 }
func (logarithmic) Project(dst, _, v []float64) { dst[0] = v[0] }
func (logarithmic) Retract(dst, x, v []float64) error {
	dst[0] = x[0] * math.Exp(v[0]/x[0])
	return nil
}
func (logarithmic) Transport(dst, x, y, v []float64) { dst[0] = v[0] * y[0] / x[0] }
func (logarithmic) Inner(x, u, v []float64) float64  { return u[0] * v[0] / (x[0] * x[0]) }
func (logarithmic) Gradient(dst, x, g []float64)     { dst[0] = x[0] * x[0] * g[0] }

// logDistances is sum_i (i+1) (log x_i - i)^2 / 2 in that metric. On the real line, to which the logarithm is an
// isometry, it is sum_i (i+1) (x_i - i)^2 / 2.
type logDistances struct {
	n    int
	line bool
}

func (p logDistances) Blocks() []framework.Block {
	b := framework.Block{Name: "x", Manifold: logarithmic{}, Copies: p.n}
	if p.line {
		b.Manifold = manifolds.Euclidean(1)
	}
	return []framework.Block{b}
}

func (p logDistances) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	for i, v := range x[0] {
		log, slope := v, 1.
		if !p.line {
			log, slope = math.Log(v), 1/v
		}
		w, e := float64(i+1), log-float64(i)
		cost += w * e * e / 2
		if grad != nil {
			grad[0][i] = w * e * slope
		}
	}
	return cost, nil
}

// subspace is tr(X'AX) for two orthonormal columns X and a diagonal A. Its minimum is the sum of the two smallest
// entries.
type subspace []float64

func (p subspace) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: manifolds.NewStiefel(len(p), 2)}}
}

func (p subspace) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	for i, a := range p {
		u, v := x[0][2*i], x[0][2*i+1]
		cost += a * (u*u + v*v)
		if grad != nil {
			grad[0][2*i], grad[0][2*i+1] = 2*a*u, 2*a*v
		}
	}
	return cost, nil
}

// unlike is the sum of a square, a Rayleigh quotient and distances in the logarithm, on blocks whose units are as
// different as 30 and 1/30. The square couples the first block to the length of the sum of the others. Every term has
// its minimum at the same point.
type unlike struct{}

func (unlike) Blocks() []framework.Block {
	return []framework.Block{
		{Name: "plane", Manifold: manifolds.Euclidean(2)}, {Name: "direction", Manifold: manifolds.Sphere(3)},
		{Name: "sizes", Manifold: logarithmic{}, Copies: 2},
	}
}

func (unlike) Evaluate(grad, x framework.Point) (float64, error) {
	inner := make(framework.Point, 3)
	if grad != nil {
		copy(inner, grad)
	}
	const stiff, soft = 30., 1. / 30
	u, v := x[0][0]-1, x[0][1]-x[1][1]
	cost := stiff*u*u/2 + stiff*v*v/2
	direction, err := rayleigh{1, 2, 4}.Evaluate(nonNil(inner[1]), framework.Point{x[1]})
	if err != nil {
		return 0, err
	}
	sizes, err := logDistances{n: 2}.Evaluate(nonNil(inner[2]), framework.Point{x[2]})
	if err != nil {
		return 0, err
	}
	if inner[0] != nil {
		inner[0][0], inner[0][1] = stiff*u, stiff*v
	}
	if inner[1] != nil {
		inner[1][1] -= stiff * v
	}
	if inner[2] != nil {
		floats.Scale(soft, inner[2])
	}
	return cost + direction + soft*sizes, nil
}

// nonNil returns a point of the one block, or nil without it.
func nonNil(block []float64) framework.Point {
	if block == nil {
		return nil
	}
	return framework.Point{block}
}
