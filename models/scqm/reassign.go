package scqm

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/scqm/scqm/framework"
)

// Reassign moves the rows of Tau for which the sheet is nearer elsewhere, and where
// there are none, in fits, those that are better elsewhere together, and where there are
// none of these the whole sheet, see bendAgain.
func (p *Problem) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	if p.Shape().S == 0 {
		return false, 0, nil
	}
	if p.together == nil {
		return p.Objective.Reassign(x)
	}
	near := x.Clone()
	moved, passes, err = p.Objective.Reassign(near)
	if err != nil {
		return false, passes, err
	}
	if moved {
		worth, err := p.worthReassigning(x, near)
		passes += 2
		if err != nil {
			return false, passes, err
		}
		if worth {
			copy(x[BlockTau], near[BlockTau])
			return true, passes, nil
		}
	}
	together, more, err := p.together(p, x)
	if err == nil && moved && !together {
		copy(x[BlockTau], near[BlockTau])
	}
	if err != nil || moved || together {
		return moved || together, passes + more, err
	}
	again, work, err := p.bendAgain(x)
	return again, passes + more + work, err
}

func (p *Problem) worthReassigning(from, to framework.Point) (bool, error) {
	before, err := p.Evaluate(nil, from)
	if err != nil {
		return false, err
	}
	after, err := p.Evaluate(nil, to)
	return framework.WorthReassigning(before, after), err
}

// examined is what examinations of a run have tried already.
type examined struct {
	Tried     triedSets
	BentAgain bool
}

// MarshalState implements framework.Stateful: what examinations have tried.
func (p *Problem) MarshalState() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(examined{p.tried, p.bentAgain})
	return b.Bytes(), err
}

// UnmarshalState implements framework.Stateful.
func (p *Problem) UnmarshalState(state []byte) error {
	var s examined
	if err := gob.NewDecoder(bytes.NewReader(state)).Decode(&s); err != nil {
		return fmt.Errorf("scqm: %w", err)
	}
	p.tried, p.bentAgain = s.Tried, s.BentAgain
	return nil
}
