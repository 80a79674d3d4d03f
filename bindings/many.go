package bindings

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// manyFits is a job of many fits.
type manyFits struct {
	fitSettings
	sets  []scqm.Data
	first []int // rows before each set, and of all of them
	fits  []*scqm.Fit
}

// StartFitMany begins to fit models to sets of rows, which are one after the other in x
// and as long as lengths says, a list of so many numbers of 8 bytes. There is one weight
// for each row of all sets at weights (0: all 1). The settings are those of [StartFit].
// The part of the fits that is done is shown as by denoising. It returns 1.
func StartFitMany(number int64, settings string, x, lengths uint64, sets, columns int64, weights, precision uint64) (int64, error) {
	return guarded("many fits", func() (int64, error) {
		m := &manyFits{}
		if err := decode(settings, &m.fitSettings); err != nil {
			return 0, err
		}
		if m.Python || m.Loss.Name == lossAuto {
			return 0, fmt.Errorf("many fits by a solver of one's own, or a loss to be chosen: %w", framework.ErrInvalid)
		}
		if err := m.read(x, lengths, sets, columns, weights); err != nil {
			return 0, err
		}
		return start(number, "many fits", func(j *job) (any, error) { return m, m.fit(j, precision) })
	})
}

// read cuts x into sets.
func (m *manyFits) read(x, lengths uint64, sets, columns int64, weights uint64) error {
	counts, err := addressList("lengths", lengths, int(sets))
	if err != nil {
		return err
	}
	m.first = make([]int, len(counts)+1)
	for i, n := range counts {
		if n > 1<<40 || m.first[i] > 1<<40 {
			return fmt.Errorf("fit %d of %d rows: %w", i, n, framework.ErrInvalid)
		}
		m.first[i+1] = m.first[i] + int(n)
	}
	all, err := readData(x, int64(m.first[len(counts)]), columns, weights)
	if err != nil {
		return err
	}
	m.sets = make([]scqm.Data, len(counts))
	for i := range m.sets {
		lo, hi := m.first[i], m.first[i+1]
		m.sets[i] = scqm.Data{N: hi - lo, D: all.D, X: all.X[lo*all.D : hi*all.D : hi*all.D]}
		if all.Weights != nil {
			m.sets[i].Weights = all.Weights[lo:hi:hi]
		}
	}
	return nil
}

func (m *manyFits) fit(j *job, precision uint64) error {
	many, err := m.many(j, precision)
	if err != nil {
		return err
	}
	m.fits = make([]*scqm.Fit, len(m.sets))
	var done atomic.Int64
	began := time.Now()
	err = many.Each(j.ctx, m.sets, func(i int, fit *scqm.Fit) error {
		n := done.Add(1)
		j.progress.Store(&framework.Record{Iteration: int(n), Cost: float64(n) / float64(len(m.sets)), Elapsed: time.Since(began)})
		m.fits[i] = fit
		return nil
	})
	if errors.Is(err, context.Canceled) {
		return j.ctx.Err()
	}
	return err
}

func (m *manyFits) many(j *job, precision uint64) (many scqm.Many, err error) {
	if many.Config, err = m.config(j); err != nil {
		return many, err
	}
	many.Options.Observers = nil
	if m.Loss.asksData() {
		config := many.Config
		many.LossOf = func(x scqm.Data) (framework.Loss, error) { return m.Loss.buildFor(j, precision, x, config) }
		return many, nil
	}
	many.Loss, err = m.Loss.build(j, precision)
	return many, err
}

// FitManyReport describes the result of such a job as a JSON list of reports as in
// [FitReport].
func FitManyReport(number int64) (string, error) {
	return onResult("report on many fits", number, func(m *manyFits) (string, error) {
		reports := make([]fitReport, len(m.fits))
		for i, fit := range m.fits {
			reports[i] = reportOf(fit)
		}
		return encode(reports)
	})
}

// FitManyArrays copies the result of such a job to the destinations c (sets x D), U (sets x D x d),
// V (sets x D x s), Theta (sets x q x s) and tau (d for each row of all sets). Where a fit has fewer
// directions of curvature than s, the other columns of V and Theta are left as they are.
func FitManyArrays(number, s int64, c, u, v, theta, tau uint64) (int64, error) {
	return withJob("arrays of many fits", number, func(j *job) (int64, error) {
		m, err := resultOf[*manyFits](j)
		if err != nil || len(m.fits) == 0 {
			return 1, err
		}
		sets, all, f := int64(len(m.sets)), int64(m.first[len(m.sets)]), m.fits[0].Model
		D, d := int64(f.D), int64(f.Latent)
		var to [5][]float64
		for k, a := range []struct {
			what    string
			address uint64
			shape   []int64
		}{
			{"c", c, []int64{sets, D}}, {"U", u, []int64{sets, D, d}}, {"V", v, []int64{sets, D, s}},
			{"Theta", theta, []int64{sets, d * (d + 1) / 2, s}}, {"tau", tau, []int64{all, d}},
		} {
			n, err := product(a.what, a.shape...)
			if err != nil {
				return 0, err
			}
			if to[k], err = view(a.what, a.address, n); err != nil {
				return 0, err
			}
		}
		for i, fit := range m.fits {
			f := fit.Model
			if f.Curvature > int(s) {
				return 0, fmt.Errorf("%d columns of V, not %d: %w", f.Curvature, s, framework.ErrInvalid)
			}
			copy(to[0][i*f.D:], f.C)
			copy(to[1][i*len(f.U):], f.U)
			widen(to[2], i*f.D, f.V, f.Curvature, int(s))
			widen(to[3], i*(f.Latent+1)*f.Latent/2, f.Theta, f.Curvature, int(s))
			copy(to[4][m.first[i]*f.Latent:], f.Tau)
		}
		return 1, nil
	})
}

// widen copies rows of length have to the first columns of rows of length want, from row first on.
func widen(to []float64, first int, from []float64, have, want int) {
	for i := 0; i*have < len(from); i++ {
		copy(to[(first+i)*want:], from[i*have:(i+1)*have])
	}
}
