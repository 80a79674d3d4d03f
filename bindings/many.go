package bindings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// manySettings are the settings of [StartFitMany].
type manySettings struct {
	fitSettings
	// Rough is that of scqm.Many.
	Rough bool `json:"rough"`
	// Columns is the number s of columns of V that are delivered.
	Columns int64 `json:"columns"`
}

// The arrays that [StartFitMany] writes, in the order of their addresses.
const (
	manyC = iota
	manyU
	manyV
	manyTheta
	manyTau
	manyMean
	manyExplained
	manyNumbers
	manyArrays // their number
)

// manyColumns is the number of columns of the array of numbers: objective, penalty,
// mean_loss, ridge, curvature_extent, iterations, evaluations, s_effective, and four
// numbers each of kkt and of stationarity, for c, Q, Theta and tau.
const manyColumns = 16

// manyReport describes one fit in words.
type manyReport struct {
	Status   string         `json:"status"`
	Message  string         `json:"message"`
	Solver   string         `json:"solver"`
	Notes    []string       `json:"notes,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
	Loss     *scqm.LossMeta `json:"loss,omitempty"`
}

// manyFits is a job of many fits.
type manyFits struct {
	manySettings
	sets   []scqm.Data
	first  []int // rows before each set, and of all of them
	arrays [manyArrays][]float64

	reports []manyReport
	common  scqm.Meta // what all fits have in common, and some numbers of the first
}

// StartFitMany begins to fit models to sets of rows, which are one after the other in x
// and as long as lengths says, a list of so many numbers of 8 bytes. There is one weight
// for each row of all sets at weights (0: all 1). The settings are those of [StartFit],
// with rough, and columns, the number s of columns of V. Parts is the address of 8
// addresses of destinations: c (sets x D), U (sets x D x d), V (sets x D x s), Theta (sets
// x q x s), tau (d for each row of all sets), mean (sets x D), explained_variance_ratio (sets
// x d), with NaN where there is none, and numbers (sets x 16). The part of the
// fits that is done is shown as by denoising. It returns 1.
func StartFitMany(number int64, settings string, x, lengths uint64, sets, columns int64, weights, precision, parts uint64) (int64, error) {
	return guarded("many fits", func() (int64, error) {
		m := &manyFits{}
		if err := decode(settings, &m.manySettings); err != nil {
			return 0, err
		}
		if m.Python || m.Loss.Name == lossAuto {
			return 0, fmt.Errorf("many fits by a solver of one's own, or a loss to be chosen: %w", framework.ErrInvalid)
		}
		if err := m.read(x, lengths, sets, columns, weights); err != nil {
			return 0, err
		}
		if err := m.destinations(parts, columns); err != nil {
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

// destinations views what the fits are written to.
func (m *manyFits) destinations(parts uint64, D int64) error {
	addresses, err := addressList("parts", parts, manyArrays)
	if err != nil {
		return err
	}
	sets, all, d, s := int64(len(m.sets)), int64(m.first[len(m.sets)]), int64(m.Latent), m.Columns
	q := d * (d + 1) / 2
	for k, a := range [manyArrays]struct {
		what    string
		lengths []int64
	}{
		{"c", []int64{sets, D}}, {"U", []int64{sets, D, d}}, {"V", []int64{sets, D, s}},
		{"Theta", []int64{sets, q, s}}, {"tau", []int64{all, d}}, {"mean", []int64{sets, D}},
		{"explained_variance_ratio", []int64{sets, d}}, {"numbers", []int64{sets, manyColumns}},
	} {
		n, err := product(a.what, a.lengths...)
		if err != nil {
			return err
		}
		if m.arrays[k], err = view(a.what, addresses[k], n); err != nil {
			return err
		}
	}
	return nil
}

func (m *manyFits) fit(j *job, precision uint64) error {
	many, err := m.many(j, precision)
	if err != nil {
		return err
	}
	m.reports = make([]manyReport, len(m.sets))
	var done atomic.Int64
	began := time.Now()
	err = many.Each(j.ctx, m.sets, func(i int, fit *scqm.Fit) error {
		n := done.Add(1)
		j.progress.Store(&framework.Progress{Iteration: int(n), Cost: float64(n) / float64(len(m.sets)), Elapsed: time.Since(began)})
		return m.take(i, fit)
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
	many.Options.Observers, many.Rough = nil, m.Rough
	if m.Loss.asksData() {
		config := many.Config
		many.LossOf = func(x scqm.Data) (framework.Loss, error) { return m.Loss.buildFor(j, precision, x, config) }
		return many, nil
	}
	many.Loss, err = m.Loss.build(j, precision)
	return many, err
}

// take writes a fit to the destinations.
func (m *manyFits) take(i int, fit *scqm.Fit) error {
	f, meta := fit.Model, &fit.Model.Meta
	if f.Curvature != int(m.Columns) {
		return fmt.Errorf("%d columns of V, not %d: %w", f.Curvature, m.Columns, framework.ErrInvalid)
	}
	for k, from := range [...][]float64{f.C, f.U, f.V, f.Theta} {
		copy(m.arrays[k][i*len(from):(i+1)*len(from)], from)
	}
	copy(m.arrays[manyTau][m.first[i]*f.Latent:], f.Tau)
	m.fill(manyMean, i, f.D, meta.Mean)
	m.fill(manyExplained, i, f.Latent, meta.Explained)
	numbers := m.arrays[manyNumbers][i*manyColumns : (i+1)*manyColumns]
	copy(numbers, []float64{
		meta.Objective, meta.Penalty, meta.MeanLoss, meta.Ridge, meta.CurvatureExtent,
		float64(meta.Iterations), float64(meta.Evaluations), float64(meta.Effective),
	})
	if k := meta.KKT; k != nil {
		copy(numbers[8:], []float64{k.C, k.Q, k.Theta, k.Tau})
	}
	copy(numbers[12:], meta.Stationarity)
	m.reports[i] = manyReport{Status: meta.Status, Message: meta.Message, Solver: meta.Solver, Notes: meta.Notes, Warnings: meta.Warnings}
	if i == 0 {
		m.common = *meta
		m.common.Mean, m.common.Explained = nil, nil
	}
	if len(meta.Loss.Params) > 0 && m.Loss.Delta == nil {
		m.reports[i].Loss = &meta.Loss
	}
	return nil
}

// fill writes n numbers of fit i, NaN where it has none.
func (m *manyFits) fill(array, i, n int, from []float64) {
	to := m.arrays[array][i*n : (i+1)*n]
	if copy(to, from) < n {
		for k := range to {
			to[k] = math.NaN()
		}
	}
}

// FitManyReport describes the result of such a job as a JSON object: common, the report
// of the first fit as in [FitReport], and fits, a list of status, message, solver, notes,
// warnings and loss for each, of which the last three are left out where there are none
// or, of the loss, no parameters.
func FitManyReport(number int64) (string, error) {
	return withJob("report on many fits", number, func(j *job) (string, error) {
		m, err := resultOf[*manyFits](j)
		if err != nil {
			return "", err
		}
		return encode(struct {
			Common scqm.Meta    `json:"common"`
			Fits   []manyReport `json:"fits"`
		}{m.common, m.reports})
	})
}
