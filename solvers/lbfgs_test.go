package solvers_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

func TestLBFGSLaws(t *testing.T) {
	for name, s := range map[string]solvers.LBFGS{
		"default":      {},
		"short memory": {Memory: 2},
		"strict":       {Search: solvers.HagerZhang{C1: 0.1, C2: 0.2}},
	} {
		t.Run(name, func(t *testing.T) {
			frameworktest.TestSolver(t, s, frameworktest.SolverOptions{
				Cases: []frameworktest.SolverCase{
					pcaCase(8, 3), procrustesCase(6, 3), rosenbrockCase(), preconditionedCase(),
				},
				Options: framework.Options{MaxIterations: 500, MinRelativeDecrease: -1},
			})
		})
	}
}

// rosenbrock is the sum of 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2, a curved
// valley in R^n.
type rosenbrock int

func (n rosenbrock) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(int(n))}}
}

func (n rosenbrock) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	if grad != nil {
		clear(grad[0])
	}
	for i := range int(n) - 1 {
		u, v := x[0][i], x[0][i+1]
		a, b := v-u*u, 1-u
		cost += 100*a*a + b*b
		if grad != nil {
			grad[0][i] += -400*a*u - 2*b
			grad[0][i+1] += 200 * a
		}
	}
	return cost, nil
}

func rosenbrockCase() frameworktest.SolverCase {
	return frameworktest.SolverCase{
		Name: "Rosenbrock", New: func() framework.Problem { return rosenbrock(6) },
		Start: framework.Point{{-1.2, 1, -1.2, 1, -1.2, 1}}, Best: 0, Tolerance: 4,
	}
}

// stretched is sum_i k^i x_i^2 / 2 - x_i for i in [0, n), whose Hessian it
// offers as a preconditioner if exact, else one that is off by factors of up
// to 3. It can lose what it built.
type stretched struct {
	n     int
	exact bool
	built []float64
}

func (p *stretched) weight(i int) float64 { return math.Pow(10, float64(i)) }

func (p *stretched) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(p.n)}}
}

func (p *stretched) Evaluate(grad, x framework.Point) (float64, error) {
	var cost float64
	for i, v := range x[0] {
		cost += p.weight(i)*v*v/2 - v
		if grad != nil {
			grad[0][i] = p.weight(i)*v - 1
		}
	}
	return cost, nil
}

func (p *stretched) BuildPreconditioner(x framework.Point) (float64, error) {
	p.built = make([]float64, p.n)
	for i := range p.built {
		p.built[i] = 1 / p.weight(i)
		if !p.exact {
			p.built[i] *= 2 + math.Sin(float64(i)+x[0][i])
		}
	}
	return 0.5, nil
}

func (p *stretched) Precondition(dst, v framework.Point) { floats.MulTo(dst[0], v[0], p.built) }

func preconditionedCase() frameworktest.SolverCase {
	p := &stretched{n: 6}
	c := frameworktest.SolverCase{
		Name: "preconditioned", New: func() framework.Problem { return &stretched{n: 6} },
		Start: framework.Point{make([]float64, 6)}, Tolerance: 1e-8,
	}
	for i := range p.n {
		c.Best -= 1 / (2 * p.weight(i))
	}
	return c
}

func run(t *testing.T, p framework.Problem, start framework.Point, s framework.Solver, o framework.Options) *framework.Result {
	t.Helper()
	res, err := framework.Solve(context.Background(), p, start, s, o)
	require.NoError(t, err)
	return res
}

// Counts of passes against those of gradient descent, to the same tolerance.
func TestLBFGSBeatsGradientDescent(t *testing.T) {
	pca := pcaCase(30, 4)
	for name, c := range map[string]struct {
		frameworktest.SolverCase
		most, factor float64
	}{
		"Rosenbrock": {rosenbrockCase(), 350, 20},
		"PCA":        {pca, 250, 3},
	} {
		t.Run(name, func(t *testing.T) {
			o := framework.Options{MaxIterations: 100000, MinRelativeDecrease: -1, CheckEvery: 1}
			quasi := run(t, c.New(), c.Start, solvers.LBFGS{}, o)
			steepest := run(t, c.New(), c.Start, solvers.RGD{}, o)
			assert.Equal(t, framework.Converged, quasi.Status, quasi.Message)
			assert.Less(t, quasi.Counts.Passes, c.most)
			assert.Greater(t, steepest.Counts.Passes, c.factor*quasi.Counts.Passes)
		})
	}
}

func TestLBFGSUsesThePreconditioner(t *testing.T) {
	start := framework.Point{make([]float64, 6)}
	o := framework.Options{CheckEvery: 1}
	exact := run(t, &stretched{n: 6, exact: true}, start, solvers.LBFGS{}, o)
	assert.Equal(t, 1, exact.Iterations, "with the Hessian itself the first step is Newton's")
	near := run(t, &stretched{n: 6}, start, solvers.LBFGS{}, o)
	plain := run(t, struct{ framework.Problem }{&stretched{n: 6}}, start, solvers.LBFGS{}, o)
	assert.Equal(t, framework.Converged, near.Status)
	assert.Less(t, 2*near.Iterations, plain.Iterations)
}

// A preconditioner that is not positive definite costs time, not the answer.
type misleading struct{ stretched }

func (*misleading) Precondition(dst, v framework.Point) { floats.ScaleTo(dst[0], -1, v[0]) }

func TestLBFGSSurvivesABadPreconditioner(t *testing.T) {
	res := run(t, &misleading{stretched{n: 3}}, framework.Point{make([]float64, 3)}, solvers.LBFGS{}, framework.Options{MinRelativeDecrease: -1})
	assert.InDelta(t, -0.555, res.Cost, 1e-6)
}

// resumed is a problem that counts how its gradients are asked for.
type resumed struct {
	rosenbrock
	at               framework.Point
	direct, resuming int
}

func (p *resumed) Evaluate(grad, x framework.Point) (float64, error) {
	p.at = x.Clone()
	if grad != nil {
		p.direct++
	}
	return p.rosenbrock.Evaluate(grad, x)
}

func (p *resumed) Resume(grad framework.Point) error {
	p.resuming++
	_, err := p.rosenbrock.Evaluate(grad, p.at)
	return err
}

func TestLBFGSResumes(t *testing.T) {
	p := &resumed{rosenbrock: 2}
	res := run(t, p, framework.Point{{-1.2, 1}}, solvers.LBFGS{}, framework.Options{CheckEvery: 1000, MaxIterations: 20})
	const certificate = 1
	assert.Equal(t, 1+certificate, p.direct, "the start; trials are resumed")
	assert.GreaterOrEqual(t, p.resuming, 20)
	assert.Less(t, res.Counts.Passes, 2*float64(res.Counts.Evaluations)+2)
}

func BenchmarkLBFGSStep(b *testing.B) {
	e := framework.NewEvaluator(context.Background(), rosenbrock(1000))
	s := solvers.LBFGS{}
	x := make([]float64, 1000)
	floats.AddConst(-1, x)
	state, err := s.Init(e, framework.Point{x})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Step(e, state)
	}
}
