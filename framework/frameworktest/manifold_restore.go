package frameworktest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// checkRestore tests the law of Restore of a [framework.Constrained] manifold.
func (c *manifoldCheck) checkRestore() {
	r, ok := c.m.(framework.Constrained)
	if !ok {
		return
	}
	c.law("restore", func(x []float64) error {
		noise := times(1e-3/math.Sqrt(float64(len(x)+1)), c.gauss())
		y := slices.Clone(x)
		floats.Add(y, noise)
		if err := errors.Join(r.Restore(y), c.onManifold(y)); err != nil {
			return err
		}
		if moved := floats.Distance(x, y, 2); moved > 10*norm(noise) {
			return fmt.Errorf("a point %g from the manifold came back %g away", norm(noise), moved)
		}
		same := slices.Clone(x)
		if err := errors.Join(r.Restore(same), equal(same, x)); err != nil {
			return fmt.Errorf("at a point of the manifold: %w", err)
		}
		if len(x) > 0 {
			same[0] = math.NaN()
			if r.Restore(same) == nil {
				return errors.New("takes NaN without an error")
			}
		}
		return nil
	})
}
