package scqm

import (
	"context"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// heldOut compares losses by rows held out: l2 and each loss are fitted to both halves of
// the rows, and the rows of the other half have the errors of [comparison].
func (h *comparison) heldOut(ctx context.Context, rivals []*rival) ([]verdict, error) {
	if len(rivals) == 0 {
		return nil, nil
	}
	values := make([][]float64, 1+len(rivals))
	for k := range values {
		values[k] = make([]float64, h.x.N)
	}
	for _, s := range splits(h.x, shuffled(h.x, h.config.Seed), 2) {
		if err := h.half(ctx, values, rivals, s); err != nil {
			return nil, err
		}
	}
	most := farRow * median(slices.Clone(values[0]))
	for _, v := range values {
		for i := range v {
			v[i] = min(v[i], most)
		}
	}
	verdicts := make([]verdict, len(rivals))
	for k := range rivals {
		verdicts[k] = compared(values[0], values[k+1], h.x.Weights)
	}
	return verdicts, nil
}

// half writes the errors of the rows that are held out. The noise is that of l2 in them.
func (h *comparison) half(ctx context.Context, values [][]float64, rivals []*rival, s split) error {
	learned := h.x.Select(s.learned)
	test := &comparison{x: h.x.Select(s.held), unit: 1, config: h.config}
	m, err := h.learn(ctx, learned, losses.L2())
	if err != nil {
		return err
	}
	r, err := m.residuals(ctx, test.x, h.config.Threads)
	if err != nil {
		return err
	}
	size := entrySize(r, m.D, m.Latent)
	if !(size > 0) {
		return nil // l2 has no errors
	}
	if err := test.start(ctx, m, size); err != nil {
		return err
	}
	for j, i := range s.held {
		values[0][i] = test.base[j]
	}
	for k, rival := range rivals {
		loss, err := rival.lossFor(size, h.unit)
		if err == nil {
			m, err = h.learn(ctx, learned, loss)
		}
		if err == nil {
			r, err = test.placed(m).residuals(ctx, test.x, h.config.Threads)
		}
		if err != nil {
			return err
		}
		for j, e := range test.bounded(r) {
			values[k+1][s.held[j]] = e
		}
	}
	return nil
}

// learn fits a model to rows.
func (h *comparison) learn(ctx context.Context, x Data, loss framework.Loss) (*Model, error) {
	c := h.config
	c.Loss = loss
	fit, err := learnInTime(ctx, x, c)
	if err != nil {
		return nil, err
	}
	return fit.Model, nil
}

// rival is a loss to take in place of l2 if its errors on rows held out are smaller by so
// many standard errors.
type rival struct {
	loss framework.Loss
	// bySize says that it is the Huber loss of entries which turns linear at the size
	// of those of the noise.
	bySize bool
	errors float64
	reason string // for it

	fit  *Fit // by it, nil before
	fits verdict
	told string  // on that
	held verdict // on rows held out
}

// lossFor returns the loss for rows in a unit, with noise of that size.
func (r *rival) lossFor(size, unit float64) (framework.Loss, error) {
	if r.bySize {
		return losses.HuberEntries(size)
	}
	loss, _, _ := rows.Rescaled(r.loss, unit)
	return loss, nil
}

// learnInTime fits and returns errOutOfTime where the time limit ends that.
func learnInTime(ctx context.Context, x Data, c Config) (*Fit, error) {
	fit, err := Learn(ctx, x, c)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fit.Run.Status == framework.TimeLimit:
		return nil, errOutOfTime
	}
	return fit, nil
}
