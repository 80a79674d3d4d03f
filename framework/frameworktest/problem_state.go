package frameworktest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/scqm/scqm/framework"
)

// storedState tests that the learned state of a problem survives its stored form, with the same measure of
// stationarity, and that the problem rejects other bytes.
func (c *problemCheck) storedState(p stateful) error {
	stationarity := func() ([]float64, error) {
		m, ok := p.(framework.Certifier)
		if !ok {
			return nil, nil
		}
		dst := make([]float64, len(c.blocks))
		return dst, m.Stationarity(dst, c.x)
	}
	before, err := stationarity()
	if err != nil {
		return err
	}
	state, err := p.MarshalState()
	if err != nil {
		return err
	}
	state = slices.Clone(state)
	if err := p.UnmarshalState(slices.Clone(state)); err != nil {
		return fmt.Errorf("its own state: %w", err)
	}
	again, err := p.MarshalState()
	after, err2 := stationarity()
	switch {
	case err != nil || err2 != nil:
		return errors.Join(err, err2)
	case !bytes.Equal(state, again):
		return errors.New("a restored state is another one")
	case !slices.Equal(before, after):
		return fmt.Errorf("the stationarity is %v, and %v with the state restored", before, after)
	}
	if p.UnmarshalState([]byte("no state")) == nil {
		return errors.New("takes any bytes for a state")
	}
	return p.UnmarshalState(state)
}
