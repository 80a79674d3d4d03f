package framework_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/solvers"
)

// kept collects what a run stores.
type kept struct{ runs [][]byte }

func (k *kept) store(write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	k.runs = append(k.runs, b.Bytes())
	return nil
}

// checkpointed runs a case for some iterations, from a stored run or anew.
func checkpointed(t *testing.T, c frameworktest.SolverCase, iterations int, stored []byte) (*framework.Result, *kept) {
	t.Helper()
	k := &kept{}
	p := &framework.Checkpoint{Every: -1, Fingerprint: c.Name, Store: k.store}
	if stored != nil {
		p.Stored = bytes.NewReader(stored)
	}
	o := framework.Options{MaxIterations: iterations, Tolerance: 1e-300, MinRelativeDecrease: -1, Checkpoint: p}
	res, err := framework.Solve(context.Background(), c.New(), c.Start, solvers.RGD{}, o)
	require.NoError(t, err)
	return res, k
}

func TestAResumedRunGoesOnBitForBit(t *testing.T) {
	for _, c := range frameworktest.SolverCases() {
		whole, stores := checkpointed(t, c, 12, nil)
		require.Greater(t, len(stores.runs), 3, c.Name)
		for _, stored := range stores.runs {
			resumed, _ := checkpointed(t, c, 12, stored)
			assert.Equal(t, whole.Cost, resumed.Cost, c.Name)
			assert.True(t, whole.Point.Equal(resumed.Point), c.Name)
			assert.Equal(t, whole.Iterations, resumed.Iterations)
			require.Len(t, resumed.History, len(whole.History))
			for i := range whole.History {
				assert.Equal(t, whole.History[i].Cost, resumed.History[i].Cost)
			}
		}
	}
}

func TestACancelledRunStoresWholeIterationsOnly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	k := &kept{}
	p := &bowl{evaluate: func(p *bowl, grad, x framework.Point) (float64, error) {
		if p.calls == 14 {
			cancel()
		}
		return bowlCost(grad, x)
	}}
	o := framework.Options{Tolerance: 1e-300, MinRelativeDecrease: -1, Checkpoint: &framework.Checkpoint{Every: -1, Store: k.store}}
	res, err := framework.Solve(ctx, p, corner, slow, o)
	require.NoError(t, err)
	require.Equal(t, framework.Cancelled, res.Status)
	o.Checkpoint.Stored = bytes.NewReader(k.runs[len(k.runs)-1])
	o.MaxIterations = 20
	resumed := solve(t, &bowl{}, slow, o)
	o.Checkpoint = nil
	assert.Equal(t, solve(t, &bowl{}, slow, o).Point, resumed.Point)
}

func TestStoredRunsAreChecked(t *testing.T) {
	c := frameworktest.SolverCases()[0]
	_, stores := checkpointed(t, c, 3, nil)
	good := stores.runs[1]
	resume := func(b []byte, s framework.Solver, fingerprint string, p framework.Problem, x framework.Point) error {
		o := framework.Options{MaxIterations: 3, Checkpoint: &framework.Checkpoint{Fingerprint: fingerprint, Stored: bytes.NewReader(b)}}
		_, err := framework.Solve(context.Background(), p, x, s, o)
		return err
	}
	require.NoError(t, resume(good, solvers.RGD{}, c.Name, c.New(), c.Start))
	for reason, err := range map[string]error{
		"other data": resume(good, solvers.RGD{}, "another", c.New(), c.Start),
		"blocks":     resume(good, solvers.RGD{}, c.Name, &bowl{}, corner),
		"solver":     resume(good, renamed{}, c.Name, c.New(), c.Start),
		"has the state *solvers.RGDState; solver " + solvers.RGD{}.Name() + " has *solvers.ConjugateGradientState": resume(good, disguised{}, c.Name, c.New(), c.Start),
		"stored": resume(good, unstorable{solvers.RGD{}}, c.Name, c.New(), c.Start),
	} {
		require.ErrorIs(t, err, framework.ErrInvalid, reason)
		assert.ErrorContains(t, err, reason)
	}
	for size := range good {
		require.ErrorIs(t, resume(good[:size], solvers.RGD{}, c.Name, c.New(), c.Start), framework.ErrInvalid, "cut at %d", size)
	}
}

type renamed struct{ solvers.RGD }

func (renamed) Name() string { return "another solver" }

type disguised struct{ solvers.ConjugateGradient }

func (disguised) Name() string { return solvers.RGD{}.Name() }

type unstorable struct{ framework.Solver }

func TestAFailingStoreFailsTheRun(t *testing.T) {
	full := errors.New("disk full")
	o := framework.Options{Checkpoint: &framework.Checkpoint{Every: -1, Store: func(func(io.Writer) error) error { return full }}}
	res, err := framework.Solve(context.Background(), &bowl{}, corner, slow, o)
	require.ErrorIs(t, err, full)
	require.NotNil(t, res)
	assert.Less(t, res.Cost, 12.5)
}

// handing is a solver that another takes over from after five steps.
type handing struct{ solvers.RGD }

type handingState struct {
	*solvers.RGDState
	Steps int
}

func (s *handingState) Successor() string {
	if s.Steps > 5 {
		return "heir"
	}
	return ""
}

func (handing) NewState() framework.State { return &handingState{RGDState: &solvers.RGDState{}} }

func (h handing) Init(e *framework.Evaluator, x framework.Point) (framework.State, error) {
	s, err := h.RGD.Init(e, x)
	if err != nil {
		return nil, err
	}
	return &handingState{RGDState: s.(*solvers.RGDState)}, nil
}

func (h handing) Step(e *framework.Evaluator, state framework.State) error {
	s := state.(*handingState)
	s.Steps++
	return h.RGD.Step(e, s.RGDState)
}

// A result names the solver and those that have taken over, in a run that was stored
// and taken up again too.
func TestResultsNameWhatRan(t *testing.T) {
	c := frameworktest.SolverCases()[0]
	k := &kept{}
	solve := func(iterations int, stored []byte) string {
		p := &framework.Checkpoint{Every: -1, Store: k.store}
		if stored != nil {
			p.Stored = bytes.NewReader(stored)
		}
		o := framework.Options{MaxIterations: iterations, Tolerance: -1, MinRelativeDecrease: -1, Checkpoint: p}
		res, err := framework.Solve(t.Context(), c.New(), c.Start, handing{}, o)
		require.NoError(t, err)
		return res.Solver
	}
	assert.Equal(t, "rgd", solve(5, nil))
	assert.Equal(t, "rgd, then heir", solve(8, nil))
	assert.Equal(t, "rgd, then heir", solve(8, k.runs[len(k.runs)-1]))
}
