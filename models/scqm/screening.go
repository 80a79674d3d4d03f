package scqm

import (
	"context"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

// Curvature fits pure noise too, as each row has latent coordinates of its own. So it is
// screened: the regression of the principal scores off a
// plane on the products of the scores in the plane tests for curvature and for its number of
// directions; the regression slope of the rows on the fitted curvature tells whether the
// fit found it or the sheet folds.

const (
	// clearlyBetter is a ratio of sums of squares. In the test for curvature, a plane replaces the principal plane if
	// its sum of squares is below this fraction. The p-value of planes that are better by chance would be too small.
	clearlyBetter = 0.8
	// nearlyAsGood bounds the sum of squares of further start planes, relative to that of the best plane. racing
	// bounds their number, because sums of squares are not informative in wide noise.
	nearlyAsGood, racing = 1.5, 4
)

// screening holds the evidence for curvature in some rows of a fit, and the planes from which fits start.
type screening struct {
	sample   Data            // rows with imputed missing entries
	given    Data            // the same rows before imputation
	scores   *planes.Scores  // nil where the rows span no more than d dimensions
	found    []*planes.Plane // by ascending sum of squares, with the principal plane among them
	seed     uint64
	learn    learner         // settings of the cross-validation
	evidence planes.Evidence // at the principal plane, unless the first plane is better by clearlyBetter
}

// newScreening finds start planes for a sheet with d latent dimensions and s directions of curvature, and tests for
// curvature. sample has imputed rows, and given the same rows before imputation. Both are sorted by their values: the
// test draws a sign for each row, and its result must not depend on the order of the table.
func newScreening(ctx context.Context, given, sample Data, d, s int, seed uint64) (*screening, error) {
	order := planes.Order(sample)
	t := &screening{sample: sample.Select(order), seed: seed, evidence: planes.Evidence{P: 1}}
	if t.given = t.sample; given.Missing {
		t.given = given.Select(order)
	}
	var err error
	if t.scores, err = planes.New(ctx, t.sample, d, s); err != nil || t.scores == nil {
		return t, err
	}
	if t.found, err = t.scores.Search(ctx, d+s, d, seed); err != nil {
		return nil, err
	}
	judged := t.found[0]
	for _, p := range t.found {
		if p.Principal && judged.Squares >= clearlyBetter*p.Squares {
			judged = p
		}
	}
	t.evidence = t.scores.Screen(judged)
	return t, nil
}

// columns returns the number of directions of curvature to fit, at most room. It is 0 if the test finds no curvature.
// It is room if entries were missing, as imputed rows show too few directions.
func (t *screening) columns(room int) int {
	switch {
	case t.evidence.P > curvatureLevel:
		return 0
	case t.given.Missing, room == 1:
		return room
	}
	return min(max(t.evidence.Directions(t.seed), 1), room)
}

// starts lists the axes, m each, of the first starts: the planes by ascending sum of squares, with the principal axes
// for the principal plane. count is the number of starts. enough is the number of starts that run to the end, 0 for
// the default of successive halving. If one start is requested, all nearly equal planes compete.
func (t *screening) starts(c Config, principal []float64, m int) (given [][]float64, count, enough int) {
	if t == nil || t.scores == nil || m == c.Latent { // a flat sheet has one minimum
		return [][]float64{principal}, max(c.Inits, 1), 0
	}
	for _, plane := range t.found {
		if c.Inits <= 1 && len(given) > 0 && (len(given) == racing || c.Options.Checkpoint != nil || plane.Squares > nearlyAsGood*t.found[0].Squares) {
			break
		}
		axes := t.scores.Axes(plane, m)
		if D := t.sample.D; plane.Principal {
			copy(axes, principal[:c.Latent*D])
			if m == c.Latent+c.room(D) || !dense.OrthonormalizeRows(axes, D) {
				axes = principal
			}
		}
		given = append(given, axes)
	}
	if c.Inits > 1 {
		return given, c.Inits, 0
	}
	return given, len(given), 1
}
