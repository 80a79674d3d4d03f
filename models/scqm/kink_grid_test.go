package scqm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// arcInSpace returns points of a quarter of a circle in a random plane of R^D, with
// noise of standard deviation .05 in all directions.
func arcInSpace(rng *rand.Rand, D, n int) Data {
	u, v := make([]float64, D), make([]float64, D)
	for k := range u {
		u[k], v[k] = rng.NormFloat64(), rng.NormFloat64()
	}
	floats.Scale(1/floats.Norm(u, 2), u)
	floats.AddScaled(v, -floats.Dot(u, v), u)
	floats.Scale(1/floats.Norm(v, 2), v)
	x := Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range n {
		angle := rng.Float64() * math.Pi / 2
		for k := range D {
			x.X[i*D+k] = math.Cos(angle)*u[k] + math.Sin(angle)*v[k] + 0.05*rng.NormFloat64()
		}
	}
	return x
}

// gridCell is one kind of fit: of noisy arcs or paraboloids, by l2 or l1.
type gridCell struct {
	arc   bool
	loss  framework.Loss
	D, n  int
	tried int
	// Of the fits: how many converged, and how many of those influence refuses.
	converged, refused int
	residuals          []float64
	elapsed            time.Duration
}

func (c *gridCell) String() string {
	return fmt.Sprintf("%s %s D=%d n=%d", map[bool]string{true: "arc", false: "paraboloid"}[c.arc], c.loss.Name(), c.D, c.n)
}

// kinkGrid are all cells, those of few rows first.
func kinkGrid() []*gridCell {
	var cells []*gridCell
	for _, n := range []int{50, 200, 1000} {
		for _, loss := range []framework.Loss{losses.L2(), losses.L1()} {
			for _, arc := range []bool{true, false} {
				for _, D := range []int{2, 3, 5, 8, 20} {
					cells = append(cells, &gridCell{arc: arc, loss: loss, D: D, n: n})
				}
			}
		}
	}
	return cells
}

// data makes rows of the cell and says how many latent dimensions they have.
func (c *gridCell) data(rng *rand.Rand) (Data, int) {
	if c.arc {
		return arcInSpace(rng, c.D, c.n), 1
	}
	d := min(2, c.D-1)
	return noisyParaboloid(rng, c.D, d, c.n), d
}

// try fits with defaults, with and without the finish, and looks at the influences.
func (c *gridCell) try(t testing.TB, rng *rand.Rand) error {
	x, d := c.data(rng)
	begun := time.Now()
	fit, err := Learn(t.Context(), x, Config{Latent: d, Loss: c.loss, Threads: 1})
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	c.elapsed += time.Since(begun)
	c.tried++
	c.residuals = append(c.residuals, slices.Max(fit.Run.Stationarity))
	if fit.Run.Status != framework.Converged {
		t.Logf("%s: %s", c, fit.Run.Message)
	} else {
		c.converged++
		if _, err := fit.Model.Influence(t.Context(), x, 1); errors.Is(err, ErrNotMinimum) {
			c.refused++
			return fmt.Errorf("%s: converged, and influence says %w", c, err)
		}
	}
	if c.n > 200 { // which takes too long
		return nil
	}
	return c.compare(t, x, d)
}

// compare fits along one path with and without the finish, both as far as they get: what
// converges first stops first.
func (c *gridCell) compare(t testing.TB, x Data, d int) error {
	p, err := NewProblem(t.Context(), x, c.loss, d, min(d*(d+1)/2, x.D-d), 1)
	if err != nil {
		return err
	}
	auto := solvers.Auto(p).(solvers.Continuation)
	var costs [2]float64
	for k, finish := range []bool{false, true} {
		auto.Finish = finish
		fit, err := Learn(t.Context(), x, Config{Latent: d, Loss: c.loss, Threads: 1, Solver: auto, Options: framework.Options{FirstOrder: true, Tolerance: 1e-10, MaxIterations: 2000}})
		if err != nil {
			return err
		}
		costs[k] = fit.Run.Cost
	}
	if costs[1] > costs[0]*(1+1e-12) {
		return fmt.Errorf("%s: %.15g above %.15g without the finish", c, costs[1], costs[0])
	}
	return nil
}

// Default fits of noisy arcs and paraboloids by l2 and l1 converge, for few and many
// rows and dimensions, and influence finds nothing lower near by. Twenty cases are
// those with 50 rows, sixty are all kinds.
func TestDrillKinkGrid(t *testing.T) {
	cells := kinkGrid()
	drill.Run(t, "kink-grid", 12, func(c drill.Case) error {
		return cells[c.Index%len(cells)].try(t, c.Rand)
	})
	var converged, tried int
	for _, c := range cells {
		if c.tried > 0 {
			slices.Sort(c.residuals)
			t.Logf("%s: %d of %d converged, %d refused; residual %.1e in the median, %.1e at most; %v each",
				c, c.converged, c.tried, c.refused, c.residuals[c.tried/2], c.residuals[c.tried-1], (c.elapsed / time.Duration(c.tried)).Round(time.Millisecond))
		}
		converged += c.converged
		tried += c.tried
	}
	require.Positive(t, tried)
	t.Logf("kink-grid: %d of %d converged", converged, tried)
	assert.GreaterOrEqual(t, float64(converged), 0.95*float64(tried)-1)
}
