package objective

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// suspectCurvature is the curvature bound times the extent of the rows above which a fit may have no minimum. A
	// Newton step then tests it. Fits with a ridge of .001 have less than 100.
	suspectCurvature = 1e3
	// growing is the relative change of Theta by a Newton step above which the curvature counts as growing.
	growing = 1e-2
)

// Growing returns a warning if the curvature is still growing although the gradient is small: the objective may have no
// minimum. f is the sheet at a point x of the problem, extent the root mean squared distance of the rows from c. If the
// curvature is large, it evaluates second derivatives; if these are too expensive, [sheet.RunawayCurvature] decides.
func Growing(p framework.Problem, f *sheet.Sheet, x framework.Point, extent float64) (string, error) {
	curvature := f.CurvatureBound() * extent
	if f.S == 0 || !(curvature > suspectCurvature) {
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
