package scqm

import "github.com/scqm/scqm/framework"

// Reassign relocates the rows of Tau that have a nearer point elsewhere on the sheet.
func (p *Problem) Reassign(x framework.Point) (moved bool, passes float64, err error) {
	if p.Shape().S == 0 {
		return false, 0, nil
	}
	return p.Objective.Reassign(x)
}
