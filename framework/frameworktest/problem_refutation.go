package frameworktest

import (
	"errors"
)

// refutation tests that Refute does not change the point, and gives the same answer when called again.
func (c *problemCheck) refutation(p refuter) error {
	x := c.x.Clone()
	first, err := p.Refute(x)
	again, err2 := p.Refute(x)
	switch {
	case err != nil || err2 != nil:
		return errors.Join(err, err2)
	case !x.Equal(c.x):
		return errors.New("changes the point")
	case first != again:
		return errors.New("gives another reason the second time")
	}
	return nil
}
