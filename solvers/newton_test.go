package solvers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

func TestNewtonLaws(t *testing.T) {
	frameworktest.TestSolver(t, solvers.Newton{}, frameworktest.SolverOptions{
		Cases: []frameworktest.SolverCase{
			lineCase(), circleCase(), ellipseCase(), // TestNewtonIsQuadratic has a larger one
		},
		Options: framework.Options{MaxIterations: 20000, MinRelativeDecrease: -1, Tolerance: 1e-5, GradientUnit: 1},
	})
}

// The problems of these tests are problems, with the derivatives they claim.
func TestArrowheadCasesAreSound(t *testing.T) {
	for _, c := range []frameworktest.SolverCase{lineCase(), circleCase(), ellipseCase(), bundleCase()} {
		frameworktest.TestProblem(t, c.Name, c.New(), frameworktest.ProblemOptions{Point: c.Start, Seed: 2})
	}
}

// sphereChart is y(v) = (x + Nv) / |x + Nv| for a basis N of the plane that is
// orthogonal to x in R^3.
func sphereChart(x []float64, v []jet) []jet {
	e := []float64{0, 0, 0}
	e[floats.MinIdx([]float64{math.Abs(x[0]), math.Abs(x[1]), math.Abs(x[2])})] = 1
	a := cross(x, e)
	floats.Scale(1/floats.Norm(a, 2), a)
	b := cross(x, a)
	y, size := make([]jet, 3), constant(0, len(v[0].g))
	for k := range y {
		y[k] = v[0].scale(a[k]).plus(v[1].scale(b[k])).add(x[k])
		size = size.plus(y[k].square())
	}
	for k := range y {
		y[k] = y[k].times(size.inverseRoot())
	}
	return y
}

func cross(a, b []float64) []float64 {
	return []float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// lineFit is the sum of |c + t_i u - x_i|^2, u a direction in space: a line
// with errors in all variables. Moving c along u changes nothing.
func lineFit(points [][]float64) *sumOfRows {
	return &sumOfRows{
		blocks: []framework.Block{
			{Name: "u", Manifold: manifolds.Sphere(3)}, {Name: "c", Manifold: manifolds.Euclidean(3)},
			{Name: "t", Manifold: manifolds.Euclidean(1), Copies: len(points)},
		},
		charts: []func([]float64, []jet) []jet{sphereChart, nil},
		row: func(y [][]jet, t []jet, i int) jet {
			cost := constant(0, len(t[0].g))
			for k, v := range points[i] {
				cost = cost.plus(t[0].times(y[0][k]).plus(y[1][k]).add(-v).square())
			}
			return cost
		},
	}
}

// linePoints returns points around a line, their mean, and eigenvalues
// (ascending) and eigenvectors (columns) of their scatter.
func linePoints() (points [][]float64, mean, values []float64, axes *mat.Dense) {
	const n = 12
	rng := rand.New(rand.NewPCG(5, 5))
	mean = make([]float64, 3)
	for range n {
		p := []float64{1 + 3*rng.NormFloat64(), rng.NormFloat64(), -2 + 0.3*rng.NormFloat64()}
		points = append(points, p)
		floats.AddScaled(mean, 1.0/n, p)
	}
	scatter := mat.NewSymDense(3, nil)
	for _, p := range points {
		diff := make([]float64, 3)
		scatter.SymRankOne(scatter, 1, mat.NewVecDense(3, floats.SubTo(diff, p, mean)))
	}
	var eigen mat.EigenSym
	eigen.Factorize(scatter, true)
	axes = new(mat.Dense)
	eigen.VectorsTo(axes)
	return points, mean, eigen.Values(nil), axes
}

func lineCase() frameworktest.SolverCase {
	points, _, values, _ := linePoints()
	return frameworktest.SolverCase{
		Name: "line", New: func() framework.Problem { return lineFit(points) },
		Start: framework.Point{{0.6, 0, 0.8}, {1, 0, 0}, make([]float64, len(points))},
		Best:  values[0] + values[1], Tolerance: 1e-8,
	}
}

// conicPoints are those of W. Gander, G. H. Golub, R. Strebel, Least-squares
// fitting of circles and ellipses, BIT 34 (1994), with their answers: the first
// six for a circle, all for an ellipse.
var conicPoints = [][2]float64{{1, 7}, {2, 6}, {5, 8}, {7, 7}, {9, 5}, {3, 7}, {6, 2}, {8, 4}}

const (
	circleNorm  = 1.1080 // of the residuals
	ellipseNorm = 1.1719
)

var (
	bestCircle  = []float64{4.7398, 2.9835, 4.7142}                 // centre, radius
	bestEllipse = []float64{2.6996, 3.8160, 6.5187, 3.0319, 0.3596} // centre, axes, angle
)

// circleFit is the sum of squared distances between n points and places t_i on
// a circle with a centre and a radius.
func circleFit(n int) *sumOfRows {
	return conicFit(3, n, func(c []jet, t jet) (x, y jet) {
		return c[0].plus(c[2].times(t.cos())), c[1].plus(c[2].times(t.sin()))
	})
}

// ellipseFit is the same for an ellipse with a centre, two axes and an angle.
func ellipseFit(n int) *sumOfRows {
	return conicFit(5, n, func(c []jet, t jet) (x, y jet) {
		u, v, cos, sin := c[2].times(t.cos()), c[3].times(t.sin()), c[4].cos(), c[4].sin()
		return c[0].plus(u.times(cos)).minus(v.times(sin)), c[1].plus(u.times(sin)).plus(v.times(cos))
	})
}

func conicFit(parameters, n int, place func(c []jet, t jet) (x, y jet)) *sumOfRows {
	return &sumOfRows{
		blocks: []framework.Block{
			{Name: "conic", Manifold: manifolds.Euclidean(parameters)},
			{Name: "t", Manifold: manifolds.Euclidean(1), Copies: n},
		},
		charts: []func([]float64, []jet) []jet{nil},
		row: func(y [][]jet, t []jet, i int) jet {
			u, v := place(y[0], t[0])
			return u.add(-conicPoints[i][0]).square().plus(v.add(-conicPoints[i][1]).square())
		},
	}
}

func conicCase(name string, build func(n int) *sumOfRows, n int, start []float64, best float64) frameworktest.SolverCase {
	angles := make([]float64, n)
	for i := range angles {
		angles[i] = math.Atan2(conicPoints[i][1]-start[1], conicPoints[i][0]-start[0])
	}
	return frameworktest.SolverCase{
		Name: name, New: func() framework.Problem { return build(n) },
		Start: framework.Point{start, angles}, Best: best * best, Tolerance: 2e-4,
	}
}

func circleCase() frameworktest.SolverCase {
	return conicCase("circle", circleFit, 6, []float64{5, 4, 3}, circleNorm)
}

func ellipseCase() frameworktest.SolverCase {
	c := bestCircle
	return conicCase("ellipse", ellipseFit, 8, []float64{c[0], c[1], c[2], 0.9 * c[2], 0}, ellipseNorm)
}

// The parameters are those published, and few iterations find them.
func TestNewtonFitsConics(t *testing.T) {
	for _, c := range []struct {
		frameworktest.SolverCase
		want []float64
		most int
	}{{circleCase(), bestCircle, 12}, {ellipseCase(), bestEllipse, 25}} {
		res := run(t, c.New(), c.Start, solvers.Newton{}, framework.Options{CheckEvery: 1, Tolerance: 1e-7})
		assert.Equal(t, framework.Converged, res.Status, "%s: %s", c.Name, res.Message)
		assert.InDeltaSlice(t, c.want, res.Point[0], 1e-4, c.Name)
		assert.InDelta(t, math.Sqrt(c.Best), math.Sqrt(res.Cost), 5e-5, c.Name)
		assert.LessOrEqual(t, res.Iterations, c.most, c.Name)
	}
}

// bundle is a small bundle adjustment in the plane: cameras with an angle and a
// place see points as ratios of their coordinates. Turning, moving and
// stretching everything changes nothing.
type bundle struct {
	cameras [][3]float64
	points  [][2]float64
}

func smallBundle() bundle {
	rng := rand.New(rand.NewPCG(9, 9))
	var b bundle
	for k := range 4 {
		b.cameras = append(b.cameras, [3]float64{0.5 * (float64(k) - 1.5), 0.2 * rng.NormFloat64(), 6 + 0.2*rng.NormFloat64()})
	}
	for range 9 {
		b.points = append(b.points, [2]float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()})
	}
	return b
}

// see returns what a camera sees of a point.
func see(camera, point []jet) jet {
	cos, sin := camera[0].cos(), camera[0].sin()
	x := cos.times(point[0]).minus(sin.times(point[1])).plus(camera[1])
	z := sin.times(point[0]).plus(cos.times(point[1])).plus(camera[2])
	return x.times(z.inverse())
}

func (b bundle) problem() *sumOfRows {
	seen := make([][]float64, len(b.points))
	lift := func(v ...float64) (list []jet) {
		for _, u := range v {
			list = append(list, constant(u, 0))
		}
		return list
	}
	for i, p := range b.points {
		for _, c := range b.cameras {
			seen[i] = append(seen[i], see(lift(c[:]...), lift(p[:]...)).v)
		}
	}
	return &sumOfRows{
		blocks: []framework.Block{
			{Name: "cameras", Manifold: manifolds.Euclidean(3), Copies: len(b.cameras)},
			{Name: "points", Manifold: manifolds.Euclidean(2), Copies: len(b.points)},
		},
		charts: []func([]float64, []jet) []jet{nil},
		row: func(y [][]jet, t []jet, i int) jet {
			cost := constant(0, len(t[0].g))
			for k := range b.cameras {
				cost = cost.plus(see(y[0][3*k:3*k+3], t).add(-seen[i][k]).square())
			}
			return cost
		},
	}
}

func bundleCase() frameworktest.SolverCase {
	b := smallBundle()
	rng := rand.New(rand.NewPCG(4, 4))
	start := framework.Point{nil, nil}
	for _, c := range b.cameras {
		for _, v := range c {
			start[0] = append(start[0], v+0.03*rng.NormFloat64())
		}
	}
	for _, p := range b.points {
		for _, v := range p {
			start[1] = append(start[1], v+0.2*rng.NormFloat64())
		}
	}
	return frameworktest.SolverCase{
		Name: "bundle", New: func() framework.Problem { return b.problem() },
		Start: start, Best: 0, Tolerance: 1e-9,
	}
}

// Near its answer Newton's method squares the error, null spaces or not.
func TestNewtonIsQuadratic(t *testing.T) {
	for _, c := range []frameworktest.SolverCase{lineCase(), circleCase(), ellipseCase(), bundleCase()} {
		o := framework.Options{CheckEvery: 1, Tolerance: 1e-11, MinRelativeDecrease: -1, MaxIterations: 60, FirstOrder: true}
		best := run(t, c.New(), c.Start, solvers.Newton{}, o)
		var gaps []float64
		for _, r := range best.History {
			if gap := r.Cost - best.Cost; gap < 1e-2*best.History[0].Cost && gap > 1e-12 {
				gaps = append(gaps, gap)
			}
		}
		assert.LessOrEqual(t, len(gaps), 12, "%s: %v", c.Name, gaps)
	}
}

// At the second axis of the scatter, the line is at a saddle point. A start
// almost there leaves it within a few iterations, where the gradient is small.
func TestNewtonLeavesSaddlePoints(t *testing.T) {
	points, mean, values, axes := linePoints()
	for _, off := range []float64{1e-3, 1e-5, 1e-7} {
		u := mat.Col(nil, 1, axes)
		floats.AddScaled(u, off, mat.Col(nil, 2, axes))
		floats.Scale(1/floats.Norm(u, 2), u)
		start := framework.Point{u, mean, make([]float64, len(points))}
		for i, p := range points {
			start[2][i] = floats.Dot(p, u) - floats.Dot(mean, u)
		}
		res := run(t, lineFit(points), start, solvers.Newton{}, framework.Options{MinRelativeDecrease: -1, Tolerance: 1e-10, CheckEvery: 1, MaxIterations: 80})
		assert.InDelta(t, values[0]+values[1], res.Cost, 1e-9, "off by %g", off)
		assert.LessOrEqual(t, res.Iterations, 45, "off by %g", off)
	}
}

// A problem without second derivatives, or too large for them, is refused with the
// solvers that can serve it.
func TestSolversRefuseWhatTheyCannotServe(t *testing.T) {
	small, big := lineCase(), lineCase().New().(*sumOfRows)
	big.tooBig = true
	plain := rosenbrockCase()
	for name, c := range map[string]struct {
		s     framework.Solver
		p     framework.Problem
		start framework.Point
		want  string
	}{
		"no arrowhead": {solvers.Newton{}, plain.New(), plain.Start,
			"framework: the solver newton cannot serve a problem without second derivatives in the shape of an arrowhead (ArrowheadHessian); use cg, lbfgs, rgd or trust_region"},
		"in stages": {solvers.Continuation{Inner: solvers.Newton{}, Finish: true}, plain.New(), plain.Start,
			"framework: the solver newton cannot serve a problem without second derivatives in the shape of an arrowhead (ArrowheadHessian); use cg, lbfgs, rgd or trust_region"},
		"too large": {solvers.Newton{}, big, small.Start,
			"framework: the solver newton cannot serve a problem without second derivatives that are small enough; use cg, lbfgs, rgd or trust_region"},
		"no sweeps": {solvers.Alternating{}, small.New(), small.Start,
			"framework: the solver alternating cannot serve a problem without sweeps (Sweeper); use cg, lbfgs, newton, rgd or trust_region"},
	} {
		res, err := framework.Solve(context.Background(), c.p, c.start, c.s, framework.Options{})
		require.EqualError(t, err, c.want, name)
		require.ErrorIs(t, err, framework.ErrInvalid)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		assert.Nil(t, res)
	}
}

// A stored run goes on bit for bit, wherever it was stored.
func TestNewtonResumes(t *testing.T) {
	for _, c := range []frameworktest.SolverCase{ellipseCase(), bundleCase()} {
		o := framework.Options{MinRelativeDecrease: -1, MaxIterations: 8, CheckEvery: 100, Tolerance: -1}
		whole := run(t, c.New(), c.Start, solvers.Newton{}, o)
		for stop := 1; stop < whole.Iterations; stop++ {
			var stored bytes.Buffer
			first, rest := o, o
			first.MaxIterations = stop
			first.Checkpoint = &framework.Checkpoint{Store: func(write func(io.Writer) error) error {
				stored.Reset()
				return write(&stored)
			}}
			run(t, c.New(), c.Start, solvers.Newton{}, first)
			rest.Checkpoint = &framework.Checkpoint{Stored: &stored}
			got := run(t, c.New(), c.Start, solvers.Newton{}, rest)
			assert.Equal(t, whole.Point, got.Point, "%s, stored after %d", c.Name, stop)
			assert.Equal(t, whole.Counts, got.Counts)
			assert.Equal(t, whole.Iterations, got.Iterations)
		}
	}
}

// failing is a problem whose second derivatives or settling fail from some call
// on.
type failing struct {
	*sumOfRows
	calls, from int
	err         error
	cost        float64 // 0: the true one
	then        func()
}

func (p *failing) count() bool {
	p.calls++
	if p.then != nil && p.calls == p.from {
		p.then()
	}
	return p.calls >= p.from
}

func (p *failing) AssembleHessian(a *latent.Arrowhead, x framework.Point) (float64, float64, error) {
	cost, passes, err := p.sumOfRows.AssembleHessian(a, x)
	if p.count() {
		return cost + p.cost, passes, errors.Join(err, p.err)
	}
	return cost, passes, err
}

func (p *failing) InnerStep(x framework.Point, other []float64) (float64, float64, error) {
	cost, passes, err := p.sumOfRows.InnerStep(x, other)
	if p.count() {
		return cost + p.cost, passes, errors.Join(err, p.err)
	}
	return cost, passes, err
}

// Whatever call fails, the run ends with that error and the best point so far.
func TestNewtonEndsInTheMiddle(t *testing.T) {
	c := ellipseCase()
	inner := func() *sumOfRows { return c.New().(*sumOfRows) }
	start, err := inner().Evaluate(nil, c.Start)
	require.NoError(t, err)
	check := func(res *framework.Result, from int) {
		require.NotNil(t, res)
		cost, err := inner().Evaluate(nil, res.Point)
		require.NoError(t, err)
		assert.InDelta(t, cost, res.Cost, 1e-12, "call %d", from)
		assert.LessOrEqual(t, cost, start)
	}
	for from := 2; from < 14; from++ {
		res, err := framework.Solve(context.Background(), &failing{sumOfRows: inner(), from: from, err: errBroken}, c.Start, solvers.Newton{}, framework.Options{})
		assert.ErrorIs(t, err, errBroken)
		check(res, from)

		res, err = framework.Solve(context.Background(), &failing{sumOfRows: inner(), from: from, cost: math.NaN()}, c.Start, solvers.Newton{}, framework.Options{})
		assert.ErrorIs(t, err, framework.ErrNonFinite)
		check(res, from)

		ctx, cancel := context.WithCancel(context.Background())
		p := &failing{sumOfRows: inner(), from: from, then: cancel}
		res, err = framework.Solve(ctx, p, c.Start, solvers.Newton{}, framework.Options{})
		require.NoError(t, err)
		assert.Equal(t, framework.Cancelled, res.Status)
		assert.Equal(t, from, p.calls)
		check(res, from)

		res, err = framework.Solve(context.Background(), inner(), c.Start, solvers.Newton{}, framework.Options{MaxEvaluations: from})
		require.NoError(t, err)
		assert.Equal(t, framework.MaxEvaluations, res.Status)
		assert.LessOrEqual(t, res.Counts.Evaluations, from)
		check(res, from)
	}
}

// A start where no derivative can be used is an error, not an answer.
func TestNewtonRefusesANonFiniteStart(t *testing.T) {
	c := ellipseCase()
	p := &failing{sumOfRows: c.New().(*sumOfRows), from: 1, cost: math.Inf(1)}
	_, err := framework.Solve(context.Background(), p, c.Start, solvers.Newton{}, framework.Options{})
	assert.ErrorIs(t, err, framework.ErrNonFinite)
}

// Restart gives the run that Init gives, bit for bit, and forgets the one
// before.
func TestNewtonRestarts(t *testing.T) {
	c := ellipseCase()
	e := framework.NewEvaluator(context.Background(), c.New())
	s := solvers.Newton{}
	steps := func(state framework.State) {
		for range 4 {
			require.NoError(t, s.Step(e, state))
		}
	}
	state, err := s.Init(e, c.Start.Clone())
	require.NoError(t, err)
	steps(state)
	want, cost := state.Iterate()
	wanted := want.Clone()
	other := c.Start.Clone()
	other[0][0] += 0.5
	require.NoError(t, s.Restart(e, state, other))
	steps(state)
	require.NoError(t, s.Restart(e, state, c.Start))
	steps(state)
	got, again := state.Iterate()
	assert.Equal(t, wanted, got)
	assert.Equal(t, cost, again)
}

// Where the gradient is zero to the last bit, at the second and the third axis of
// the scatter, a probe along the lowest curvature finds the way down, whatever
// the solver; the test of first order alone does not.
func TestSaddlePointIsNotConverged(t *testing.T) {
	points, mean, values, axes := linePoints()
	for _, solver := range []framework.Solver{solvers.Newton{}, solvers.LBFGS{}, solvers.RGD{}} {
		for _, axis := range []int{0, 1} {
			start := framework.Point{mat.Col(nil, axis, axes), mean, make([]float64, len(points))}
			for i, p := range points {
				start[2][i] = floats.Dot(p, start[0]) - floats.Dot(mean, start[0])
			}
			o := framework.Options{MaxIterations: 2000}
			res := run(t, lineFit(points), start, solver, o)
			assert.InDelta(t, values[0]+values[1], res.Cost, 1e-6, "%s from axis %d: %v", solver.Name(), axis, res.Status)
			o.FirstOrder = true
			res = run(t, lineFit(points), start, solver, o)
			assert.InDelta(t, values[0]+values[1]+values[2]-values[axis], res.Cost, 1e-6, "%s from axis %d", solver.Name(), axis)
			assert.Equal(t, framework.Converged, res.Status)
		}
	}
}
