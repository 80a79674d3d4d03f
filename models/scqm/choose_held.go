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
	// choiceRows is the number of distinct rows below which none are held out, and
	// maxChoiceRows that above which others are left out.
	choiceRows, maxChoiceRows = 20, 1000
	// choiceRounds is how often the rows are dealt out to two halves.
	choiceRounds = 2
	// farEntry bounds the error of an entry, in units of the spread of its column, and
	// farRow that of a row, in units of the median under l2.
	farEntry, farRow = 3, 2
	// normalSpread is the standard deviation of a Gaussian over the median of its
	// distance from its centre, and normalMean that over the mean of it.
	normalSpread, normalMean = 1.482602218505602, 1.2533141373155003
	// efficient is where Huber's loss of an entry turns linear, in standard deviations,
	// to be 95 % efficient under Gaussian noise.
	efficient = 1.345
)

// comparison compares losses by the errors of rows held out. Whatever a row is spoilt
// by, an entry or all of it, does not decide: the error of row x is
//
//	min( sum_k min((x - f(tau))_k^2, (3 s_k)^2), 2 m ),
//
// with s_k the robust spread of column k, m the median of the sum under l2,
// and tau = argmin sum_k h((x - f(tau))_k), h the Huber loss of an entry, which turns
// linear at 1.345 times the size of the noise under l2, for all losses. Each is fitted to halves of the rows, with few iterations.
type comparison struct {
	x      Data // distinct rows, not too many, in units of their own
	unit   float64
	config Config
	bounds []float64 // D: 3 s_k
	most   float64   // the largest of them
}

// newComparison takes distinct rows without missing entries. The ridge, where rows held out are to choose it, is
// the default.
func newComparison(x Data, c Config) *comparison {
	if c.Ridge == AutoRidge {
		c.Ridge = DefaultRidge
	}
	c.Inits, c.Solver = 1, nil
	c.Options = framework.Options{
		MaxIterations: suggestLimits.MaxIterations, MinRelativeDecrease: suggestLimits.MinRelativeDecrease,
		TimeLimit: c.Options.TimeLimit, Begin: c.Options.Begin,
	}
	h := &comparison{unit: rows.WorkingUnit(x), config: c, bounds: make([]float64, x.D)}
	h.x = x.Select(shuffled(x, c.Seed)[:min(x.N, maxChoiceRows)]).InUnits(h.unit)
	for j := range h.bounds {
		h.bounds[j] = farEntry * columnSpread(h.x, j)
	}
	h.most = floats.Max(h.bounds)
	return h
}

// columnSpread is the standard deviation of column j, from the median distance from
// the median, or from the mean distance where half of the entries are equal.
func columnSpread(x Data, j int) float64 {
	entries := make([]float64, x.N)
	for i := range entries {
		entries[i] = x.Row(i)[j]
	}
	middle := median(entries)
	var mean float64
	for i, v := range entries {
		entries[i] = math.Abs(v - middle)
		mean += entries[i] / float64(x.N)
	}
	if spread := normalSpread * median(entries); spread > 0 {
		return spread
	}
	return normalMean * mean
}

// median sorts v.
func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// errors returns the error of every row under l2 and under every rival, in a unit of
// their own, the mean over rounds.
func (h *comparison) errors(ctx context.Context, rivals []rival) ([][]float64, error) {
	mean := make([][]float64, 1+len(rivals))
	for k := range mean {
		mean[k] = make([]float64, h.x.N)
	}
	for round := range uint64(choiceRounds) {
		values := make([][]float64, len(mean))
		for k := range values {
			values[k] = make([]float64, h.x.N)
		}
		for _, s := range splits(h.x, shuffled(h.x, h.config.Seed+round), 2) {
			if err := h.split(ctx, values, rivals, s); err != nil {
				return nil, err
			}
		}
		bound := farRow * median(slices.Clone(values[0]))
		for k := range mean {
			for i, v := range values[k] {
				mean[k][i] += min(v, bound) / choiceRounds
			}
		}
	}
	return mean, nil
}

// split writes the errors of the rows that are held out, of which only entries are
// bounded.
func (h *comparison) split(ctx context.Context, values [][]float64, rivals []rival, s split) error {
	learned, test := h.x.Select(s.learned), h.x.Select(s.held)
	m, err := h.fit(ctx, learned, losses.L2())
	if err != nil {
		return err
	}
	r, err := m.residuals(ctx, test, h.config.Threads)
	if err != nil {
		return err
	}
	size := entrySize(r, m.D, m.Latent)
	if !(size > 0) {
		return nil // l2 has no errors
	}
	place, err := losses.HuberEntries(efficient * normalSpread * size)
	for k := 0; err == nil; k++ {
		m.Loss = place
		if r, err = m.residuals(ctx, test, h.config.Threads); err != nil {
			break
		}
		for j, i := range s.held {
			for a, e := range r[j*test.D : (j+1)*test.D] {
				e = min(math.Abs(e), h.bounds[a]) / h.most
				values[k][i] += e * e
			}
		}
		if k == len(rivals) {
			break
		}
		var loss framework.Loss
		if loss, err = rivals[k].lossFor(size, h.unit); err == nil {
			m, err = h.fit(ctx, learned, loss)
		}
	}
	return err
}

// fit fits a model to rows.
func (h *comparison) fit(ctx context.Context, x Data, loss framework.Loss) (*Model, error) {
	c := h.config
	c.Loss = loss
	fit, err := Learn(ctx, x, c)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fit.Run.Status == framework.TimeLimit:
		return nil, errOutOfTime
	}
	return fit.Model, nil
}

// entrySize is the median size of an entry of the noise that left residuals, n x D, of
// which d directions are gone.
func entrySize(residuals []float64, D, d int) float64 {
	sizes := make([]float64, len(residuals))
	for i, e := range residuals {
		sizes[i] = math.Abs(e)
	}
	return median(sizes) * math.Sqrt(float64(D)/float64(D-d))
}

// residuals returns the residuals of rows.
func (m *Model) residuals(ctx context.Context, x Data, threads int) ([]float64, error) {
	r, err := m.Project(ctx, x, threads)
	if err != nil {
		return nil, err
	}
	floats.Sub(r, x.X)
	return r, nil
}

// verdict compares a loss with l2, the first one: the ratio of their errors, and
// whether the difference is below 0 by so many standard errors.
func (h *comparison) verdict(first, other []float64, errs float64) (ratio float64, better bool) {
	by, deviation := difference(other, first, h.x.Weights)
	base := stat.Mean(first, h.x.Weights)
	if base == 0 {
		return 1, false
	}
	return (base + by) / base, by < -errs*deviation
}

// incomparable reports whether an error says that rows held out cannot be compared, and
// not that the work is over.
func incomparable(err error) bool {
	return errors.Is(err, ErrInput) || errors.Is(err, framework.ErrNonFinite) || errors.Is(err, errOutOfTime)
}
