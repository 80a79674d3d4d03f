package scqm

import "github.com/scqm/scqm/framework"

// Reassign moves the rows of Tau for which the sheet is nearer elsewhere.
func (p *Problem) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	if p.Shape().S == 0 {
		return false, 0, nil
	}
	return p.Objective.Reassign(x)
}
