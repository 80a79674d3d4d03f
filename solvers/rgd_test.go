package solvers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

var variants = map[string]solvers.RGD{
	"default":   {},
	"paper":     solvers.PaperRGD(),
	"no growth": {Grow: 1, InitialStep: 0.05},
}

func TestRGDLaws(t *testing.T) {
	for name, s := range variants {
		t.Run(name, func(t *testing.T) {
			frameworktest.TestSolver(t, s, frameworktest.SolverOptions{
				Cases: []frameworktest.SolverCase{pcaCase(8, 3), procrustesCase(6, 3)},
				Options: framework.Options{
					MaxIterations: 20000, MinRelativeDecrease: -1, Tolerance: 1e-5, GradientUnit: 1,
				},
			})
		})
	}
}

// rayleighQuotient is -tr(X'AX) on the Stiefel manifold: its minimum is minus
// the sum of the largest eigenvalues of A.
type rayleighQuotient struct {
	a *mat.SymDense
	p int
}

func (q rayleighQuotient) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: manifolds.NewStiefel(q.a.SymmetricDim(), q.p)}}
}

func (q rayleighQuotient) Evaluate(grad, x framework.Point) (float64, error) {
	n := q.a.SymmetricDim()
	var ax mat.Dense
	ax.Mul(q.a, mat.NewDense(n, q.p, x[0]))
	if grad != nil {
		floats.ScaleTo(grad[0], -2, ax.RawMatrix().Data)
	}
	return -floats.Dot(x[0], ax.RawMatrix().Data), nil
}

func pcaCase(n, p int) frameworktest.SolverCase {
	a := mat.NewSymDense(n, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(20, n, gaussians(rng, 20*n))
	a.SymOuterK(1.0/20, x.T())
	var eigen mat.EigenSym
	eigen.Factorize(a, false)
	values := eigen.Values(nil)
	start := make([]float64, n*p)
	manifolds.NewStiefel(n, p).Rand(start, rng)
	return frameworktest.SolverCase{
		Name: "PCA", New: func() framework.Problem { return rayleighQuotient{a, p} },
		Start: framework.Point{start}, Best: -floats.Sum(values[n-p:]), Tolerance: 1e-8,
	}
}

// procrustes is |AX - B|^2 / 2 on the Stiefel manifold with square X: the best
// rotation is known in closed form from the singular values of A'B.
type procrustes struct {
	a, b *mat.Dense
	p    int
}

func (q procrustes) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: manifolds.NewStiefel(q.p, q.p)}}
}

func (q procrustes) Evaluate(grad, x framework.Point) (float64, error) {
	var r mat.Dense
	r.Mul(q.a, mat.NewDense(q.p, q.p, x[0]))
	r.Sub(&r, q.b)
	if grad != nil {
		mat.NewDense(q.p, q.p, grad[0]).Mul(q.a.T(), &r)
	}
	n := mat.Norm(&r, 2)
	return n * n / 2, nil
}

func procrustesCase(n, p int) frameworktest.SolverCase {
	rng := rand.New(rand.NewPCG(2, 1))
	a := mat.NewDense(n, p, gaussians(rng, n*p))
	truth, start := make([]float64, p*p), make([]float64, p*p)
	st := manifolds.NewStiefel(p, p)
	st.Rand(truth, rng)
	var b, m mat.Dense
	b.Mul(a, mat.NewDense(p, p, truth))
	for i := range b.RawMatrix().Data {
		b.RawMatrix().Data[i] += 0.1 * rng.NormFloat64()
	}
	m.Mul(a.T(), &b)
	var svd mat.SVD
	svd.Factorize(&m, mat.SVDThin)
	// Start on the same component of O(p) as the solution.
	var u, v, best mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	best.Mul(&u, v.T())
	v0 := make([]float64, p*p)
	for i := range v0 {
		v0[i] = rng.NormFloat64()
	}
	st.Project(v0, best.RawMatrix().Data, v0)
	if err := st.Retract(start, best.RawMatrix().Data, v0); err != nil {
		panic(err)
	}
	na, nb := mat.Norm(a, 2), mat.Norm(&b, 2)
	return frameworktest.SolverCase{
		Name: "Procrustes", New: func() framework.Problem { return procrustes{a, &b, p} },
		Start: framework.Point{start}, Best: (na*na+nb*nb)/2 - floats.Sum(svd.Values(nil)), Tolerance: 1e-8,
	}
}

func gaussians(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// uneven has two rows whose costs differ in scale by a factor of 10^6.
type uneven struct{}

func (uneven) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(1), Copies: 2}}
}

func (p uneven) Evaluate(grad, x framework.Point) (float64, error) {
	costs := make([]float64, 2)
	var g []float64
	if grad != nil {
		g = grad[0]
	}
	err := p.EvaluateRows(costs, g, x, 0, []int{0, 1})
	return costs[0] + costs[1], err
}

func (uneven) SeparableRows(int) bool { return true }

func (uneven) EvaluateRows(costs, grad []float64, x framework.Point, _ int, rows []int) error {
	if rows == nil {
		rows = []int{0, 1}
	}
	for _, i := range rows {
		scale := math.Pow(1e6, float64(i))
		costs[i] = scale * x[0][i] * x[0][i]
		if grad != nil {
			grad[i] = 2 * scale * x[0][i]
		}
	}
	return nil
}

func TestRGDStepPerRow(t *testing.T) {
	o := framework.Options{MaxIterations: 12, Tolerance: 1e-300, MinRelativeDecrease: -1}
	rows, err := framework.Solve(context.Background(), uneven{}, framework.Point{{1, 1}}, solvers.RGD{}, o)
	require.NoError(t, err)
	whole, err := framework.Solve(context.Background(), struct{ framework.Problem }{uneven{}}, framework.Point{{1, 1}}, solvers.RGD{}, o)
	require.NoError(t, err)
	assert.Less(t, rows.Cost, 1e-6, "a step of its own for every row does not feel the other's scale")
	assert.Greater(t, math.Abs(whole.Point[0][0]), 0.5, "one step for both is bound by the steeper row")
}

func TestRGDStepsGrowAgain(t *testing.T) {
	// From a step of 1e-8, 60 iterations reach the minimum only by doubling.
	s := solvers.RGD{InitialStep: 1e-8}
	c := frameworktest.SolverCases()[0]
	res, err := framework.Solve(context.Background(), c.New(), c.Start, s, framework.Options{MaxIterations: 60, MinRelativeDecrease: -1})
	require.NoError(t, err)
	assert.Less(t, res.Cost, 1.0)
	s.Grow = 1
	res, err = framework.Solve(context.Background(), c.New(), c.Start, s, framework.Options{MaxIterations: 60, MinRelativeDecrease: -1})
	require.NoError(t, err)
	assert.Greater(t, res.Cost, 5.0)
}

func TestPaperPreset(t *testing.T) {
	s, o := solvers.PaperRGD(), solvers.PaperOptions()
	assert.Equal(t, solvers.RGD{InitialStep: 0.1, Armijo: 1e-2, Grow: 1, MaxBacktracks: 20, Restart: true}, s)
	assert.Equal(t, 1000, o.MaxIterations)
	_, ends := o.Stop([]framework.Record{{Cost: 2}, {Cost: 2 - 0.9e-7}})
	assert.True(t, ends)
	_, ends = o.Stop([]framework.Record{{Cost: 2}, {Cost: 2 - 1.1e-7}})
	assert.False(t, ends)
	assert.Equal(t, 1, o.Patience)
}

func TestByName(t *testing.T) {
	s, err := solvers.ByName("rgd")
	require.NoError(t, err)
	assert.Equal(t, "rgd", s.Name())
	_, err = solvers.ByName("sgd")
	require.ErrorIs(t, err, framework.ErrInvalid)
	assert.ErrorContains(t, err, "rgd")
	require.ErrorIs(t, solvers.Register("rgd", "", func() framework.Solver { return solvers.RGD{} }), framework.ErrInvalid)
}

// The largest eigenvalue of a matrix as a problem of one's own.
func ExampleRGD() {
	a := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 1, 0, 1, 2})
	start := framework.Point{{1, 0, 0}}
	res, err := framework.Solve(context.Background(), rayleighQuotient{a, 1}, start, solvers.RGD{}, framework.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: largest eigenvalue %.6f\n", res.Status, -res.Cost)
	// Output: converged: largest eigenvalue 3.414214
}

func BenchmarkRGDStep(b *testing.B) {
	c := pcaCase(100, 5)
	e := framework.NewEvaluator(context.Background(), c.New())
	s := solvers.RGD{}
	state, err := s.Init(e, c.Start.Clone())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.Step(e, state)
	}
}

// pair is the cost scale (a + b - 1)^2 / 2 in two blocks.
type pair struct{ scale float64 }

func (pair) Blocks() []framework.Block {
	return []framework.Block{{Name: "a", Manifold: manifolds.Euclidean(1)}, {Name: "b", Manifold: manifolds.Euclidean(1)}}
}

func (p pair) Evaluate(grad, x framework.Point) (float64, error) {
	r := x[0][0] + x[1][0] - 1
	for _, g := range grad {
		if g != nil {
			g[0] = p.scale * r
		}
	}
	return p.scale * r * r / 2, nil
}

// The paper's Algorithm 1 moves all blocks along gradients taken before any
// moved. Here the second block sees that the first has solved the problem.
func TestRGDTakesGradientsAtTheNewestPoint(t *testing.T) {
	res, err := framework.Solve(context.Background(), pair{1}, framework.Point{{0}, {0}}, solvers.RGD{InitialStep: 1}, framework.Options{MaxIterations: 1})
	require.NoError(t, err)
	assert.Equal(t, framework.Point{{1}, {0}}, res.Point)
}

// The Armijo condition has the squared norm of the gradient: with the norm
// itself, as the paper prints it, the first trial step would be accepted.
func TestRGDArmijoHasTheSquaredNorm(t *testing.T) {
	s := solvers.RGD{InitialStep: 0.012, Armijo: 0.9}
	p := struct{ framework.Problem }{pair{100}}
	var after float64
	o := framework.Options{MaxIterations: 1}
	o.Observers = []func(framework.Record){func(p framework.Record) { after = p.State.(*solvers.RGDState).X[0][0] }}
	_, err := framework.Solve(context.Background(), p, framework.Point{{0}, {0}}, s, o)
	require.NoError(t, err)
	assert.InDelta(t, 0.15, after, 1e-12, "the step is 0.0015, three halvings of the first")
}
