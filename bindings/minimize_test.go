package bindings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
)

var errTest = errors.New("raised")

// goFunction stands for a function in Python.
type goFunction func() (float64, error)

func (f goFunction) Call() error              { _, err := f(); return err }
func (f goFunction) Number() (float64, error) { return f() }

// sphereSettings are those of problems on the sphere of R^4 and a straight line.
func sphereSettings(solver string) minimizeSettings {
	return minimizeSettings{
		Blocks: []manifoldChoice{{Name: "x", Kind: "sphere", Shape: []int{4}}, {Name: "t", Kind: "euclidean", Shape: []int{1}}},
		Solver: solver, Tolerance: 1e-8,
	}
}

// diagonal is the cost sum_k a_k x_k + d_k x_k^2 / 2 of the entries of a point,
// block after block, whose sum begins at the first.
type diagonal struct {
	blocks                     framework.Product
	a, d                       []float64
	x, out                     []float64
	costs, gradients, products int64
}

// Blocks implements [framework.Problem].
func (p *diagonal) Blocks() []framework.Block { return p.blocks }

// Evaluate implements [framework.Problem].
func (p *diagonal) Evaluate(grad, x framework.Point) (float64, error) {
	pack(p.x, x)
	p.costs++
	var sum float64
	for k, v := range p.x {
		// Conversions keep products and sums from being fused.
		sum += float64(p.a[k]*v) + float64(float64(p.d[k]*float64(v*v))/2)
	}
	if asked(grad) {
		return sum, p.Resume(grad)
	}
	return sum, nil
}

// Resume implements [framework.Problem].
func (p *diagonal) Resume(grad framework.Point) error {
	p.gradients++
	for k, v := range p.x {
		p.out[k] = p.a[k] + float64(p.d[k]*v)
	}
	for k, from := range split(p.blocks, p.out) {
		if grad[k] != nil {
			copy(grad[k], from)
		}
	}
	return nil
}

// HessianProduct implements [framework.TwiceDifferentiable].
func (p *diagonal) HessianProduct(dst, _, v framework.Point) error {
	p.products++
	pack(p.out, v)
	for k, v := range p.out {
		p.out[k] = p.d[k] * v
	}
	unpack(dst, p.out)
	return nil
}

// through returns the diagonal problem twice: itself, and behind functions that
// read and write arrays as those in Python do. fail has call number failAt of any
// function fail.
func through(t *testing.T, failAt int) (*diagonal, *pythonProblem, *int) {
	blocks, err := describedBlocks(sphereSettings("").Blocks, nil)
	require.NoError(t, err)
	n := blocks.Size()
	numbers := func() []float64 { return make([]float64, n) }
	d := &diagonal{blocks: blocks, a: []float64{0.1, 0.2, 0.3, 0.4, 0.5}, d: []float64{1, 2, 3, 4, 5}, x: numbers(), out: numbers()}
	inner := &diagonal{blocks: blocks, a: d.a, d: d.d, x: numbers(), out: numbers()}
	p := &pythonProblem{blocks: blocks, x: numbers(), grad: numbers(), v: numbers(), product: numbers(), iterate: numbers(), told: make([]float64, progressEntries)}
	calls := new(int)
	wrap := func(f goFunction) goFunction {
		return func() (float64, error) {
			if *calls++; *calls == failAt {
				return 0, errTest
			}
			return f()
		}
	}
	p.cost = wrap(func() (float64, error) { return inner.Evaluate(nil, split(blocks, p.x)) })
	p.both = wrap(func() (float64, error) { return inner.Evaluate(split(blocks, p.grad), split(blocks, p.x)) })
	p.gradient = wrap(func() (float64, error) {
		_, err := inner.Evaluate(split(blocks, p.grad), split(blocks, p.x))
		return 0, err
	})
	p.multiply = wrap(func() (float64, error) {
		return 0, inner.HessianProduct(split(blocks, p.product), nil, split(blocks, p.v))
	})
	return d, p, calls
}

var sphereStart = []float64{0.5, 0.5, 0.5, 0.5, 3}

func TestMinimizeIsThatOfTheLibrary(t *testing.T) {
	for _, solver := range []string{"auto", "cg", "lbfgs", "rgd", "trust_region"} {
		d, p, _ := through(t, 0)
		s := sphereSettings(solver)
		want, err := s.solve(d, nil, sphereStart, func(func()) func(framework.Record) { return nil })
		require.NoError(t, err)
		got, err := s.solve(p.asProblem(), nil, sphereStart, p.observe)
		require.NoError(t, err)
		assert.Equal(t, framework.Converged, got.Status, solver)
		assert.Equal(t, want.Point, got.Point, solver)
		assert.Equal(t, want.Counts, got.Counts, solver)
		assert.Equal(t, []int64{d.costs, d.gradients, d.products}, []int64{p.costs, p.gradients, p.products}, solver)
	}
}

// TestNothingIsCalledAfterAFailure has each of the calls of a run fail in turn.
func TestNothingIsCalledAfterAFailure(t *testing.T) {
	for _, solver := range []string{"cg", "lbfgs", "rgd", "trust_region"} {
		for failAt := 1; ; failAt++ {
			_, p, calls := through(t, failAt)
			p.watch = goFunction(func() (float64, error) { return 0, nil })
			_, err := sphereSettings(solver).solve(p.asProblem(), nil, sphereStart, p.observe)
			if *calls < failAt {
				require.NoError(t, err)
				require.Greater(t, failAt, 10)
				break
			}
			require.ErrorIs(t, p.failure, errTest, "%s, call %d", solver, failAt)
			require.Equal(t, failAt, *calls, solver)
		}
	}
}

func TestCallbacksStop(t *testing.T) {
	_, p, _ := through(t, 0)
	p.watch = goFunction(func() (float64, error) { return truth(p.told[progressIteration] == 2), nil })
	result, err := sphereSettings("rgd").solve(p.asProblem(), nil, sphereStart, p.observe)
	require.NoError(t, err)
	assert.Equal(t, framework.Cancelled, result.Status)
	assert.Equal(t, 2, result.Iterations)
	text, err := p.report(result)
	require.NoError(t, err)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	assert.Contains(t, report["message"], "callback after 2 iterations")
	assert.Greater(t, report["grad_norm"], 0.0)

	p.watch = goFunction(func() (float64, error) { return 0, errTest })
	p.stopped = false
	_, err = sphereSettings("rgd").solve(p.asProblem(), nil, sphereStart, p.observe)
	require.NoError(t, err) // a run that is cancelled has not failed
	assert.ErrorIs(t, p.failure, errTest)
}

func TestManifoldOperations(t *testing.T) {
	const sphere = `{"name": "x", "kind": "sphere", "shape": [2], "copies": 2}`
	x, v, y := pinned[float64](t, 4), pinned[float64](t, 4), pinned[float64](t, 4)
	copy(x, []float64{1, 0, 0, 1})
	copy(v, []float64{5, math.Pi, math.Pi, 5})
	_, err := ManifoldMap(sphere, "projection", at(v), at(x), at(v), 0, 0)
	require.NoError(t, err)
	assert.Equal(t, []float64{0, math.Pi, math.Pi, 0}, v)
	_, err = ManifoldMap(sphere, "exp", at(y), at(x), at(v), 0, 0)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{-1, 0, 0, -1}, y, 1e-15)
	d, err := ManifoldMeasure(sphere, "dist", at(x), at(y), 0)
	require.NoError(t, err)
	assert.InDelta(t, math.Pi*math.Sqrt2, d, 1e-14)
	dim, err := ManifoldDim(sphere)
	require.NoError(t, err)
	assert.EqualValues(t, 2, dim)
	_, err = ManifoldRandom(sphere, 1, at(y))
	require.NoError(t, err)
	assert.InDelta(t, 1, math.Hypot(y[0], y[1]), 1e-15)
	for k := range 2 * maxKnown { // more than are held
		_, err = ManifoldDim(fmt.Sprintf(`{"kind": "euclidean", "shape": [%d]}`, k+1))
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(known.blocks), maxKnown)
}

func TestManifoldsThatAreNone(t *testing.T) {
	x := pinned[float64](t, 4)
	for manifold, want := range map[string]string{
		`{"kind": "torus", "shape": [2]}`:                        `input: no manifold "torus"`,
		`{"kind": "sphere", "shape": [2, 2]}`:                    `input: no manifold "sphere"`,
		`{"kind": "sphere", "shape": [0]}`:                       "input: manifold sphere of shape [0]",
		`{"kind": "sphere", "shape": [2], "copies": -1}`:         "input: no manifold",
		`{"kind": "euclidean", "shape": [1099511627777]}`:        "want 1 to 1099511627776",
		`{"kind": "spd", "shape": [1048576], "copies": 1048576}`: "more than",
		`{"kind": "stiefel", "shape": [2, 3]}`:                   "panic: ",
		`{"kind": "sphere", "shape": [2], "radius": 2}`:          "unknown field",
		`{"kind": "sphere"`:                                      "input: settings",
	} {
		_, err := ManifoldDim(manifold)
		assert.ErrorContains(t, err, want, manifold)
	}
	const sphere = `{"kind": "sphere", "shape": [4]}`
	_, err := ManifoldMap(sphere, "turn", at(x), at(x), at(x), 0, 0)
	assert.ErrorContains(t, err, `input: no operation "turn"`)
	_, err = ManifoldMeasure(sphere, "turn", at(x), at(x), 0)
	assert.ErrorContains(t, err, `input: no operation "turn"`)
	_, err = ManifoldMap(sphere, "projection", 0, at(x), at(x), 0, 0)
	assert.ErrorContains(t, err, "input: dst: no address")
	_, err = ManifoldMap(sphere, "exp", at(x), at(x), 0, 0, 0)
	assert.ErrorContains(t, err, "panic: ")
}

func TestMinimizeRefusals(t *testing.T) {
	addresses, numbers := pinned[uint64](t, addressEntries), pinned[float64](t, progressEntries)
	const good = `{"blocks": [{"name": "x", "kind": "sphere", "shape": [4]}], "solver": "auto", "tol": 1}`
	for _, run := range []func(string, uint64) (string, error){Minimize, CheckProblem} {
		_, err := run("{", at(addresses))
		assert.ErrorContains(t, err, "input: settings")
		_, err = run(good, 0)
		assert.ErrorContains(t, err, "input: addresses: no address")
		_, err = run(`{"blocks": []}`, at(addresses))
		assert.ErrorContains(t, err, "input: no blocks")
		clear(addresses)
		_, err = run(good, at(addresses))
		assert.ErrorContains(t, err, "no address")
		for k := range progressAt + 1 {
			addresses[k] = at(numbers)
		}
		_, err = run(good, at(addresses))
		assert.ErrorContains(t, err, "input: functions: no address")
	}
	_, err := UsePython(`{"PyMystery": 3}`)
	assert.ErrorContains(t, err, "unknown field")
}
