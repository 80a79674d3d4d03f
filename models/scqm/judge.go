package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

const (
	// tellingDirections is the codimension D - d below which hidden entries are not informative.
	tellingDirections = 3
	// The strong ridge, for curvature that the rows do not support, is holdPerRow times the total weight, and at
	// least leastHold.
	leastHold, holdPerRow = 10, 1.0 / 30
)

// fitScreened fits with the given number of directions of curvature. It fits again if the evidence supports fewer. It
// sets columns to the number of directions of the returned fit.
func fitScreened(ctx context.Context, t *screening, c Config, weight func() float64, columns *int, fit func(Config) (*Fit, error)) (*Fit, error) {
	first, err := fit(c)
	if first == nil || err != nil || t == nil {
		return first, err
	}
	out, err := t.judge(ctx, first, c, weight(), func(c Config) (*Fit, error) {
		before := *columns
		if c.Linear {
			*columns = 0
		}
		defer func() { *columns = before }()
		return fit(c)
	})
	if out != nil && out != first && out.Model.Meta.Linear {
		*columns = 0
	}
	return out, err
}

// judge compares the fitted curvature with the evidence in the rows. If the automatic rule applies and they disagree,
// it compares the fit with a refit with a strong ridge and a flat sheet. It keeps the one that predicts hidden
// entries of held-out rows best. weight is the total weight of the rows.
func (t *screening) judge(ctx context.Context, fit *Fit, c Config, weight float64, again func(Config) (*Fit, error)) (*Fit, error) {
	c.Options.Checkpoint = nil // belongs to the first fit
	if fit.Run.Status == framework.Cancelled {
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
		j.fit.cancel("cancelled while the curvature was judged")
		return j.fit, nil
	}
	j.fit.Model.Meta.enterCurvature(&j.told)
	return j.fit, err
}

// judgement is the best fit so far, with its evidence.
type judgement struct {
	*screening
	again  func(Config) (*Fit, error)
	fit    *Fit
	config Config
	told   CurvatureMeta
	rows   Data // rows of the cross-validation
}

// take stores a fit as the best so far, and measures the evidence for its curvature.
func (j *judgement) take(ctx context.Context, fit *Fit, c Config, verdict string) error {
	j.fit = fit
	j.told = CurvatureMeta{P: j.evidence.P, S: fit.Model.Meta.Curvature, Ridge: c.ridge(), Verdict: verdict}
	x, err := j.measure(ctx, &j.told, fit.Model)
	if j.rows.N == 0 {
		j.rows = x
	}
	return err
}

// over reports whether the fit is cancelled or out of time.
func (j *judgement) over() bool {
	return j.fit.Run.Status == framework.Cancelled || j.config.Options.OutOfTime()
}

// decide keeps the curvature if the rows clearly support it. Otherwise it replaces the fit by that of the best verdict
// of the three.
func (j *judgement) decide(ctx context.Context, weight float64) error {
	if j.told.Slope > keptSlope || j.over() {
		return nil
	}
	best, err := j.verdict(ctx)
	if err != nil || best == Curved {
		return err
	}
	c := j.as(best, weight)
	if fit := j.refit(c); fit != nil {
		return j.take(ctx, fit, c, best)
	}
	return nil
}

// verdict chooses by cross-validation between the fit, a fit with a strong ridge, and a flat sheet. It does not
// choose a fit that folds. If hidden entries are not informative, it chooses the strong ridge. If time or memory do
// not allow a comparison, it keeps the fit.
func (j *judgement) verdict(ctx context.Context) (best string, err error) {
	if j.rows.D-j.config.Latent < tellingDirections || j.rows.N < ridgeRows {
		return Held, nil
	}
	least := math.Inf(1)
	for _, v := range []string{Flat, Held, Curved} {
		if v == Curved && j.told.Slope <= foldedSlope {
			continue
		}
		e, err := j.heldOutError(ctx, v)
		if errors.Is(err, errOutOfTime) || errors.Is(err, ErrMemory) {
			return Curved, nil
		}
		if err != nil {
			return "", err
		}
		if e < least {
			best, least = v, e
		}
	}
	return best, nil
}

// as returns the configuration that leads to a verdict, for rows of this total weight.
func (j *judgement) as(verdict string, weight float64) Config {
	c := j.config
	switch verdict {
	case Flat:
		c.Linear = true
	case Held:
		c.Ridge = math.Max(c.ridge(), math.Max(leastHold, holdPerRow*weight))
	}
	return c
}

// heldOutError returns the squared error at hidden entries of squared_l2 fits to the rows under cross-validation.
// Outliers are downweighted.
func (j *judgement) heldOutError(ctx context.Context, verdict string) (float64, error) {
	x := j.rows
	x.Missing = false
	c := j.as(verdict, x.TotalWeight()/ridgeFolds)
	c.Loss, c.IgnoreMissing, c.Curvature = losses.SquaredL2(), false, j.told.S
	return crossValidate(ctx, x, folds(x, rows.Shuffled(x, c.Seed), ridgeFolds), c, j.learn)
}

// refit fits again with the settings c. It returns nil on an error, a cancellation or a time limit.
func (j *judgement) refit(c Config) *Fit {
	fit, err := j.again(c)
	if err != nil || fit == nil || fit.Run.Status == framework.Cancelled || fit.Run.Status == framework.TimeLimit {
		return nil
	}
	return fit
}

// measure computes the regression slope of the rows on the curvature of a model, and returns the rows with outliers
// downweighted. The model imputes missing entries; imputation without curvature would bias the slope downwards.
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

// enterCurvature records the evidence for curvature. It adds a warning if the sheet folds and the caller has set the
// number of directions.
func (m *Meta) enterCurvature(c *CurvatureMeta) {
	c.Sentence = c.sentence(Config{Latent: m.Latent}.room(m.D))
	m.Evidence = c
	if c.Verdict == Given && m.CurvatureExtent > dense.Negligible && c.Slope < foldedSlope {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the sheet folds: of the curvature that it draws %.0f %% is seen in the rows; let the rule choose the curvature, or use a larger ridge", 100*math.Max(0, c.Slope)))
	}
}
