package bindings

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// manyFits holds the settings and results of a job that does many fits.
type manyFits struct {
	fitSettings
	sets []scqm.Data
	fits []*scqm.Fit
}

// manyOf fits a model to each of several sets of rows. data holds the sets one after the other;
// lengths holds their numbers of rows. [Wait] reports the completed fraction, as for denoising. The
// report holds the reports of the fits; each array holds theirs, concatenated. v and theta are padded
// with columns of zeros to width columns.
func manyOf(in *input) work {
	var s struct {
		fitSettings
		Lengths []int `json:"lengths"`
		Width   int   `json:"width"`
	}
	in.decode(&s)
	if s.Python || s.Loss.Name == lossAuto {
		in.note(fmt.Errorf("many fits by a solver of one's own, or a loss to be chosen: %w", framework.ErrInvalid))
	}
	in.loss(&s.Loss)
	m := &manyFits{fitSettings: s.fitSettings}
	in.note(m.cut(in.data(), s.Lengths))
	return func(j *job) (*outcome, error) {
		if err := m.fit(j); err != nil {
			return nil, err
		}
		return m.outcome(s.Width)
	}
}

// cut divides the rows into sets with the given lengths.
func (m *manyFits) cut(all scqm.Data, lengths []int) error {
	first := 0
	for i, n := range lengths {
		if n < 0 || n > all.N-first {
			return fmt.Errorf("fit %d of %d rows: %w", i, n, framework.ErrInvalid)
		}
		lo, hi := first, first+n
		set := scqm.Data{N: n, D: all.D, X: all.X[lo*all.D : hi*all.D : hi*all.D]}
		if all.Weights != nil {
			set.Weights = all.Weights[lo:hi:hi]
		}
		m.sets, first = append(m.sets, set), hi
	}
	return nil
}

func (m *manyFits) fit(j *job) error {
	many, err := m.many(j)
	if err != nil {
		return err
	}
	m.fits = make([]*scqm.Fit, len(m.sets))
	var done atomic.Int64
	show := j.part()
	err = many.Each(j.ctx, m.sets, func(i int, fit *scqm.Fit) error {
		show(float64(done.Add(1)) / float64(len(m.sets)))
		m.fits[i] = fit
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return j.ctx.Err()
	}
	return err
}

func (m *manyFits) many(j *job) (many scqm.Many, err error) {
	if many.Config, err = m.config(j); err != nil {
		return many, err
	}
	many.Options.Observers = nil
	if m.Loss.asksData() {
		config := many.Config
		many.LossOf = func(x scqm.Data) (framework.Loss, error) { return m.Loss.buildFor(j, x, config) }
		return many, nil
	}
	many.Loss, err = m.Loss.build(j)
	return many, err
}

func (m *manyFits) outcome(width int) (*outcome, error) {
	reports := make([]scqm.Meta, len(m.fits))
	var c, u, v, theta, tau []float64
	for i, fit := range m.fits {
		f := fit.Model
		if f.Curvature > width {
			return nil, fmt.Errorf("%d columns of V, not %d: %w", f.Curvature, width, framework.ErrInvalid)
		}
		reports[i] = reportOf(f)
		c, u, tau = append(c, f.C...), append(u, f.U...), append(tau, f.Tau...)
		v = widen(v, f.V, f.D, f.Curvature, width)
		theta = widen(theta, f.Theta, f.Latent*(f.Latent+1)/2, f.Curvature, width)
	}
	return &outcome{report: reports, arrays: map[string][]float64{"c": c, "u": u, "v": v, "theta": theta, "tau": tau}}, nil
}

// widen appends rows of length have, each followed by zeros up to length want.
func widen(to, from []float64, rows, have, want int) []float64 {
	for i := range rows {
		to = append(append(to, from[i*have:(i+1)*have]...), make([]float64, want-have)...)
	}
	return to
}
