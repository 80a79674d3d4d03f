package residuals_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/residuals"
)

// randomFit is a problem of a drill: exact rows and outliers, or rows with noise.
type randomFit struct {
	name  string
	f     residuals.Function
	start framework.Point
	// truth is what l2 has to find, nil where that is not known.
	truth []float64
}

// randomDistances draws points near one of a manifold, of which most are the point itself
// or have noise.
func randomDistances(t testing.TB, c drill.Case) randomFit {
	m := []framework.Manifold{manifolds.Sphere(3), manifolds.Sphere(6), manifolds.NewSPD(2), manifolds.NewSPD(4),
		manifolds.NewRotations(3), manifolds.Hyperbolic(2)}[c.IntN(6)]
	truth := points(m, 1, c.Rand).Row(0)
	n := 10 + c.IntN(60)
	outliers, noise := c.IntN(1+3*n/10), []float64{0, 1e-3, 0.2}[c.IntN(3)]
	x := points(m, n, c.Rand)
	for i := outliers; i < n; i++ {
		copy(x.Row(i), near(t, m, truth, noise+1e-300, c.Rand))
	}
	d, err := residuals.NewDistances(m, x)
	if err != nil {
		t.Fatal(err)
	}
	f := randomFit{name: fmt.Sprintf("%v, %d of %d, noise %g", m, outliers, n, noise), f: d,
		start: framework.Point{near(t, m, truth, 1, c.Rand)}}
	if noise == 0 {
		f.truth = truth
	}
	if c.IntN(4) == 0 {
		f.f, f.name = struct{ residuals.Function }{d.Function}, f.name+", by differences"
	}
	return f
}

// randomGraph draws relative rotations, of which some are wrong.
func randomGraph(t testing.TB, c drill.Case) randomFit {
	k := 3 + c.IntN(8)
	n := 5 * k
	wrong := 0.2 * c.Float64()
	truth := points(manifolds.NewRotations(3), k, c.Rand)
	g, start := measure(t, truth.X, n, wrong, c.Rand)
	return randomFit{name: fmt.Sprintf("graph of %d, %.2f wrong", k, wrong), f: g, start: start}
}

// TestDrillFits: fits end converged, and under l2 with exact rows at the truth.
func TestDrillFits(t *testing.T) {
	huber, err := losses.Huber(0.3)
	if err != nil {
		t.Fatal(err)
	}
	lp, err := losses.Lp(1.5)
	if err != nil {
		t.Fatal(err)
	}
	drill.Run(t, "robust fits", 8, func(c drill.Case) error {
		f := []func(testing.TB, drill.Case) randomFit{randomDistances, randomGraph}[c.IntN(2)](t, c)
		loss := []framework.Loss{losses.L2(), losses.L2(), losses.L1(), huber, losses.SquaredL2(), lp}[c.IntN(6)]
		r, err := residuals.Fit(context.Background(), f.f, f.start, residuals.Config{Loss: loss, Threads: 1})
		if err != nil {
			return fmt.Errorf("%s, %s: %w", f.name, loss.Name(), err)
		}
		if r.Run.Status != framework.Converged {
			return fmt.Errorf("%s, %s: %s", f.name, loss.Name(), r.Run.Message)
		}
		if f.truth == nil || loss.Name() != "l2" {
			return nil
		}
		off, err := f.f.Blocks()[0].Distance(r.Point[0], f.truth)
		if err == nil && !(off < 1e-6) {
			return fmt.Errorf("%s: ends %g from the truth", f.name, off)
		}
		return err
	})
}
