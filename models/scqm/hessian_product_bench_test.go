package scqm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

type resumer interface {
	Resume(grad framework.Point) error
}

// withoutProducts is a problem without second derivatives, with all that trust regions
// ask for beside them.
type withoutProducts struct {
	framework.Problem
	resumer
	framework.Preconditioner
	framework.Certifier
	framework.Smoothable
}

// BenchmarkTrustRegions fits by trust regions with products of the Hessian and with
// differences of gradients in their place.
func BenchmarkTrustRegions(b *testing.B) {
	rng := func(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 30)) }
	for _, c := range []struct {
		name, loss string
		x          Data
		d          int
	}{
		{"paraboloid 200x3", "squared_l2", noisyParaboloid(rng(1), 3, 2, 200), 2},
		{"paraboloid 1000x8", "huber", noisyParaboloid(rng(2), 8, 2, 1000), 2},
		{"paraboloid 300x30", "l2", noisyParaboloid(rng(3), 30, 2, 300), 2},
		{"paraboloid 300x3", "l2", noisyParaboloid(rng(6), 3, 2, 300), 2},
		{"paraboloid 200x8", "lp 4", noisyParaboloid(rng(7), 8, 2, 200), 2},
		{"arc 200x5", "l1", turnedArc(rng(4), 5, 200), 1},
		{"digits 60x784", "l2", digits(b, 60, "4", "9"), 2},
	} {
		for _, differences := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s %s, differences %t", c.name, c.loss, differences), func(b *testing.B) {
				for b.Loop() {
					p, err := NewProblem(context.Background(), c.x, named(b, c.loss, c.x.D), c.d, min(c.d*(c.d+1)/2, c.x.D-c.d), 1)
					require.NoError(b, err)
					starts, err := p.newStarts(Config{Latent: c.d, Ridge: 1e-3}, nil)
					require.NoError(b, err)
					x, err := starts.point(0)
					require.NoError(b, err)
					var problem framework.Problem = p
					if differences {
						problem = withoutProducts{p, p, p, p, p}
					}
					run, err := framework.Solve(context.Background(), problem, x, solvers.Continuation{Inner: solvers.TrustRegion{}}, framework.Options{FirstOrder: true, MaxIterations: 2000})
					require.NoError(b, err)
					b.ReportMetric(run.Counts.Passes, "passes")
					b.ReportMetric(float64(run.Counts.Evaluations), "evaluations")
					b.ReportMetric(float64(run.Counts.Hessians), "products")
					b.ReportMetric(run.Cost, "cost")
					b.Logf("%s: %v", run.Status, run.Message)
				}
			})
		}
	}
}
