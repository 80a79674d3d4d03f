package classic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

// DefaultRidge is the curvature ridge of local fits that 0 stands for. Without a ridge, the latent coordinates of few
// rows fit the noise.
const DefaultRidge = 10

// NoRidge as a Ridge stands for no ridge.
const NoRidge = -1

// SCQM fits the robust subspace-constrained quadratic model to the neighbours and projects the row onto it.
//
// Source: Zhai and Li, arXiv 2605.20300; with SquaredL2 it is SQMF, Zhai et al.
// 2025.
type SCQM struct {
	// Latent is d, the dimension of the surface, 1 <= d <= D.
	Latent int
	// Neighbors is K, at least d+2; 0 stands for 30.
	Neighbors int
	// Loss is the loss of residuals; nil stands for squared_l2.
	Loss framework.Loss
	// LossFor, if not nil, constructs Loss from the residual norms of up to 300 rows in fits with the loss l2.
	LossFor func(distances []float64) (framework.Loss, error)
	// Curvature is the number of directions of curvature; 0 stands for min(d(d+1)/2, D-d).
	Curvature int
	// Linear keeps the surface flat. With squared_l2 this is [LPCA].
	Linear bool
	// Ridge is the curvature penalty of [scqm.Config]; 0 stands for
	// DefaultRidge, NoRidge for none.
	Ridge float64
	// Passes, if above 0, ends fits after the given number of passes of the alternating solver. The first pass
	// computes c, Q and Theta for the principal components in closed form and moves the latent coordinates once.
	// Early stopping is another way to avoid fitting noise.
	Passes int
	// Steps bounds the Newton steps of a fit without Passes; 0 stands for 100.
	Steps int
	// Decrease ends a fit when a step lowers the objective by no more than this
	// fraction; 0 stands for 1e-6.
	Decrease float64
}

// Name returns "scqm", or "linear".
func (m SCQM) Name() string {
	if m.Linear {
		return "linear"
	}
	return "scqm"
}

// Size returns the number of neighbours.
func (m SCQM) Size(n, D int) (int, error) {
	switch {
	case m.Passes < 0 || m.Steps < 0 || m.Curvature < 0:
		return 0, fmt.Errorf("denoise: %s: passes %d, steps %d, curvature %d; want at least 0: %w", m.Name(), m.Passes, m.Steps, m.Curvature, core.ErrInput)
	case math.IsNaN(m.Ridge) || math.IsInf(m.Ridge, 0) || m.Ridge < 0 && m.Ridge != NoRidge:
		return 0, fmt.Errorf("denoise: %s: ridge is %v, want a finite number of at least 0: %w", m.Name(), m.Ridge, core.ErrInput)
	}
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, m.Latent+2)
}

func (m SCQM) config() scqm.Config {
	c := scqm.Config{Latent: m.Latent, Curvature: cmp.Or(m.Curvature, scqm.FullCurvature), Linear: m.Linear, Loss: m.loss(), Ridge: m.Ridge, Threads: 1}
	switch {
	case m.Ridge == NoRidge || m.Linear:
		c.Ridge = scqm.NoRidge
	case m.Ridge == 0:
		c.Ridge = DefaultRidge
	}
	c.Options.MaxIterations, c.Options.MinRelativeDecrease = m.Steps, m.Decrease
	if m.Passes > 0 {
		c.Solver, c.Options.MaxIterations = solvers.Alternating{}, m.Passes
	}
	return c
}

func (m SCQM) loss() framework.Loss {
	if m.Loss == nil {
		return losses.SquaredL2()
	}
	return m.Loss
}

// columns is the number of columns of curvature of a fit.
func (m SCQM) columns(D int) int {
	if m.Linear {
		return 0
	}
	s := min(m.Latent*(m.Latent+1)/2, D-m.Latent)
	if m.Curvature > 0 {
		s = min(s, m.Curvature)
	}
	return s
}

// Prepare checks whether the fits can be done.
func (m SCQM) Prepare(ctx context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	K, err := m.Size(c.Count(), c.D)
	if err != nil {
		return nil, err
	}
	make := func(ctx context.Context) (core.Worker, error) { return newLocalWorker(ctx, m, K, c.D) }
	if _, err := make(ctx); err != nil {
		return nil, err
	}
	return core.PerWorker(make), nil
}

// localWorker fits by Newton's method. If this does not suit the size, or a number of passes is given, it fits as
// [scqm.Learn] does.
type localWorker struct {
	ctx     context.Context
	config  scqm.Config
	fitter  *scqm.Fitter // nil if Learn is used
	nearest *scqm.Nearest
	rows    rows.Data // of the last fit
	model   *scqm.Model
	fitted  *scqm.Model
	curved  int
	ridge   float64
}

func newLocalWorker(ctx context.Context, m SCQM, K, D int) (*localWorker, error) {
	w := &localWorker{ctx: ctx, config: m.config(), model: &scqm.Model{}, curved: m.columns(D)}
	w.ridge = w.config.Ridge
	var err error
	if m.Passes == 0 {
		if w.fitter, err = scqm.NewFitter(ctx, K, D, w.config); err != nil && !errors.Is(err, core.ErrInput) {
			return nil, err
		}
	}
	if w.nearest, err = scqm.NewNearest(D, m.Latent, w.curved, w.config.Loss); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *localWorker) Place(h *core.Neighborhood, about *core.Row) error {
	if !(h.Radius > 0) {
		return core.ErrNoSurface
	}
	about.Ridge = w.ridge
	x := rows.Data{N: h.N(), D: len(h.Centre), X: h.Rows}
	if !same(h.Weights) {
		x.Weights = h.Weights
	}
	w.rows = x
	if err := w.fit(x); err != nil {
		return w.attribute(err)
	}
	about.Noise = w.noise(x)
	return w.nearest.Load(w.fitted)
}

// same reports whether all weights are 1.
func same(weights []float64) bool {
	for _, w := range weights {
		if w != 1 {
			return false
		}
	}
	return true
}

func (w *localWorker) fit(x rows.Data) error {
	if w.fitter != nil {
		w.fitted = w.model
		_, err := w.fitter.Fit(w.model, x)
		return err
	}
	fit, err := scqm.Learn(w.ctx, x, w.config)
	if err != nil {
		return err
	}
	w.fitted = fit.Model
	return nil
}

// attribute converts numerical failures of one neighbourhood to errLocal. It does not change interruptions and
// failures of a loss.
func (w *localWorker) attribute(err error) error {
	switch {
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case errors.Is(err, framework.ErrNonFinite), errors.Is(err, rows.ErrInput), errors.Is(err, framework.ErrNoProgress):
		if fault := w.findLossError(); fault != nil {
			return fault
		}
		return core.ErrNoSurface
	}
	return err
}

// noise is the root mean square distance of the rows from the model in each normal direction, corrected for the
// number of fitted parameters.
func (w *localWorker) noise(x rows.Data) float64 {
	m := w.fitted
	if len(m.Tau) != x.N*m.Latent {
		return 0
	}
	q := m.Latent * (m.Latent + 1) / 2
	var rest, total, square float64
	for i := range x.N {
		tau := m.Tau[i*m.Latent : (i+1)*m.Latent]
		weight := 1.0
		if x.Weights != nil {
			weight = x.Weights[i]
		}
		var sum float64
		for j, v := range x.Row(i) {
			e := v - m.C[j] - dense.Dot(tau, m.U[j*m.Latent:(j+1)*m.Latent])
			for k := range m.Curvature {
				var curved float64
				at := 0
				for a, ta := range tau {
					for _, tb := range tau[a:] {
						curved += m.Theta[at*m.Curvature+k] * ta * tb
						at++
					}
				}
				e -= m.V[j*m.Curvature+k] * curved
			}
			sum += e * e
		}
		rest += weight * sum
		total += weight
		square += weight * weight
	}
	functions := 1 + m.Latent
	if m.Curvature > 0 {
		functions += q
	}
	return chart.SpreadPerDirection(rest, total, square, functions, x.D-m.Latent)
}

// findLossError evaluates the loss on residuals of typical size, and on zero. A loss that is not finite there would
// leave all rows unchanged.
func (w *localWorker) findLossError() error {
	D, loss := w.rows.D, w.config.Loss
	mean := make([]float64, D)
	for i := range w.rows.N {
		floats.AddScaled(mean, 1/float64(w.rows.N), w.rows.Row(i))
	}
	r := make([]float64, D)
	for _, factor := range []float64{1, 0, 1e-3, 10} {
		for i := range w.rows.N {
			floats.SubTo(r, w.rows.Row(i), mean)
			floats.Scale(factor, r)
			if err := rowloss.LossErrorAt(loss, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *localWorker) Project(dst, x []float64) error {
	if err := w.nearest.Project(w.ctx, dst, x); err != nil {
		return w.attribute(err)
	}
	return nil
}

// InUnits implements the interface of methods with units.
func (m SCQM) InUnits(unit float64) (core.Method, bool) {
	if _, ok := m.Loss.(rowloss.Rescaler); !ok {
		return m, m.Loss == nil
	}
	m.Loss, _, _ = rows.Rescaled(m.Loss, unit)
	return m, true
}

// Keeps implements keeper.
func (SCQM) Keeps(f *core.Footprint) { f.Fits = true }

// Callers is the number of goroutines that fit at a time. For a loss computed by another program it exceeds the
// number of processors.
func (m SCQM) Callers() int {
	if l, ok := m.Loss.(rowloss.HighLatency); ok {
		return l.Callers()
	}
	return 1
}

// Trial is the method with the loss l2, whose residuals determine the loss.
func (m SCQM) Trial() SCQM {
	m.Loss, m.LossFor = losses.L2(), nil
	return m
}

// Choose constructs the loss.
func (m SCQM) Choose(ctx context.Context, c *core.Cloud, o core.Options) (core.Method, error) {
	if m.LossFor == nil {
		return m, nil
	}
	o.Progress = nil
	r, err := core.DenoiseSome(ctx, m.Trial(), c, c.Some(ResidualRows), o)
	if err != nil {
		return nil, err
	}
	var norms []float64
	for _, row := range r.Rows {
		if !row.Unchanged {
			norms = append(norms, row.Residual)
		}
	}
	m.Loss, err = m.LossFor(norms)
	m.LossFor = nil
	return m, err
}

// Dimension is Latent.
func (m SCQM) Dimension() int { return m.Latent }

// Sized implements sized.
func (m SCQM) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}

// ResidualRows bounds the rows whose residuals determine a loss.
const ResidualRows = 300
