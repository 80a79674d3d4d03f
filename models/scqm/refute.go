package scqm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// growing is the relative change of Theta by a Newton step above which its curvature counts as growing.
const growing = 1e-2

// Refute reports fits whose curvature still grows although the gradient is small: the objective may have no
// minimum. It costs an evaluation of second derivatives where the curvature is large.
func (p *Problem) Refute(x framework.Point) (string, error) {
	if p.Shape().S == 0 {
		return "", nil
	}
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	extent := math.Sqrt(spread(*p.Data(), x[BlockC]))
	curvature := f.CurvatureBound() * extent
	if !(curvature > suspectCurvature) {
		return "", nil
	}
	grows := curvature > sheet.RunawayCurvature
	step, ok, err := latent.OuterNewtonStep(p, x)
	if err != nil {
		return "", err
	}
	if ok {
		move := step[len(step)-len(x[BlockTheta]):] // Theta comes last
		grows = floats.Norm(move, 2) > growing*floats.Norm(x[BlockTheta], 2)
	}
	if !grows {
		return "", nil
	}
	return fmt.Sprintf("the curvature still grows: its radius is 1/%.0f of the spread of the rows, and there may be no minimum; a larger ridge makes sure that there is one",
		curvature), nil
}
