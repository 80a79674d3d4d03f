package scqm

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

const (
	// choiceRows is the number of distinct rows below which losses are not compared, and
	// maxChoiceRows that above which others are left out.
	choiceRows, maxChoiceRows = 20, 1000
	// farRow bounds the error of a row, in units of the median under l2.
	farRow = 2
	// decisive is by how many standard errors one of two fits must be better for that
	// alone to decide.
	decisive = 2
)

// comparison compares fits to the same rows by errors of which no entry and no row has
// much: the error of row x is
//
//	min( sum_k min((x - f(tau))_k^2, (4 s_k)^2), 2 m ),
//
// with s_k the noise of column k and m the median of the sum, both under l2 (see
// [noiseSpreads]), and tau = argmin sum_k h((x - f(tau))_k), h the Huber loss of an
// entry, which turns linear at 1.345 times the size of the noise under l2, for all
// losses. A sheet that has been bent towards a spoilt entry gains 16 s_k^2 at most by
// that, and loses in other rows. So robust estimates choose among solutions: that of
// the least bounded scale.
//
// Source: P. J. Rousseeuw, V. Yohai, Robust regression by means of S-estimators, Lecture
// Notes in Statistics 26 (1984).
type comparison struct {
	x      Data // distinct rows, not too many, in units of their own
	unit   float64
	size   float64 // of the entries of the noise in all rows, in the unit of the caller
	config Config  // of fits to parts of the rows
	place  framework.Loss
	bounds []float64 // D: 4 s_k
	far    outliers
	base   []float64 // the errors under l2, and the bound for those of rows
	most   float64
}

// newComparison compares fits with f, which is by l2 and left these residuals of the rows
// x. It is nil where the rows are too few or lie on the sheet.
func (f *Fit) newComparison(ctx context.Context, x Data, residuals []float64, c Config) (*comparison, error) {
	r := request{data: x, config: &c}
	defer r.release()
	if _, err := (mergeRows{}).apply(&r); err != nil {
		return nil, err
	}
	m := f.Model
	if r.data.N < choiceRows || m.D == m.Latent {
		return nil, nil
	}
	h := &comparison{unit: rows.WorkingUnit(r.data), size: entrySize(residuals, m.D, m.Latent), config: c.forHalves()}
	if !(h.size > 0) {
		return nil, nil
	}
	h.x = r.data.Select(shuffled(r.data, c.Seed)[:min(r.data.N, maxChoiceRows)]).InUnits(h.unit)
	if err := h.start(ctx, m, h.size/h.unit); err != nil {
		return nil, err
	}
	h.most = farRow * median(slices.Clone(h.base))
	for i, v := range h.base {
		h.base[i] = min(v, h.most)
	}
	return h, nil
}

// start sets the bounds and the errors of l2, those of rows not bounded yet, given the
// size of entries in the units of the rows.
func (h *comparison) start(ctx context.Context, m *Model, size float64) error {
	var err error
	if h.place, err = losses.HuberEntries(efficient * normalSpread * size); err != nil {
		return err
	}
	r, err := h.placed(m).residuals(ctx, h.x, h.config.Threads)
	if err != nil {
		return err
	}
	h.far = countOutliers(r, m.D, m.Latent)
	h.bounds = noiseSpreads(r, m.D, m.Latent)
	floats.Scale(outlying, h.bounds)
	h.most = math.Inf(1)
	h.base = h.bounded(r)
	return nil
}

// placed returns the model in the units of the rows, with the loss that places them.
func (h *comparison) placed(m *Model) *Model {
	by := *m
	by.Loss = h.place
	by.C, by.Theta, by.Tau = slices.Clone(m.C), slices.Clone(m.Theta), slices.Clone(m.Tau)
	floats.Scale(1/h.unit, by.C)
	floats.Scale(h.unit, by.Theta)
	floats.Scale(1/h.unit, by.Tau)
	return &by
}

// bounded returns the errors of rows with these residuals.
func (h *comparison) bounded(r []float64) []float64 {
	D := h.x.D
	values := make([]float64, len(r)/D)
	for k, e := range r {
		e = min(math.Abs(e), h.bounds[k%D])
		values[k/D] += e * e
	}
	for i := range values {
		values[i] = min(values[i], h.most)
	}
	return values
}

// against compares a model of the rows with that of l2.
func (h *comparison) against(ctx context.Context, m *Model) (verdict, error) {
	r, err := h.placed(m).residuals(ctx, h.x, h.config.Threads)
	if err != nil {
		return verdict{}, err
	}
	return compared(h.base, h.bounded(r), h.x.Weights), nil
}

// verdict is what comes of comparing errors with those of l2: the ratio of their means,
// and the difference in its standard errors, below 0 where l2 has the larger ones.
type verdict struct{ ratio, errors float64 }

func compared(first, other, weights []float64) verdict {
	mean := stat.Mean(first, weights)
	by, deviation := difference(other, first, weights)
	if by == 0 || mean == 0 {
		return verdict{1, 0}
	}
	return verdict{(mean + by) / mean, by / deviation}
}

// incomparable reports whether an error says that losses cannot be compared, and
// not that the work is over.
func incomparable(err error) bool {
	return errors.Is(err, ErrInput) || errors.Is(err, framework.ErrNonFinite) || errors.Is(err, errOutOfTime)
}

// forHalves returns the config of fits that are only compared, of few iterations. The
// ridge, where rows held out are to choose it, is the default.
func (c Config) forHalves() Config {
	if c.Ridge == AutoRidge {
		c.Ridge = DefaultRidge
	}
	c.Inits, c.Solver = 1, nil
	c.Options = framework.Options{
		MaxIterations: comparedLimits.MaxIterations, MinRelativeDecrease: comparedLimits.MinRelativeDecrease,
		TimeLimit: c.Options.TimeLimit, Begin: c.Options.Begin,
	}
	return c
}
