package frameworktest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
)

// SolverCase is a problem with a known answer.
type SolverCase struct {
	Name string
	// New returns the problem; it is called for every run.
	New func() framework.Problem
	// Start is where runs begin.
	Start framework.Point
	// Best is the lowest cost that a run from Start can be expected to reach. A run may end above it by Tolerance.
	Best, Tolerance float64
}

// SolverCases returns problems with known answers: least squares in two blocks, independent rows, the smallest
// eigenvalue of a matrix as a Rayleigh quotient on spheres of 4 and of 120 coordinates, the subspace of the two
// smallest eigenvalues on orthonormal frames, distances on a manifold with its own metric, and a product of three
// different blocks.
func SolverCases() []SolverCase {
	return append([]SolverCase{
		{
			Name: "least squares", New: func() framework.Problem { return leastSquares{} },
			Start: framework.Point{{0, 0}, {5}}, Best: 0.5, Tolerance: 1e-8,
		},
		{
			Name: "independent rows", New: func() framework.Problem { return rowWells{4} },
			Start: framework.Point{{3, 3, -3, 1, 0.5, -2, 4, 4}}, Best: 0, Tolerance: 1e-8,
		},
		{
			Name: "Rayleigh quotient", New: func() framework.Problem { return rayleigh{1, 2, 4, 7} },
			Start: framework.Point{{0.1, 0.2, 0.7, math.Sqrt(1 - 0.54)}}, Best: 1, Tolerance: 1e-8,
		},
	}, curvedCases()...)
}

// leastSquares is the fit of a plane b + a1 u + a2 v to four points, in the blocks a and b. The residual sum of
// squares of the best fit is 1; the cost is half of it.
type leastSquares struct{}

var planeRows = [4][4]float64{ // u, v, 1, target
	{1, 0, 1, 3}, {0, 1, 1, 0}, {1, 1, 1, 2}, {0, 0, 1, 3},
}

func (leastSquares) Blocks() []framework.Block {
	return []framework.Block{{Name: "slope", Manifold: manifolds.Euclidean(2)}, {Name: "offset", Manifold: manifolds.Euclidean(1)}}
}

func (leastSquares) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	var g [3]float64
	for _, r := range planeRows {
		e := x[0][0]*r[0] + x[0][1]*r[1] + x[1][0] - r[3]
		cost += e * e / 2
		for j := range g {
			g[j] += e * r[j]
		}
	}
	for k := range grad {
		if grad[k] != nil {
			copy(grad[k], g[2*k:min(2*k+2, 3)])
		}
	}
	return cost, nil
}

// rowWells is a sum of n functions like Rosenbrock's, one for each row in the plane. Each has its minimum at (1, 1).
type rowWells struct{ n int }

func (p rowWells) Blocks() []framework.Block {
	return []framework.Block{{Name: "wells", Manifold: manifolds.Euclidean(2), Copies: p.n}}
}

func (p rowWells) Evaluate(grad, x framework.Point) (float64, error) {
	costs := make([]float64, p.n)
	var g []float64
	if grad != nil {
		g = grad[0]
	}
	err := p.EvaluateRows(costs, g, x, 0, nil)
	return floats.Sum(costs), err
}

func (p rowWells) SeparableRows(int) bool { return true }

func (p rowWells) EvaluateRows(costs, grad []float64, x framework.Point, _ int, rows []int) error {
	if rows == nil {
		for i := range p.n {
			rows = append(rows, i)
		}
	}
	for _, i := range rows {
		u, v := x[0][2*i], x[0][2*i+1]
		a, b := u-1, v-u*u
		costs[i] = a*a + float64(i+1)*b*b
		if grad != nil {
			grad[2*i] = 2*a - 4*float64(i+1)*b*u
			grad[2*i+1] = 2 * float64(i+1) * b
		}
	}
	return nil
}

// rayleigh is x'Ax on the unit sphere for a diagonal A.
type rayleigh []float64

func (p rayleigh) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Sphere(len(p))}}
}

func (p rayleigh) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	for i, a := range p {
		cost += a * x[0][i] * x[0][i]
		if grad != nil {
			grad[0][i] = 2 * a * x[0][i]
		}
	}
	return cost, nil
}
