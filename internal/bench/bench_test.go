package bench

import (
	"context"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// tiny are options of a comparison that takes a few seconds. In place of digits
// there are rows as long as those.
func tiny() Options {
	return Options{
		Losses: []string{"l2"}, Rows: []int{300}, TimeLimit: 50 * time.Millisecond,
		Digits: func() (scqm.Data, error) {
			narrow := noisySheet(60)
			x := scqm.Data{N: narrow.N, D: 784, X: make([]float64, narrow.N*784)}
			for i := range x.N {
				copy(x.Row(i)[5*i:], narrow.Row(i))
			}
			return x, nil
		},
	}
}

func TestCompare(t *testing.T) {
	left := 0
	for _, r := range Regimes {
		problems, err := r.Problems(tiny())
		require.NoError(t, err)
		require.Len(t, problems, 1)
		c, err := problems[0].Compare(t.Context(), tiny())
		require.NoError(t, err)
		assert.Equal(t, r.Name, c.Regime)
		assert.Greater(t, c.PCA.Objective, c.Best)
		assert.Positive(t, c.PCA.Seconds)
		require.Len(t, c.Runs, len(solvers.Describe()))
		assert.Equal(t, Reference, c.Runs[len(c.Runs)-1].Solver)
		left += checkRuns(t, c)
	}
	assert.Equal(t, 1, left, "rows of 784 numbers are too long for newton")
}

// A solver that refuses a fit is left out, and says why; the others go on.
func TestCompareLeavesOutWhatIsRefused(t *testing.T) {
	o := tiny()
	o.Losses, o.Solvers = []string{"l1"}, []string{"alternating", "lbfgs"}
	for _, r := range Regimes {
		if r.Name != RegimeDigits {
			continue
		}
		problems, err := r.Problems(o)
		require.NoError(t, err)
		c, err := problems[0].Compare(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, "alternating", c.Runs[0].Solver)
		assert.Contains(t, c.Runs[0].Note, "the solver alternating cannot fit")
		assert.Zero(t, c.Runs[0].Cost)
		assert.Positive(t, c.Runs[1].Cost)
		return
	}
	t.Fatal("no regime of digits")
}

// checkRuns looks for what cannot be, whatever the machine, and counts the
// solvers left out.
func checkRuns(t *testing.T, c *Comparison) (left int) {
	t.Helper()
	least := math.Inf(1)
	for _, r := range c.Runs {
		if r.Note != "" {
			assert.Equal(t, "newton", r.Solver)
			assert.Zero(t, r.Cost)
			left++
			continue
		}
		least = math.Min(least, r.Cost)
		assert.GreaterOrEqual(t, r.Excess, 0.0)
		assert.Positive(t, r.Seconds)
		assert.NotEmpty(t, r.Status)
		for i, g := range r.Gaps {
			assert.Equal(t, Gaps[i], g.Gap)
			if g.Passes == nil {
				assert.Nil(t, g.PassesFactor)
				continue
			}
			assert.LessOrEqual(t, *g.Passes, r.Passes)
			assert.LessOrEqual(t, *g.Seconds, r.Seconds)
			if r.Solver == Reference {
				assert.Equal(t, 1.0, *g.SecondsFactor)
			}
		}
	}
	assert.LessOrEqual(t, c.Best, least)
	return left
}

// The digits are asked for when their regime begins, and models are learned by
// the function given.
func TestOptionsAreUsed(t *testing.T) {
	o := tiny()
	o.Digits = func() (scqm.Data, error) { return scqm.Data{}, context.DeadlineExceeded }
	_, err := Regimes[0].Problems(o)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	problems, err := Regimes[1].Problems(o)
	require.NoError(t, err)
	o.Learn = func(context.Context, scqm.Data, scqm.Config) (*scqm.Fit, error) {
		return &scqm.Fit{Run: &framework.Result{Status: framework.Cancelled}}, nil
	}
	o.Solvers = []string{"lbfgs"}
	_, err = problems[0].Compare(t.Context(), o)
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "lbfgs: ")
}

// fake is a run whose cost falls as given, one pass and millisecond a step.
func fake(solver string, costs ...float64) *Run {
	r := &Run{Solver: solver, Cost: costs[len(costs)-1], Passes: float64(len(costs)), Seconds: float64(len(costs)) / 1000}
	for i, c := range costs {
		r.History = append(r.History, framework.Record{Cost: c, Counts: framework.Counts{Passes: float64(i + 1)}, Elapsed: time.Duration(i+1) * time.Millisecond})
	}
	return r
}

func TestFactors(t *testing.T) {
	slow := fake(Reference, 9, 8, 7, 6, 5, 4, 3, 2, 1.5, 1.002, 1.0009, 1.00001)
	c := &Comparison{Runs: []*Run{fake("fast", 9, 1.0001, 1), {Solver: "newton", Note: "left out"}, slow}}
	c.evaluate()
	assert.Equal(t, 1.0, c.Best)
	coarse, fine := c.Runs[0].Gaps[0], c.Runs[0].Gaps[1]
	assert.Equal(t, []float64{2, 5.5}, []float64{*coarse.Passes, *coarse.PassesFactor})
	assert.InEpsilon(t, 5.5, *coarse.SecondsFactor, 1e-12)
	assert.False(t, coarse.AtLeast)
	assert.Equal(t, []float64{3, 4}, []float64{*fine.Passes, *fine.PassesFactor}, "12 passes were not enough")
	assert.True(t, fine.AtLeast)
	assert.Nil(t, slow.Gaps[1].Passes)
	assert.Equal(t, 12.0, *slow.Own[1].Passes)
}

func TestRows(t *testing.T) {
	assert.Equal(t, noisySheet(200), noisySheet(200))
	for _, name := range LossNames() {
		loss, err := defaultLoss(name, noisySheet(200))
		require.NoError(t, err, strconv.Quote(name))
		assert.Equal(t, name, loss.Name())
	}
}
