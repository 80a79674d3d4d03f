package scqm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/planes"
	"github.com/scqm/scqm/solvers"
)

// A sheet that is free to bend bends in pure noise too, where each row has coordinates of its own to
// follow it by. So curvature is on trial: the regression of the principal scores off a
// plane on the products of those in it tells whether there is any and in how many
// directions, and the slope of the rows on the curvature that the fit draws whether the
// fit found it or folds.

const (
	// curvatureLevel is the probability below which a regression speaks for curvature.
	curvatureLevel = 0.01
	// keptSlope is the slope above which curvature is kept, foldedSlope that below which a sheet
	// whose curvature is given folds. Real curves have .5 to 1, folds 0 to .2.
	keptSlope, foldedSlope = 0.7, 0.3
	// leastHold is the least ridge that holds back curvature which the rows do not show, and
	// holdPerRow what it is for each row.
	leastHold, holdPerRow = 10, 1.0 / 30
	// clearlyBetter is the sum of squares of a plane, relative to that of the principal one, below which curvature
	// is judged off it: of planes that chance makes a little better it would seem too sure.
	clearlyBetter = 0.8
	// nearlyAsGood is the sum of squares, relative to that of the best plane, up to which others race
	// with it, so many at most: where noise is wide they tell too little.
	nearlyAsGood, racing = 1.5, 2
)

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
	seen := fmt.Sprintf("%.0f %% of what the sheet draws is seen", 100*math.Max(0, c.Slope))
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

// ruled reports whether the number of directions of curvature is that of the rule. The solver of
// the paper fits the model of the paper.
func (c Config) ruled() bool {
	_, published := c.Solver.(solvers.RGD)
	return c.Curvature == AutoCurvature && !c.Linear && !published
}

// trial is the evidence on the curvature of a fit, and the planes from which it may start.
type trial struct {
	sample   Data            // rows, with entries in place of missing ones
	given    Data            // the same, as they are
	scores   *planes.Scores  // nil where the rows span no more than d dimensions
	found    []*planes.Plane // by ascending sum of squares, the principal one among them
	evidence planes.Evidence // off the principal one, unless the first is better for sure
}

// newTrial finds the planes from which a sheet with d coordinates and s directions of curvature
// may start, and what speaks for curvature.
func newTrial(ctx context.Context, sample Data, d, s int, seed uint64) (*trial, error) {
	t := &trial{sample: sample, evidence: planes.Evidence{P: 1}}
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
	t.evidence = t.scores.Screen(judged, seed)
	return t, nil
}

// columns are those of the rule, with so many that there is room for. Entries in place of missing ones
// show less than all directions.
func (t *trial) columns(room int) curvatures {
	s := min(max(t.evidence.S, 1), room)
	switch {
	case t.evidence.P > curvatureLevel:
		s = 0
	case t.given.Missing:
		s = room
	}
	return curvatures{fitted: s, requested: s}
}

// starts lists the axes of the first starts, m for each, given the principal ones: planes by ascending sum of
// squares. It returns the number of starts and that of those that run to the end, 0 for as
// many as race. One start is that of the best plane; planes nearly as good race with it.
func (t *trial) starts(c Config, principal []float64, m int) (given [][]float64, count, enough int) {
	if t == nil || t.scores == nil {
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

// putOnTrial looks at the rows of a request for planes and curvature, and settles the number of
// directions where the rule does.
func (r *request) putOnTrial(ctx context.Context) error {
	c := r.config
	_, published := c.Solver.(solvers.RGD)
	if published || r.columns.fitted == 0 {
		return nil
	}
	given := planes.Sample(r.data)
	sample, err := completed(ctx, given, c.Latent, c.Loss)
	if err != nil {
		return err
	}
	if r.trial, err = newTrial(ctx, sample, c.Latent, r.columns.fitted, c.Seed); err != nil {
		return err
	}
	if r.trial.given = given; !c.ruled() {
		return nil
	}
	r.columns = r.trial.columns(r.columns.fitted)
	if note := c.overfits(r.data, r.columns.fitted); note != "" {
		r.notes = append(r.notes, note)
	}
	return nil
}

// completed returns rows with entries in place of missing ones.
func completed(ctx context.Context, x Data, d int, loss framework.Loss) (Data, error) {
	whole, err := rows.Complete(ctx, x, d, 1)
	if err == nil && forWrongEntries(loss) {
		whole = rows.DrawnIn(whole, drawnTo)
	}
	whole.Missing = false
	return whole, err
}

// fitOnTrial fits, and again where the rule wants less curvature.
func (r *request) fitOnTrial(ctx context.Context) (*Fit, error) {
	fit, err := r.fit(ctx)
	if fit == nil || err != nil || r.trial == nil {
		return fit, err
	}
	return r.trial.judge(ctx, fit, *r.config, r.data.TotalWeight(), func(c Config) (*Fit, error) {
		if c.Linear {
			r.columns = curvatures{}
		}
		by := *r
		by.config = &c
		return by.fit(ctx)
	})
}

// judge compares the curvature that a fit draws with what rows show. Where the rule decides and they do not
// agree, it fits again with a ridge that holds curvature back, and takes the one of the fits, unless it
// folds, and a flat sheet that predicts hidden entries best. weight is that of all rows.
func (t *trial) judge(ctx context.Context, fit *Fit, c Config, weight float64, again func(Config) (*Fit, error)) (*Fit, error) {
	c.Options.Checkpoint = nil // of the first fit
	if ctx.Err() != nil || fit.Run.Status == framework.Cancelled {
		return fit, nil
	}
	j := judgement{trial: t, again: again, fit: fit, config: c}
	err := j.take(ctx, fit, c, Given)
	if err == nil && c.ruled() && j.told.S > 0 {
		j.told.Verdict = Curved
		err = j.decide(ctx, weight)
	}
	if j.told.S == 0 {
		j.told.Verdict, j.told.Ridge = Flat, 0
	}
	if ctx.Err() != nil {
		run, meta := j.fit.Run, &j.fit.Model.Meta
		run.Status, run.Message = framework.Cancelled, "cancelled while the curvature was judged"
		meta.Status, meta.Message = run.Status.String(), run.Message
		return j.fit, nil
	}
	j.fit.Model.Meta.enterCurvature(&j.told)
	return j.fit, err
}

// judgement is the best fit so far, with what speaks for it and the error of hidden entries.
type judgement struct {
	*trial
	again  func(Config) (*Fit, error)
	fit    *Fit
	config Config
	told   CurvatureMeta
	rows   Data // those by which hidden entries are judged
	error  float64
}

// take makes a fit the best one.
func (j *judgement) take(ctx context.Context, fit *Fit, c Config, verdict string) error {
	j.fit = fit
	j.told = CurvatureMeta{P: j.evidence.P, S: fit.Model.Meta.Effective, Ridge: c.ridge(), Verdict: verdict}
	x, err := j.measure(ctx, &j.told, fit.Model)
	if j.rows.N == 0 {
		j.rows = x
	}
	return err
}

// over reports whether there is no time for another fit.
func (j *judgement) over() bool {
	return j.fit.Run.Status == framework.Cancelled || j.config.Options.OutOfTime()
}

// decide keeps curvature that rows show; else it holds it back, and leaves it out where a flat sheet
// predicts hidden entries as well.
func (j *judgement) decide(ctx context.Context, weight float64) error {
	if j.told.Slope > keptSlope || j.over() {
		return nil
	}
	telling := j.scores != nil && j.rows.D-j.config.Latent >= tellingDirections
	var err error
	if telling {
		if j.error, err = j.fit.Model.hiddenError(ctx, j.rows, j.config.Seed); err != nil {
			return err
		}
	}
	if err := j.hold(ctx, weight, telling); err != nil || !telling || j.over() {
		return err
	}
	flat, err := j.flat(j.config.Latent).hiddenError(ctx, j.rows, j.config.Seed)
	if err != nil || j.error < flat {
		return err
	}
	c := j.config
	c.Linear = true
	fit, err := j.again(c)
	if fit == nil || err != nil {
		return err
	}
	return j.take(ctx, fit, c, Flat)
}

// hold fits with a ridge that holds curvature back, and takes that where the sheet folds, or hidden
// entries do not tell, or where it predicts them better.
func (j *judgement) hold(ctx context.Context, weight float64, telling bool) error {
	c := j.config
	c.Ridge = math.Max(c.ridge(), math.Max(leastHold, holdPerRow*weight))
	fit, err := j.again(c)
	if fit == nil || err != nil {
		return err
	}
	held := math.Inf(1)
	if telling {
		if held, err = fit.Model.hiddenError(ctx, j.rows, c.Seed); err != nil {
			return err
		}
	}
	if telling && j.told.Slope > foldedSlope && j.error < held {
		return nil
	}
	j.error = held
	return j.take(ctx, fit, c, Held)
}

// measure finds the slope of rows on the curvature of a model, and returns the rows, those far off the sheet
// weighed down. Missing entries are those of the model: from entries without curvature rows
// would show less than they have.
func (t *trial) measure(ctx context.Context, told *CurvatureMeta, m *Model) (Data, error) {
	x := t.sample
	told.Slope, told.Share = 0, 0
	if told.S == 0 {
		return x, nil
	}
	if t.given.Missing {
		y, err := m.Project(ctx, t.given, 1)
		if err != nil {
			return x, err
		}
		x.X = slices.Clone(t.given.X)
		for k, v := range x.X {
			if v != v {
				x.X[k] = y[k]
			}
		}
	}
	by := *m
	by.Loss, by.Tau, by.Meta = losses.SquaredL2(), nil, Meta{}
	y, err := by.Project(ctx, x, 1)
	if err != nil {
		return x, err
	}
	squares := rowDistances(x, y)
	floats.Mul(squares, squares)
	x = planes.Near(x, squares)
	axes := make([]float64, (m.Latent+m.Curvature)*m.D)
	dense.Transpose(axes, m.U, m.D, m.Latent)
	dense.Transpose(axes[m.Latent*m.D:], m.V, m.D, m.Curvature)
	slope := planes.SlopeOf(x, m.C, axes, m.Theta, m.Latent)
	told.Slope, told.Share = slope.Slope, slope.Share
	return x, nil
}

// enterCurvature enters what speaks for the curvature, with a warning where a sheet whose curvature is
// given folds.
func (m *Meta) enterCurvature(c *CurvatureMeta) {
	c.Sentence = c.sentence(Config{Latent: m.Latent}.room(m.D))
	m.Trial = c
	if c.Verdict == Given && c.S > 0 && c.Slope < foldedSlope {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the sheet folds: of the curvature that it draws %.0f %% is seen in the rows; let the rule choose the curvature (-s auto), or use a larger ridge", 100*math.Max(0, c.Slope)))
	}
}
