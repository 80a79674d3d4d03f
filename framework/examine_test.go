package framework_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/manifolds"
)

// terrace is x^2/2 + y^2/2 on a floor that falls by one where a reassignment moves
// x by more than 100, three times.
type terrace struct {
	latent.Explorer
	reassigned []float64 // norms of the points at which it was asked
	reason     string
}

func (*terrace) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(2)}}
}

func (*terrace) Evaluate(grad, x framework.Point) (float64, error) {
	step := math.Min(3, math.Round(x[0][0]/1000))
	u, v := x[0][0]-1000*step, x[0][1]
	if grad != nil {
		grad[0][0], grad[0][1] = u, v
	}
	return 3 - step + (u*u+v*v)/2, nil
}

func (p *terrace) Reassign(x framework.Point) (bool, float64, error) {
	step := math.Round(x[0][0] / 1000)
	p.reassigned = append(p.reassigned, math.Hypot(x[0][0]-1000*step, x[0][1]))
	if step >= 3 {
		return false, 1, nil
	}
	x[0][0] += 1000
	return true, 1, nil
}

func (p *terrace) Refute(framework.Point) (string, error) { return p.reason, nil }

// dearTerrace is a terrace whose reassignments take passes, and that counts its own between them.
type dearTerrace struct {
	terrace
	work    float64
	passes  float64   // of evaluations since the last reassignment
	between []float64 // reassignments that moved x and the next one
}

func (p *dearTerrace) Evaluate(grad, x framework.Point) (float64, error) {
	p.passes++
	return p.terrace.Evaluate(grad, x)
}

func (p *dearTerrace) Reassign(x framework.Point) (bool, float64, error) {
	p.between, p.passes = append(p.between, p.passes), 0
	moved, _, err := p.terrace.Reassign(x)
	if moved {
		x[0][1] = 1 // far from the minimum
	}
	return moved, p.work, err
}

// Between two reassignments there is at least as much work as the first one took.
func TestReassignmentsAreHalfOfTheWorkAtMost(t *testing.T) {
	least := func(work float64) float64 {
		p := &dearTerrace{work: work}
		res := solve(t, p, slow, framework.Options{MaxIterations: -1, Tolerance: 1e-6, MinRelativeDecrease: -1})
		require.Greater(t, len(p.between), 2)
		assert.Less(t, res.Cost, 0.1)
		return slices.Min(p.between[1:])
	}
	assert.Less(t, least(1), 30.0)
	assert.GreaterOrEqual(t, least(100), 50.0, "an evaluation with its gradient is two passes")
}

// A run to a larger tolerance is the beginning of one to a smaller tolerance.
func TestToleranceDoesNotSteer(t *testing.T) {
	var last *framework.Result
	for _, tolerance := range []float64{1e-3, 1e-4, 3e-5, 1e-6, 2e-7, 1e-8, 1e-10} {
		p := &terrace{}
		res := solve(t, p, slow, framework.Options{Tolerance: tolerance, GradientUnit: 1, MaxIterations: -1, MinRelativeDecrease: -1})
		require.Equal(t, framework.Converged, res.Status, "tolerance %g", tolerance)
		if last != nil {
			assert.LessOrEqual(t, res.Cost, last.Cost)
			require.GreaterOrEqual(t, len(res.History), len(last.History))
			for i, r := range last.History {
				require.Equal(t, r.Cost, res.History[i].Cost, "iteration %d", i)
			}
		}
		if tolerance <= 1e-6 {
			assert.InDelta(t, 0, res.Cost, 1e-9, "tolerance %g", tolerance)
		}
		for _, at := range p.reassigned {
			assert.LessOrEqual(t, at, 1e-4)
		}
		last = res
	}
	res := solve(t, &terrace{}, slow, framework.Options{FirstOrder: true, MaxIterations: -1})
	assert.InDelta(t, 3, res.Cost, 1e-9, "by the test of first order alone")
}

// inspected is a terrace that tells where its stationarity was asked for.
type inspected struct {
	*terrace
	at []float64
}

func (p *inspected) Stationarity(dst []float64, x framework.Point) error {
	step := math.Min(3, math.Round(x[0][0]/1000))
	dst[0] = math.Hypot(x[0][0]-1000*step, x[0][1])
	p.at = append(p.at, x[0][0])
	return nil
}

// Nor does it say when the stationarity is computed, which can lead to a
// reassignment.
func TestToleranceDoesNotSayWhenToCheck(t *testing.T) {
	last := []float64{}
	for _, tolerance := range []float64{1e-2, 1e-4, 1e-6, 1e-8} {
		p := &inspected{terrace: &terrace{}}
		solve(t, p, slow, framework.Options{Tolerance: tolerance, GradientUnit: 1, MaxIterations: -1, MinRelativeDecrease: -1})
		require.GreaterOrEqual(t, len(p.at), len(last), "tolerance %g", tolerance)
		require.Equal(t, last, p.at[:len(last)], "tolerance %g", tolerance)
		last = p.at[:len(p.at)-1] // but for the one of the result
	}
}

// A point that the problem refutes is not converged, and the message says why.
// well is 1 + x^2/2, with the measure of stationarity |x|.
type well struct{}

func (p *well) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(1)}}
}

func (p *well) Evaluate(grad, x framework.Point) (float64, error) {
	if grad != nil {
		grad[0][0] = x[0][0]
	}
	return 1 + x[0][0]*x[0][0]/2, nil
}

func (p *well) Stationarity(dst []float64, x framework.Point) error {
	dst[0] = math.Abs(x[0][0])
	return nil
}

// unmeasured is a well in two blocks, the first without a stationarity.
type unmeasured struct{ well }

func (p *unmeasured) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(1)}, {Name: "y", Manifold: manifolds.Euclidean(1)}}
}

func (p *unmeasured) Stationarity(dst []float64, _ framework.Point) error {
	dst[0], dst[1] = math.NaN(), 0
	return nil
}

func TestStationarityKeepsNaN(t *testing.T) {
	e := framework.NewEvaluator(t.Context(), &unmeasured{})
	got, err := e.Stationarity(framework.Point{{1}, {1}})
	require.NoError(t, err)
	assert.True(t, math.IsNaN(got), "%v", got)
}

// halving halves x in every step.
type halving struct{}

type halved struct{ X framework.Point }

func (s *halved) Iterate() (framework.Point, float64) { return s.X, 1 + s.X[0][0]*s.X[0][0]/2 }

func (halving) Name() string { return "halving" }

func (halving) Init(_ *framework.Evaluator, x framework.Point) (framework.State, error) {
	return &halved{x}, nil
}

func (halving) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*halved)
	s.X[0][0] /= 2
	_, err := e.Evaluate(nil, s.X)
	return err
}

// Iteration 14 is the first that gains less than 1e-8, and 2^-14 is within a tolerance of 1e-4. Without a test
// there the next is after 20.
func TestRunIsTestedWhereItComesToRest(t *testing.T) {
	p := &well{}
	x := framework.NewPoint(p.Blocks())
	x[0][0] = 1
	for tolerance, want := range map[float64]int{1e-4: 14, 1e-5: 20} {
		res, err := framework.Solve(context.Background(), p, x, halving{}, framework.Options{Tolerance: tolerance})
		require.NoError(t, err)
		assert.Equal(t, framework.Converged, res.Status, res.Message)
		assert.Equal(t, want, res.Iterations)
	}
}

func TestRefutedPointIsNotConverged(t *testing.T) {
	res := solve(t, &terrace{reason: "it runs away"}, slow, framework.Options{MaxIterations: -1, MinRelativeDecrease: -1})
	assert.Equal(t, framework.Stalled, res.Status)
	assert.Contains(t, res.Message, "but it runs away")
	res = solve(t, &terrace{reason: "it runs away"}, slow, framework.Options{MaxIterations: 5, Tolerance: 10})
	assert.NotEqual(t, framework.Converged, res.Status)
}

// doubting is a solver with states that refute their points.
type doubting struct{ framework.Solver }

type doubt struct{ framework.State }

func (*doubt) Refute(framework.Point) (string, error) { return "it creeps", nil }

func (d doubting) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	s, err := d.Solver.Init(e, x)
	return &doubt{s}, err
}

func (d doubting) Step(e *framework.Evaluator, s framework.State) error {
	return d.Solver.Step(e, s.(*doubt).State)
}

// So is one that the solver refutes.
func TestDoubtedPointIsNotConverged(t *testing.T) {
	o := framework.Options{MaxIterations: -1, MinRelativeDecrease: -1}
	assert.Equal(t, framework.Converged, solve(t, &terrace{}, slow, o).Status)
	res := solve(t, &terrace{}, doubting{slow}, o)
	assert.Equal(t, framework.Stalled, res.Status)
	assert.Contains(t, res.Message, "but it creeps")
}

// A point within the tolerance where the iterations are used up is converged only
// if nothing lower is found beyond it.
func TestConvergedAtTheMostIterations(t *testing.T) {
	p := &terrace{}
	res, err := framework.Solve(context.Background(), p, framework.Point{{1e-5, 0}}, silent{slow}, framework.Options{MaxIterations: 1, Tolerance: 1e-4, GradientUnit: 1})
	// A solver that tells its gradient would be examined after the iteration, and move.
	require.NoError(t, err)
	assert.Equal(t, framework.MaxIterations, res.Status)
	assert.InDelta(t, 3, res.Cost, 1e-9)
	res, err = framework.Solve(context.Background(), p, framework.Point{{3000 + 5e-9, 0}}, slow, framework.Options{MaxIterations: 1, Tolerance: 1e-4, GradientUnit: 1})
	require.NoError(t, err)
	assert.Equal(t, framework.Converged, res.Status)
}

// A stored run keeps the moment at which it was examined.
func TestStoredRunKeepsTheMoment(t *testing.T) {
	o := framework.Options{Tolerance: 1e-9, MaxIterations: -1, MinRelativeDecrease: -1}
	want := solve(t, &terrace{}, slow, o)
	for _, stop := range []int{1, 1500, 2000, want.Iterations - 1} {
		var stored bytes.Buffer
		o := o
		o.MaxIterations = stop
		o.Checkpoint = &framework.Checkpoint{Every: time.Hour, Store: func(write func(io.Writer) error) error {
			stored.Reset()
			return write(&stored)
		}}
		solve(t, &terrace{}, slow, o)
		o.MaxIterations, o.Checkpoint.Stored = -1, &stored
		o.Checkpoint.Store = nil
		got := solve(t, &terrace{}, slow, o)
		require.Len(t, got.History, len(want.History), "stored at %d", stop)
		assert.Equal(t, want.Point, got.Point)
		assert.Equal(t, want.Counts, got.Counts)
	}
}
