package frameworktest

import (
	"fmt"

	"github.com/scqm/scqm/framework/latent"
)

// reassignment checks that moves pay, and that a point that is not moved stays as
// it is.
func (c *problemCheck) reassignment(p latent.Reassigner) error {
	before, err := c.p.Evaluate(nil, c.x)
	if err != nil {
		return err
	}
	y := c.x.Clone()
	moved, passes, err := p.Reassign(y)
	if err != nil {
		return err
	}
	if !(passes >= 0) {
		return fmt.Errorf("took %v passes", passes)
	}
	if !moved && !y.Equal(c.x) {
		return fmt.Errorf("changes the point and says it did not")
	}
	after, err := c.p.Evaluate(nil, y)
	if err != nil {
		return err
	}
	if moved && !(after < before) {
		return fmt.Errorf("moves from a cost of %v to %v", before, after)
	}
	return nil
}
