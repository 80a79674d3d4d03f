package scqm

import (
	"fmt"
	"math"
)

// curvatureLevel is the p-value below which the test detects curvature.
const curvatureLevel = 0.01

// Verdicts on curvature.
const (
	Curved = "curved" // the rows support the fitted curvature
	Held   = "held"   // the rows support less curvature: refitted with a strong ridge
	Flat   = "flat"   // no curvature in the rows, the sheet is flat
	Given  = "given"  // the caller set the number of directions
)

// CurvatureMeta holds the evidence for the curvature of a fit.
type CurvatureMeta struct {
	// P is the p-value of the test for curvature, 1 where there was no test.
	P float64 `json:"p"`
	// S is the number of directions of curvature of the sheet.
	S int `json:"s"`
	// Slope is sum fitted observed / sum fitted^2 over the rows. The fitted curvature is evaluated at U'(x - c); the
	// observed curvature is V'(x - c). The slope is 1 if they agree, and about 0 for folds.
	Slope float64 `json:"slope"`
	// Share is the fraction of the variance off the plane, in the directions of curvature, that the sheet explains.
	Share   float64 `json:"share"`
	Ridge   float64 `json:"ridge"`
	Verdict string  `json:"verdict"`
	// Sentence summarises the fields above.
	Sentence string `json:"sentence"`
}

// sentence summarises the evidence for a sheet with at most room directions of curvature.
func (c *CurvatureMeta) sentence(room int) string {
	chance := fmt.Sprintf("p = %.2g", c.P)
	if c.P < 1e-9 {
		chance = "p < 1e-9"
	}
	seen := fmt.Sprintf("%.0f %% of what the sheet draws is seen", 100*math.Min(1, math.Max(0, c.Slope)))
	switch c.Verdict {
	case Flat:
		if c.P <= curvatureLevel {
			return fmt.Sprintf("flat: rows are not symmetric (%s), but a curved sheet predicts hidden entries no better; s = %d bends the sheet all the same", chance, max(1, room))
		}
		return fmt.Sprintf("flat: no curvature seen (%s); s = %d bends the sheet all the same", chance, max(1, room))
	case Held:
		return fmt.Sprintf("curvature: in %d of %d directions (%s), held back by a ridge of %.3g; %s", c.S, room, chance, c.Ridge, seen)
	case Curved:
		return fmt.Sprintf("curvature: in %d of %d directions (%s); %s", c.S, room, chance, seen)
	}
	return fmt.Sprintf("curvature: in %d directions, as given; %s", c.S, seen)
}
