package scqm

import (
	"fmt"
	"math"
)

// curvatureLevel is the probability below which a regression speaks for curvature.
const curvatureLevel = 0.01

// Verdicts on curvature.
const (
	Curved = "curved" // rows show the curvature that the sheet draws
	Held   = "held"   // rows bend, but the sheet did more: a larger ridge holds it back
	Flat   = "flat"   // rows do not bend, the sheet is flat
	Given  = "given"  // the number of directions was given
)

// CurvatureMeta says what speaks for the curvature of a fit.
type CurvatureMeta struct {
	// P is the probability of rows bending as much by chance, 1 where that was not asked.
	P float64 `json:"p"`
	// S is the number of directions that the sheet bends in.
	S int `json:"s"`
	// Slope is sum drawn seen / sum drawn^2 over rows, of the curvature that the sheet draws
	// at U'(x - c) and of what rows show in V'(x - c): 1 where they agree, about 0 for folds.
	Slope float64 `json:"slope"`
	// Share is the part of the variance off the plane, in the directions of curvature, that is drawn.
	Share   float64 `json:"share"`
	Ridge   float64 `json:"ridge"`
	Verdict string  `json:"verdict"`
	// Sentence says so.
	Sentence string `json:"sentence"`
}

// sentence says what speaks for the curvature of a sheet that could bend in so many directions.
func (c *CurvatureMeta) sentence(room int) string {
	chance := fmt.Sprintf("p = %.2g", c.P)
	if c.P < 1e-9 {
		chance = "p < 1e-9"
	}
	seen := fmt.Sprintf("%.0f %% of what the sheet draws is seen", 100*math.Min(1, math.Max(0, c.Slope)))
	switch c.Verdict {
	case Flat:
		if c.P <= curvatureLevel {
			return fmt.Sprintf("flat: rows are not symmetric (%s), but a curved sheet predicts hidden entries no better; -s %d bends the sheet all the same", chance, max(1, room))
		}
		return fmt.Sprintf("flat: no curvature seen (%s); -s %d bends the sheet all the same", chance, max(1, room))
	case Held:
		return fmt.Sprintf("curvature: in %d of %d directions (%s), held back by a ridge of %.3g, as a looser sheet folds; %s", c.S, room, chance, c.Ridge, seen)
	case Curved:
		return fmt.Sprintf("curvature: in %d of %d directions (%s); %s", c.S, room, chance, seen)
	}
	return fmt.Sprintf("curvature: in %d directions, as given; %s", c.S, seen)
}
