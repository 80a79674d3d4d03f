package frameworktest

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
)

// isometry tests that a solver uses the metric of a manifold. Its iterates on the positive numbers with the metric of
// the logarithm must have the same costs as on the real line. Without the metric, steps are off by factors of 1e6.
func (k *solverCheck) isometry() error {
	const compared, tolerance = 10, 1e-6
	curved := framework.Point{{1e3, 1e-3, 1e2, 1e-2, 1}}
	line := framework.Point{make([]float64, len(curved[0]))}
	for i, v := range curved[0] {
		line[0][i] = math.Log(v)
	}
	o := k.o
	o.MaxIterations, o.MinRelativeDecrease, o.Tolerance = compared, -1, -1
	want, err := framework.Solve(context.Background(), logDistances{n: 5, line: true}, line, k.s, o)
	if err != nil {
		return err
	}
	got, err := framework.Solve(context.Background(), logDistances{n: 5}, curved, k.s, o)
	if err != nil {
		return err
	}
	if len(got.History) < 2 {
		return fmt.Errorf("makes no iteration: %v", got.Status)
	}
	start := want.History[0].Cost
	for i, r := range got.History[:min(len(got.History), len(want.History))] { // runs end at rounding
		if off := math.Abs(r.Cost - want.History[i].Cost); !(off <= tolerance*start) {
			return fmt.Errorf("the cost of iterate %d is %v, on the real line %v", i, r.Cost, want.History[i].Cost)
		}
	}
	return nil
}
