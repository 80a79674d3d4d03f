package standard_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/internal/standard"
	"github.com/scqm/scqm/solvers"
)

// Constants of 1e3 and 1e6 added to a cost change neither the status of a run nor its
// iterates, to a billionth of the gradient, while an iteration lowers the cost by more
// than a millionth of it, constant included, and for the first fifty: the search for
// a step compares costs, of which rounding leaves that many digits. Runs end within the
// same tolerance all the same.
func TestDrillConstants(t *testing.T) {
	names := standard.Names()
	kinds := []string{"auto", "trust_region", "cg"}
	drill.Run(t, "constants", 12, func(c drill.Case) error {
		size := standard.Small
		if i := c.Index / len(names) / len(kinds); i > 0 {
			size = standard.Full
		}
		p := standard.New(names[c.Index*7%len(names)], size) // 7 and 25 have no common factor
		kind := kinds[c.Index/len(names)%len(kinds)]
		plain, costs, err := trace(p, kind)
		if err != nil {
			return err
		}
		for _, constant := range []float64{1e3, 1e6} {
			shifted, others, err := trace(p.Plus(constant), kind)
			if err != nil {
				return err
			}
			if plain != framework.Converged || shifted != plain {
				return fmt.Errorf("%s, %s: %v, and %v with %g added", p.Name, kind, plain, shifted, constant)
			}
			same := 0
			for i := 1; i < min(len(costs), len(others), compared); i++ {
				fall := costs[i-1].cost - costs[i].cost
				if fall <= 1e-6*math.Max(math.Abs(others[i].cost), constant) {
					break
				}
				if off := math.Abs(others[i].gradient/costs[i].gradient - 1); off > 1e-9 {
					return fmt.Errorf("%s, %s: with %g added, the gradient after %d iterations is %g and not %g",
						p.Name, kind, constant, i, others[i].gradient, costs[i].gradient)
				}
				same = i
			}
			t.Logf("%-25s %-12s + %g: %d of %d iterations alike, %d in all", p.Name, kind, constant, same, len(costs)-1, len(others)-1)
		}
		return nil
	})
}

// compared is the number of iterations that are compared.
const compared = 50

// step is what is compared of an iteration.
type step struct{ cost, gradient float64 }

func trace(p *standard.Problem, kind string) (framework.Status, []step, error) {
	solver := solvers.Auto(p.Problem())
	if kind != "auto" {
		var err error
		if solver, err = solvers.ByName(kind); err != nil {
			return 0, nil, err
		}
	}
	var steps []step
	res, err := framework.Solve(context.Background(), p.Problem(), p.Start, solver, framework.Options{
		MaxIterations: -1, Observers: []func(framework.Record){func(q framework.Record) {
			steps = append(steps, step{q.Cost, q.GradientNorm})
		}},
	})
	if err != nil {
		return 0, nil, err
	}
	return res.Status, steps, nil
}
