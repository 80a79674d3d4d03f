package frameworktest

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// gradientSlope tests the first-order remainder of the cost along one block.
func (c *problemCheck) gradientSlope(k int) error {
	grad := c.poisoned()
	cost, err := c.p.Evaluate(grad, c.x)
	if err != nil {
		return err
	}
	trial := c.x.Clone()
	slope, err := bestSlope(2, func() (Slope, error) {
		v := c.direction(k)
		first := floats.Dot(grad[k], v)
		return TaylorSlope(func(t float64) (float64, float64, error) {
			floats.ScaleTo(trial[k], t, v)
			if err := c.blocks[k].Retract(trial[k], c.x[k], trial[k]); err != nil {
				return 0, 0, err
			}
			now, err := c.p.Evaluate(nil, trial)
			return math.Abs(now - cost - t*first), math.Max(math.Abs(now), math.Abs(cost)), err
		})
	})
	if err != nil {
		return err
	}
	if !slope.AtLeast(2) {
		return fmt.Errorf("slope %v, want 2: the gradient is wrong, or the cost has a kink here", slope)
	}
	return nil
}

func (c *problemCheck) stationarity() error {
	s := make([]float64, len(c.blocks))
	floats.AddConst(math.NaN(), s)
	if err := c.p.(framework.Certifier).Stationarity(s, c.x); err != nil {
		return err
	}
	for k, v := range s {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("block %s has %v, want a finite number of at least 0", c.blocks[k].Name, v)
		}
	}
	return nil
}
