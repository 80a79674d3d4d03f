package scqm

import (
	"context"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

// A sheet that is free to bend bends in pure noise too, where each row has coordinates of its own to
// follow it by. So curvature is screened: the regression of the principal scores off a
// plane on the products of those in it tells whether there is any and in how many
// directions, and the slope of the rows on the curvature that the fit draws whether the
// fit found it or folds.

const (
	// clearlyBetter is the sum of squares of a plane, relative to that of the principal one, below which curvature
	// is judged off it: of planes that chance makes a little better it would seem too sure.
	clearlyBetter = 0.8
	// nearlyAsGood is the sum of squares, relative to that of the best plane, up to which others race
	// with it, so many at most: where noise is wide they tell too little.
	nearlyAsGood, racing = 1.5, 4
)

// screening is the evidence on the curvature of a fit, and the planes from which it may start.
type screening struct {
	sample   Data            // rows, with entries in place of missing ones
	given    Data            // the same, as they are
	scores   *planes.Scores  // nil where the rows span no more than d dimensions
	found    []*planes.Plane // by ascending sum of squares, the principal one among them
	seed     uint64
	evidence planes.Evidence // off the principal one, unless the first is better for sure
}

// newScreening finds the planes from which a sheet with d coordinates and s directions of curvature
// may start, and what speaks for curvature.
func newScreening(ctx context.Context, sample Data, d, s int, seed uint64) (*screening, error) {
	t := &screening{sample: sample, seed: seed, evidence: planes.Evidence{P: 1}}
	var err error
	if t.scores, err = planes.New(ctx, sample, d, s); err != nil || t.scores == nil {
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

// columns are those of the rule, with so many that there is room for. Entries in place of missing ones
// show less than all directions.
func (t *screening) columns(room int) curvatures {
	s := 0
	switch {
	case t.evidence.P > curvatureLevel:
	case t.given.Missing, room == 1:
		s = room
	default:
		s = min(max(t.evidence.Directions(t.seed), 1), room)
	}
	return curvatures{fitted: s, requested: s}
}

// starts lists the axes of the first starts, m for each, given the principal ones: planes by ascending sum of
// squares. It returns the number of starts and that of those that run to the end, 0 for as
// many as race. One start is that of the best plane; planes nearly as good race with it.
func (t *screening) starts(c Config, principal []float64, m int) (given [][]float64, count, enough int) {
	if t == nil || t.scores == nil || m == c.Latent { // a flat sheet has one minimum
		return [][]float64{principal}, max(c.Inits, 1), 0
	}
	near := 0
	for _, plane := range t.found {
		axes := t.scores.Axes(plane, m)
		if D := t.sample.D; plane.Principal {
			copy(axes, principal[:c.Latent*D])
			if m == c.Latent+c.room(D) || !dense.OrthonormalizeRows(axes, D) {
				axes = principal
			}
		}
		given = append(given, axes)
		if plane.Squares <= nearlyAsGood*t.found[0].Squares {
			near++
		}
	}
	if c.Inits > 1 {
		return given, c.Inits, 0
	}
	if c.Options.Checkpoint != nil {
		near = 1
	}
	return given, min(near, racing), 1
}
