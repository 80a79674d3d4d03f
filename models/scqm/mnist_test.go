package scqm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// BenchmarkDigits fits digits with d = 2 until the solver stops, or for about
// 1000 passes of gradient descent, and reports the objective and the passes.
func BenchmarkDigits(b *testing.B) {
	huber, err := losses.Huber(4)
	require.NoError(b, err)
	for _, name := range []string{"l1", "lp 1.5", "lp 4", "huber", "l2", "squared_l2"} {
		loss := framework.Loss(huber)
		if name != "huber" {
			loss = named(b, name, 784)
		}
		for _, c := range []struct {
			solver     string
			iterations int
			Config
		}{
			{"rgd", 80, Config{Solver: solvers.RGD{}}},
			{"lbfgs", 3000, Config{Solver: solvers.Continuation{}}},
		} {
			b.Run(name+"/"+c.solver, func(b *testing.B) {
				x := digits(b, 100, "4", "9")
				c.Latent, c.Loss, c.Options.MaxIterations = 2, loss, c.iterations
				var run *framework.Result
				for b.Loop() {
					run = learn(b, x, c.Config).Run
				}
				b.ReportMetric(run.Cost, "objective")
				b.ReportMetric(run.Counts.Passes, "passes")
			})
		}
	}
}
