package bindings

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
)

// modelSettings describe a model whose arrays Python holds.
type modelSettings struct {
	D         int64      `json:"D"`
	Latent    int64      `json:"d"`
	Curvature int64      `json:"s"`
	Loss      lossChoice `json:"loss"`
	Threads   int        `json:"threads"`
	// Missing is that of scqm.Meta.
	Missing *scqm.MissingMeta `json:"missing"`
}

// The arrays of a model, in the order of the addresses that functions on models
// take; an address of 0 stands for an array that is not there.
const (
	cAt = iota
	uAt
	vAt
	thetaAt
	tauAt
	precisionAt
	modelArrays // their number
)

// build puts the model together without copying its arrays. Where job is nil
// the model gets no loss.
func (s modelSettings) build(j *job, parts []uint64, rows int64) (*scqm.Model, error) {
	if s.D < 1 || s.Latent < 1 || s.Curvature < 0 || s.Latent > s.D {
		return nil, fmt.Errorf("model with D = %d, d = %d, s = %d: %w", s.D, s.Latent, s.Curvature, framework.ErrInvalid)
	}
	m := &scqm.Model{D: int(s.D), Latent: int(s.Latent), Curvature: int(s.Curvature)}
	m.Meta.Missing = s.Missing
	q := s.Latent * (s.Latent + 1) / 2
	for _, a := range []struct {
		what    string
		at      int
		lengths [2]int64
		to      *[]float64
	}{
		{"c", cAt, [2]int64{s.D, 1}, &m.C}, {"U", uAt, [2]int64{s.D, s.Latent}, &m.U},
		{"V", vAt, [2]int64{s.D, s.Curvature}, &m.V}, {"Theta", thetaAt, [2]int64{q, s.Curvature}, &m.Theta},
		{"tau", tauAt, [2]int64{rows, s.Latent}, &m.Tau},
	} {
		if a.at == tauAt && parts[tauAt] == 0 {
			continue
		}
		n, err := product(a.what, a.lengths[:]...)
		if err != nil {
			return nil, err
		}
		if *a.to, err = view(a.what, parts[a.at], n); err != nil {
			return nil, err
		}
	}
	if j == nil {
		return m, nil
	}
	var err error
	m.Loss, err = s.Loss.build(j, parts[precisionAt])
	return m, err
}

// StartMap begins to send rows through a model. The settings are D, d, s, loss
// and threads; parts is the address of 6 addresses, those of c, U, V, Theta, tau
// and precision, of which the last two may be 0. The act is one of
//
//	transform    rows of length D to their coordinates tau
//	reconstruct  coordinates tau to rows f(tau)
//	project      rows of length D to the nearest rows of the sheet
//	impute       rows of length D to these with their missing entries filled, each followed by
//	             the standard deviations of scqm.Imputation; takes meta, and rows of tau, as [StartSave]
//	losses       rows of length D to the losses of their projections, one each
//	hidden       rows of length D to the sums of squared errors of their entries, of which a part
//	             hidden is predicted from the others, in an order by seed; takes rows of tau
//	report       rows of length D to their projections, each followed by residual,
//	             min_eigenvalue, certified (1, 0, or -1 where the loss does not tell), parts
//	             and second of scqm.RowProjection
//	parts        coordinates tau to the parts of noise left in residuals there
//
// x holds the rows, out is the destination. It returns 1.
func StartMap(number int64, act, settings string, parts, x uint64, rows int64, out uint64) (int64, error) {
	return guarded(act, func() (int64, error) {
		a, ok := acts[act]
		if !ok {
			return 0, fmt.Errorf("no act %q: %w", act, framework.ErrInvalid)
		}
		var s savedModel
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		addresses, err := addressList("parts", parts, modelArrays)
		if err != nil {
			return 0, err
		}
		from, to, err := a.arrays(s.modelSettings, x, rows, out)
		if err != nil {
			return 0, err
		}
		if act == "hidden" {
			a.apply = s.hiddenErrors
		}
		addresses = append([]uint64(nil), addresses...)
		return begin(number, act, s.brief(rows), func(j *job) (any, error) {
			m, err := s.withLoss(j, addresses)
			if err != nil {
				return nil, err
			}
			result, err := a.apply(j, m, from, threads(s.Threads))
			copy(to, result)
			return nil, err
		})
	})
}

const (
	// briefRows and briefEntries bound what is sent through a model at once
	// without a thread of its own: finding the nearest point for a row can take
	// a millisecond.
	briefRows    = 8
	briefEntries = 1 << 12
)

// brief reports whether so many rows are through within milliseconds.
func (s modelSettings) brief(rows int64) bool {
	return !s.Loss.elsewhere() && s.Latent <= briefLatent && rows <= briefRows && rows*s.D <= briefEntries
}

// act is something that a model does to rows.
type act struct {
	in, out func(modelSettings) int64 // lengths of rows
	apply   func(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error)
}

func ambient(s modelSettings) int64   { return s.D }
func latent(s modelSettings) int64    { return s.Latent }
func singleton(_ modelSettings) int64 { return 1 }

// described is the length of a projected row with its report.
func described(s modelSettings) int64 { return s.D + reportColumns }

// imputed is the length of a filled row with its standard deviations.
func imputed(s modelSettings) int64 { return 2 * s.D }

func rowsOf(m *scqm.Model, x []float64) scqm.Data {
	return scqm.Data{N: len(x) / m.D, D: m.D, X: x}
}

var acts = map[string]act{
	"transform": {ambient, latent, func(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
		return m.Transform(j.ctx, rowsOf(m, x), threads)
	}},
	"reconstruct": {latent, ambient, func(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
		return m.Reconstruct(j.ctx, x, threads)
	}},
	"project": {ambient, ambient, func(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
		return m.Project(j.ctx, rowsOf(m, x), threads)
	}},
	"impute": {ambient, imputed, imputation},
	"report": {ambient, described, projectionReport},
	"losses": {ambient, singleton, projectionLosses},
	"hidden": {ambient, singleton, nil}, // see savedModel.hiddenErrors
	"parts": {latent, ambient, func(_ *job, m *scqm.Model, x []float64, _ int) ([]float64, error) {
		return m.ResidualParts(x), nil
	}},
}

func (a act) arrays(s modelSettings, x uint64, rows int64, out uint64) (from, to []float64, err error) {
	for _, side := range []struct {
		what    string
		address uint64
		columns int64
		to      *[]float64
	}{{"x", x, a.in(s), &from}, {"out", out, a.out(s), &to}} {
		n, err := product(side.what, rows, side.columns)
		if err != nil {
			return nil, nil, err
		}
		if *side.to, err = view(side.what, side.address, n); err != nil {
			return nil, nil, err
		}
	}
	return from, to, nil
}

// reportColumns is the number of columns of the report on projections.
const reportColumns = 5

// projectionReport returns projections with what is told of them.
func projectionReport(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
	p, err := m.ProjectAll(j.ctx, rowsOf(m, x), threads)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, len(p.Rows)*(m.D+reportColumns))
	for i, r := range p.Rows {
		certified := -1.0
		if p.Certifies {
			certified = truth(r.Certified)
		}
		out = append(append(out, p.X[i*m.D:(i+1)*m.D]...), r.Residual, r.MinEigenvalue, certified, float64(r.Parts), r.Second)
	}
	return out, nil
}

// imputation returns rows with their missing entries filled, with the standard deviations.
func imputation(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
	filled, err := m.Impute(j.ctx, rowsOf(m, x), threads)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, 2*len(x))
	for i := range len(x) / m.D {
		out = append(append(out, filled.X[i*m.D:(i+1)*m.D]...), filled.Std[i*m.D:(i+1)*m.D]...)
	}
	return out, nil
}

// hiddenErrors predicts entries of rows from the others.
func (s savedModel) hiddenErrors(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
	return m.HiddenErrors(j.ctx, rowsOf(m, x), s.Hidden, s.Seed, threads)
}

// projectionLosses returns the losses of the residuals that projection leaves.
func projectionLosses(j *job, m *scqm.Model, x []float64, threads int) ([]float64, error) {
	r, err := m.Project(j.ctx, rowsOf(m, x), threads)
	if err != nil {
		return nil, err
	}
	floats.Sub(r, x)
	values := make([]float64, len(x)/m.D)
	return values, m.Losses(values, r)
}

// StartLoss begins to evaluate a loss, given as JSON with the matrix of
// mahalanobis at precision, at residual rows r; the destinations values and
// grad may be 0. It returns 1.
func StartLoss(number int64, loss string, precision, r uint64, rows, columns int64, values, grad uint64) (int64, error) {
	return guarded("loss", func() (int64, error) {
		var c lossChoice
		if err := decode(loss, &c); err != nil {
			return 0, err
		}
		residuals, err := readData(r, rows, columns, 0)
		if err != nil {
			return 0, err
		}
		to, err := optionalView("values", values, residuals.N)
		if err != nil {
			return 0, err
		}
		slopes, err := optionalView("grad", grad, len(residuals.X))
		if err != nil {
			return 0, err
		}
		brief := !c.elsewhere() && len(residuals.X) <= briefEntries
		return begin(number, "loss", brief, func(j *job) (any, error) {
			l, err := c.build(j, precision)
			if err != nil {
				return nil, err
			}
			if d, ok := l.(rowloss.Dimensioned); ok && d.Dim() != residuals.D {
				return nil, fmt.Errorf("loss %s is for rows of length %d, not %d: %w", l.Name(), d.Dim(), residuals.D, framework.ErrInvalid)
			}
			return nil, l.Evaluate(to, slopes, residuals.X, residuals.D)
		})
	})
}
