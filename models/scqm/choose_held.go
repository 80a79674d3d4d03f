package scqm

import (
	"context"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// forHalves returns the config of fits that are only compared, of few iterations. The
// ridge, where rows held out are to choose it, is the default.
func (c Config) forHalves() Config {
	if c.Ridge == AutoRidge {
		c.Ridge = DefaultRidge
	}
	c.Inits, c.Solver = 1, nil
	c.Options = framework.Options{
		MaxIterations: suggestLimits.MaxIterations, MinRelativeDecrease: suggestLimits.MinRelativeDecrease,
		TimeLimit: c.Options.TimeLimit, Begin: c.Options.Begin,
	}
	return c
}

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
