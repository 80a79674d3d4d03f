package bindings

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
)

// modelSettings are the settings of all jobs that use a fitted model. The arrays of the model are c
// (D), u (D x d), v (D x s), theta (q x s), and optionally tau (n x d) and the precision of the loss.
type modelSettings struct {
	Loss    lossChoice `json:"loss"`
	Threads int        `json:"threads"`
	// Missing has the meaning of Missing in scqm.Meta.
	Missing *scqm.MissingMeta `json:"missing"`
	// Meta is the report of the fit, as a model file stores it. It may be empty.
	Meta json.RawMessage `json:"meta"`
}

// model returns the model without its loss. It does not copy the arrays.
func (in *input) model(s *modelSettings) *scqm.Model {
	in.loss(&s.Loss)
	u, shape := in.numbers("u", -1, -1)
	m := &scqm.Model{D: shape[0], Latent: shape[1], U: u}
	if m.Latent < 1 || m.Latent > m.D {
		in.note(fmt.Errorf("model with D = %d, d = %d: %w", m.D, m.Latent, framework.ErrInvalid))
	}
	m.V, shape = in.numbers("v", m.D, -1)
	m.Curvature = shape[1]
	m.C, _ = in.numbers("c", m.D)
	m.Theta, _ = in.numbers("theta", m.Latent*(m.Latent+1)/2, m.Curvature)
	m.Tau, _ = in.optional("tau", -1, m.Latent)
	m.Meta.Missing = s.Missing
	if s.Meta != nil {
		if err := json.Unmarshal(s.Meta, &m.Meta); err != nil { // later versions may say more
			in.note(fmt.Errorf("meta: %w: %w", err, framework.ErrInvalid))
		}
	}
	return m
}

// mapSettings are the settings of jobs that apply a model to rows.
type mapSettings struct {
	modelSettings
	// Hidden is the fraction of entries that hiddenErrors hides. Seed is the seed of the random choice of these entries.
	Hidden float64 `json:"hidden"`
	Seed   uint64  `json:"seed"`
}

// mapping returns the function of a job that applies a model to the rows x. The array out holds the result.
func mapping(apply func(*job, *scqm.Model, scqm.Data, mapSettings) ([]float64, error)) func(*input) work {
	return func(in *input) work {
		var s mapSettings
		in.decode(&s)
		m, x := in.model(&s.modelSettings), in.data()
		in.brief = s.brief(m, x)
		return func(j *job) (*outcome, error) {
			var err error
			if m.Loss, err = s.Loss.build(j); err != nil {
				return nil, err
			}
			s.Threads = threads(s.Threads)
			out, err := apply(j, m, x, s)
			return &outcome{arrays: map[string][]float64{"out": out}}, err
		}
	}
}

const (
	// briefLatent, briefRows and briefEntries are the largest sizes for which a model is
	// applied without a separate thread. Finding the nearest point for a row can take a
	// millisecond.
	briefLatent  = 3
	briefRows    = 8
	briefEntries = 1 << 12
)

// brief reports whether applying the model to x takes only milliseconds.
func (s modelSettings) brief(m *scqm.Model, x scqm.Data) bool {
	return !s.Loss.elsewhere() && m.Latent <= briefLatent && x.N <= briefRows && x.N*m.D <= briefEntries
}

// transform returns the coordinates tau of rows of length D.
func transform(j *job, m *scqm.Model, x scqm.Data, s mapSettings) ([]float64, error) {
	return m.Transform(j.ctx, x, s.Threads)
}

// reconstruct returns the rows f(tau) for the coordinates tau.
func reconstruct(j *job, m *scqm.Model, tau scqm.Data, s mapSettings) ([]float64, error) {
	return m.Reconstruct(j.ctx, tau.X, s.Threads)
}

// project returns the nearest point of the model surface for each row.
func project(j *job, m *scqm.Model, x scqm.Data, s mapSettings) ([]float64, error) {
	return m.Project(j.ctx, x, s.Threads)
}

// impute returns the rows with missing entries filled. Each row is followed by the
// standard deviations of scqm.Imputation. It needs meta and tau.
func impute(j *job, m *scqm.Model, x scqm.Data, s mapSettings) ([]float64, error) {
	filled, err := m.Impute(j.ctx, x, s.Threads)
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, 2*len(x.X))
	for i := range x.N {
		out = append(append(out, filled.X[i*m.D:(i+1)*m.D]...), filled.Std[i*m.D:(i+1)*m.D]...)
	}
	return out, nil
}

// hiddenErrors hides some entries of each row, predicts them from the others, and
// returns the sum of squared errors for each row. It needs tau.
func hiddenErrors(j *job, m *scqm.Model, x scqm.Data, s mapSettings) ([]float64, error) {
	return m.HiddenErrors(j.ctx, x, s.Hidden, s.Seed, s.Threads)
}

// projectionReport returns the nearest point of the model surface for each row. Each is followed by residual,
// min_eigenvalue, certified (1, 0, or -1 if the loss cannot tell), parts and second of scqm.RowProjection.
func projectionReport(j *job, m *scqm.Model, x scqm.Data, s mapSettings) ([]float64, error) {
	p, err := m.ProjectAll(j.ctx, x, s.Threads)
	if err != nil {
		return nil, err
	}
	var out []float64
	for i, r := range p.Rows {
		certified := -1.0
		if p.Certifies {
			certified = truth(r.Certified)
		}
		out = append(append(out, p.X[i*m.D:(i+1)*m.D]...), r.Residual, r.MinEigenvalue, certified, float64(r.Parts), r.Second)
	}
	return out, nil
}

// projectionLosses returns the loss of each row's residual after projection.
func projectionLosses(j *job, m *scqm.Model, x scqm.Data, s mapSettings) ([]float64, error) {
	r, err := m.Project(j.ctx, x, s.Threads)
	if err != nil {
		return nil, err
	}
	floats.Sub(r, x.X)
	values := make([]float64, x.N)
	return values, m.Losses(values, r)
}

// residualParts returns the fractions of the noise variance that remain in the residuals at the coordinates tau.
func residualParts(_ *job, m *scqm.Model, tau scqm.Data, _ mapSettings) ([]float64, error) {
	return m.ResidualParts(tau.X), nil
}

// lossOf evaluates a loss, whose precision may be an array, at the residual rows x. It returns values and grad.
func lossOf(in *input) work {
	var c lossChoice
	in.decode(&c)
	in.loss(&c)
	r := in.data()
	in.brief = !c.elsewhere() && len(r.X) <= briefEntries
	return func(j *job) (*outcome, error) {
		l, err := c.build(j)
		if err != nil {
			return nil, err
		}
		if d, ok := l.(rowloss.Dimensioned); ok && d.Dim() != r.D {
			return nil, fmt.Errorf("loss %s is for rows of length %d, not %d: %w", l.Name(), d.Dim(), r.D, framework.ErrInvalid)
		}
		values, grad := make([]float64, r.N), make([]float64, len(r.X))
		return &outcome{arrays: map[string][]float64{"values": values, "grad": grad}}, l.Evaluate(values, grad, r.X, r.D)
	}
}
