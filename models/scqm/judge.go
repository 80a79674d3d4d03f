package scqm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

const (
	// The strong ridge for curvature that the rows do not support is holdPerRow times the total weight, at
	// least leastHold.
	leastHold, holdPerRow = 10, 1.0 / 30
)

// fitScreened fits with the given directions of curvature, and again where the evidence supports less. It
// leaves the number of directions of the returned fit in columns.
func fitScreened(ctx context.Context, t *screening, c Config, weight func() float64, columns *curvatures, fit func(Config) (*Fit, error)) (*Fit, error) {
	first, err := fit(c)
	if first == nil || err != nil || t == nil {
		return first, err
	}
	out, err := t.judge(ctx, first, c, weight(), func(c Config) (*Fit, error) {
		before := *columns
		if c.Linear {
			*columns = curvatures{}
		}
		defer func() { *columns = before }()
		return fit(c)
	})
	if out != nil && out != first && out.Model.Meta.Linear {
		*columns = curvatures{}
	}
	return out, err
}

// judge compares the fitted curvature with the evidence in the rows. If the automatic rule applies and they
// disagree, it refits with a strong ridge. It returns the first fit, the refit or a flat sheet, whichever predicts
// hidden entries best, but no fit that folds. weight is the total weight of the rows.
func (t *screening) judge(ctx context.Context, fit *Fit, c Config, weight float64, again func(Config) (*Fit, error)) (*Fit, error) {
	c.Options.Checkpoint = nil // belongs to the first fit
	if ctx.Err() != nil || fit.Run.Status == framework.Cancelled {
		return fit, nil
	}
	j := judgement{screening: t, again: again, fit: fit, config: c}
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

// judgement is the best fit so far, with its evidence and its error at hidden entries.
type judgement struct {
	*screening
	again  func(Config) (*Fit, error)
	fit    *Fit
	config Config
	told   CurvatureMeta
	rows   Data // rows whose entries are hidden to measure the error
	error  float64
}

// take makes a fit the best one and measures its evidence.
func (j *judgement) take(ctx context.Context, fit *Fit, c Config, verdict string) error {
	j.fit = fit
	j.told = CurvatureMeta{P: j.evidence.P, S: fit.Model.Meta.Effective, Ridge: c.ridge(), Verdict: verdict}
	x, err := j.measure(ctx, &j.told, fit.Model)
	if j.rows.N == 0 {
		j.rows = x
	}
	return err
}

// over reports whether the run is cancelled or out of time.
func (j *judgement) over() bool {
	return j.fit.Run.Status == framework.Cancelled || j.config.Options.OutOfTime()
}

// decide keeps curvature that the rows support. Otherwise it refits with a strong ridge, then replaces the fit by
// a flat sheet if that predicts hidden entries at least as well.
func (j *judgement) decide(ctx context.Context, weight float64) error {
	if j.told.Slope > keptSlope && j.told.P <= curvatureLevel || j.over() {
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
	if fit := j.refit(c); fit != nil {
		return j.take(ctx, fit, c, Flat)
	}
	return nil
}

// refit fits again. It returns nil on an error, a cancellation or a time limit: the previous fit stays.
func (j *judgement) refit(c Config) *Fit {
	fit, err := j.again(c)
	if err != nil || fit == nil || fit.Run.Status == framework.Cancelled || fit.Run.Status == framework.TimeLimit {
		return nil
	}
	return fit
}

// hold refits with a strong ridge. The refit replaces the first fit if that folds, if it predicts hidden entries
// better, or if hidden entries are not informative (telling is false). The flat sheet replaces it if that costs less.
func (j *judgement) hold(ctx context.Context, weight float64, telling bool) error {
	c := j.config
	c.Ridge = math.Max(c.ridge(), math.Max(leastHold, holdPerRow*weight))
	fit := j.refit(c)
	if fit == nil {
		return nil
	}
	held := math.Inf(1)
	if telling {
		var err error
		if held, err = fit.Model.hiddenError(ctx, j.rows, c.Seed); err != nil {
			return err
		}
	}
	if telling && j.told.Slope > foldedSlope && j.error < held {
		return nil
	}
	j.error = held
	level := c
	level.Linear = true
	if flat := j.refit(level); flat != nil && flat.Run.Cost < fit.Run.Cost {
		// The curved sheet could have been this one, at no penalty.
		return j.take(ctx, flat, level, Flat)
	}
	return j.take(ctx, fit, c, Held)
}

// measure computes the regression slope of the rows on the curvature of a model, and returns the rows with
// outliers downweighted. Missing entries are imputed by the model: imputed without curvature they would bias
// the slope downwards.
func (t *screening) measure(ctx context.Context, told *CurvatureMeta, m *Model) (Data, error) {
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
		x.X = filled(t.given.X, y)
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

// enterCurvature records the evidence for curvature. It warns if the caller has set the curvature and the sheet
// folds.
func (m *Meta) enterCurvature(c *CurvatureMeta) {
	c.Sentence = c.sentence(Config{Latent: m.Latent}.room(m.D))
	m.Evidence = c
	if c.Verdict == Given && m.CurvatureExtent > dense.Negligible && c.Slope < foldedSlope {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the sheet folds: of the curvature that it draws %.0f %% is seen in the rows; let the rule choose the curvature, or use a larger ridge", 100*math.Max(0, c.Slope)))
	}
}
