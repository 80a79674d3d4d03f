package scqm

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
)

// fakeRun is a run of which only what is compared is known.
type fakeRun struct {
	result *framework.Result
	found  finding
}

func (r fakeRun) outcome() (*framework.Result, finding) { return r.result, r.found }

// fakes makes runs of starts with these costs after all evaluations; short runs end as
// much higher as they are shorter.
func fakes(costs []float64, log *[]string, change func(k int, o framework.Options, f *finding, r *framework.Result) error) func(int, framework.Options) (fakeRun, error) {
	return func(k int, o framework.Options) (fakeRun, error) {
		evaluations, status := 100, framework.Converged
		if o.MaxEvaluations > 0 {
			evaluations, status = o.MaxEvaluations, framework.MaxEvaluations
		}
		*log = append(*log, fmt.Sprintf("%d@%d", k, evaluations))
		f := finding{cost: costs[k] + 1/float64(evaluations), across: 1}
		r := &framework.Result{Status: status, Cost: f.cost, Counts: framework.Counts{Evaluations: evaluations, Passes: float64(evaluations)}}
		if change != nil {
			if err := change(k, o, &f, r); err != nil {
				return fakeRun{}, err
			}
		}
		return fakeRun{r, f}, nil
	}
}

func TestRace(t *testing.T) {
	costs := make([]float64, 32)
	for k := range costs {
		costs[k] = float64((k*7 + 3) % 32) // the lowest are 27, 18 and 9, of the first eight 0, 5 and 1
	}
	var log []string
	best, note, err := bestStart(32, 0, framework.Options{}, fakes(costs, &log, nil))
	require.NoError(t, err)
	assert.Equal(t, 0.01, best.result.Cost-costs[27])
	assert.Len(t, log, 32+6+3)
	assert.Equal(t, []string{"27@100", "18@100", "0@100"}, log[38:], "and the first start, so that more are never worse than one")
	assert.Equal(t, 32*5+6*14+300, best.result.Counts.Evaluations)
	assert.Equal(t, "the best of 32 starts, number 28; 3 ran to the end", note)

	// What leads after a few evaluations and folds then makes room for the next ones.
	log = nil
	best, note, err = bestStart(8, 0, framework.Options{}, fakes(costs, &log, func(k int, o framework.Options, f *finding, _ *framework.Result) error {
		if (k == 0 || k == 5) && o.MaxEvaluations == 0 {
			f.curvature = 2 * foldedCurvature
		}
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, []string{"0@100", "5@100", "1@100"}, log[8:])
	assert.InDelta(t, costs[1], best.result.Cost, 0.011)
	assert.Contains(t, note, "3 ran to the end")

	// Starts that fail are no loss, unless all fail.
	broken := errors.New("broken")
	best, _, err = bestStart(4, 0, framework.Options{}, fakes(costs, &log, func(k int, _ framework.Options, _ *finding, _ *framework.Result) error {
		if k != 2 {
			return broken
		}
		return nil
	}))
	require.NoError(t, err)
	assert.InDelta(t, costs[2], best.result.Cost, 0.011)
	best, _, err = bestStart(4, 0, framework.Options{}, fakes(costs, &log, func(int, framework.Options, *finding, *framework.Result) error { return broken }))
	assert.Nil(t, best.result)
	assert.ErrorIs(t, err, broken)
}

func TestRaceEndsEarly(t *testing.T) {
	costs := []float64{5, 3, 1, 4, 2}
	for cancelled := range 7 {
		var log []string
		best, _, err := bestStart(5, 0, framework.Options{}, fakes(costs, &log, func(_ int, _ framework.Options, _ *finding, r *framework.Result) error {
			if len(log) == cancelled+1 {
				r.Status = framework.Cancelled
			}
			return nil
		}))
		require.NoError(t, err)
		assert.Len(t, log, cancelled+1)
		if cancelled < 5 {
			assert.Equal(t, framework.Cancelled, best.result.Status)
			assert.InDelta(t, min(5, append([]float64{5, 3, 1, 1, 1}, 0)[cancelled]), best.result.Cost, 0.3, "the best so far")
		}
	}
	o := framework.Options{TimeLimit: time.Nanosecond}.Begun()
	var log []string
	best, _, err := bestStart(5, 0, o, fakes(costs, &log, nil))
	require.NoError(t, err)
	assert.Equal(t, []string{"0@5"}, log)
	assert.Equal(t, framework.TimeLimit, best.result.Status)
}

// On ten pairs of digits, for what a race of 32 starts costs and loses against 32 whole
// runs: at most .06 % in the mean, at a sixth of the passes. Whole runs take about 200 passes each, three of them a
// tenth of all; the heats take the rest.
func TestDrillRace(t *testing.T) {
	if !drill.Whole() {
		t.Skip("320 fits of digits: in the soak")
	}
	names := []string{"2", "4", "6", "8", "9"}
	var excess, share float64
	for i := range names {
		for j := range i {
			x := digits(t, 100, names[j], names[i])
			c := Config{Latent: 2, Loss: named(t, "l2", x.D), Inits: 32}
			raced, err := Learn(t.Context(), x, c)
			require.NoError(t, err)
			lowest, passes := raced.Run.Cost, 0.
			whole := heats
			heats = nil
			all, err := Learn(t.Context(), x, c)
			heats = whole
			require.NoError(t, err)
			lowest, passes = min(lowest, all.Run.Cost), all.Run.Counts.Passes
			excess += (raced.Run.Cost/lowest - 1) / 10
			share += raced.Run.Counts.Passes / passes / 10
			t.Logf("%s and %s: %.6g, of all %.6g; passes %.0f, of all %.0f", names[j], names[i], raced.Run.Cost, all.Run.Cost, raced.Run.Counts.Passes, passes)
		}
	}
	t.Logf("mean excess %.3f %%, passes 1/%.1f", 100*excess, 1/share)
	assert.LessOrEqual(t, excess, 0.0006)
	assert.LessOrEqual(t, share, 1/6.)
}
