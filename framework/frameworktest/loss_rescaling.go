package frameworktest

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/rowloss"
)

// rescaling compares the loss in other units with the loss itself.
func (c *lossCheck) rescaling(l rowloss.Rescaler) error {
	for _, unit := range []float64{8, 0.3} {
		other, factor := l.Rescale(unit)
		if other.Name() != c.loss.Name() {
			return fmt.Errorf("the loss in other units is named %q", other.Name())
		}
		values, grad, err := c.evaluate(other, c.rows)
		if err != nil {
			return err
		}
		scaled := slices.Clone(c.rows)
		floats.Scale(unit, scaled)
		wantValues, wantGrad, err := c.evaluate(c.loss, scaled)
		if err != nil {
			return err
		}
		floats.Scale(factor, values)
		floats.Scale(factor/unit, grad)
		if err := errors.Join(agree("the value in units", values, wantValues), agree("the gradient in units", grad, wantGrad)); err != nil {
			return fmt.Errorf("unit %g: %w", unit, err)
		}
	}
	return nil
}
