package mean

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

// touching is the size of a residual, relative to the typical one, below which a row counts as at the kink of a
// radial loss.
const touching = 1e-3

// Sensitivity is the first-order response of a mean to changes of its rows. With r_i = c - x_i, g_i the gradient and
// L_i the Hessian of the loss at r_i,
//
//	H = sum_i w_i L_i,
//
// leaving out row i moves the mean by H^-1 w_i g_i.
//
// For losses such as l1, whose second derivatives vanish except at kinks, H gives no information. They are smoothed
// over the length n^(-1/5) times the typical residual, the bandwidth at which H estimates the density of the rows at
// the mean. The sensitivity is that of the mean under the smoothed loss. The same is done for an l2 mean that
// coincides with a row.
//
// Source: F. R. Hampel, The influence curve and its role in robust estimation,
// Journal of the American Statistical Association 69 (1974); for the bandwidth,
// B. W. Silverman, Density estimation, 1986, section 3.4.
type Sensitivity struct {
	// C is the mean. It is that of the smoothed loss if Rounding, the smoothing length, is above 0.
	C        []float64
	Rounding float64

	unit   float64   // unit of p and at, the mean in this unit
	at     []float64 // D
	p      *Problem
	factor *mat.Cholesky
}

// Sensitivity prepares the response of the mean to changes of x, the rows of the mean. It fails with [ErrNoCurvature]
// if the Hessian is singular.
func (m *Mean) Sensitivity(ctx context.Context, x rows.Data, threads int) (*Sensitivity, error) {
	held, err := reserveSensitivity(x, threads, 0)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	in, err := unitsOf(x, m.Loss)
	if err != nil {
		return nil, err
	}
	defer in.release()
	p, err := NewProblem(ctx, in.data, in.loss, threads)
	if err != nil {
		return nil, err
	}
	if len(m.C) != x.D {
		return nil, fmt.Errorf("mean: the data have %d columns, the mean has %d: %w", x.D, len(m.C), rows.ErrInput)
	}
	s := &Sensitivity{unit: in.unit, at: slices.Clone(m.C), p: p}
	floats.Scale(1/s.unit, s.at)
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	s.C = slices.Clone(s.at)
	floats.Scale(s.unit, s.C)
	s.Rounding *= s.unit
	return s, nil
}

// prepare factorizes the Hessian, of a smoothed loss if necessary.
func (s *Sensitivity) prepare(ctx context.Context) error {
	touched, err := s.p.touched(s.at)
	if err != nil {
		return err
	}
	if !touched {
		if s.factor, err = s.p.factorize(s.at); err == nil || !errors.Is(err, ErrNoCurvature) {
			return err
		}
	}
	if err := s.round(ctx); err != nil {
		return err
	}
	s.factor, err = s.p.factorize(s.at)
	return err
}

// touched reports whether a row is at the kink of a radial loss.
func (p *Problem) touched(c []float64) (bool, error) {
	_, radial := p.plain.(framework.Radial)
	_, kinked := p.plain.(framework.Smoother)
	if !radial || !kinked {
		return false, nil
	}
	typical, err := p.typical(c)
	for i := range p.data.N {
		if p.data.Weight(i) > 0 && floats.Distance(c, p.data.Row(i), 2) <= touching*typical {
			return true, err
		}
	}
	return false, err
}

// round moves to the mean of a smoothed loss.
func (s *Sensitivity) round(ctx context.Context) error {
	l, ok := s.p.plain.(framework.Smoother)
	if !ok {
		return fmt.Errorf("mean: the loss %s is flat around the mean of these rows, so that its sensitivity is not defined: choose another loss: %w", s.p.plain.Name(), ErrNoCurvature)
	}
	typical, err := s.p.typical(s.at)
	if err != nil {
		return err
	}
	if typical == 0 {
		return fmt.Errorf("mean: all rows are equal, so that none can be told from another: %w", rows.ErrInput)
	}
	s.Rounding = typical * math.Pow(float64(s.p.data.N), -0.2)
	if s.p, err = NewProblem(ctx, s.p.data, l.Smooth(s.Rounding), s.p.threads); err != nil {
		return err
	}
	m, err := s.p.solve(ctx, framework.Point{s.at}, Config{})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.at = m.C
	return nil
}

// Influence returns how the mean moves when each row is left out, n x D: row i
// is H^-1 w_i g_i.
func (s *Sensitivity) Influence() ([]float64, error) {
	D := s.p.data.D
	held, err := reserveSensitivity(s.p.data, s.p.threads, 1)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	out := s.p.residuals(s.at)
	if err := s.p.loss.Evaluate(nil, out, out, D); err != nil {
		return nil, fmt.Errorf("mean: loss %s: %w", s.p.plain.Name(), err)
	}
	for i := range s.p.data.N {
		row := out[i*D : (i+1)*D]
		floats.Scale(s.p.data.Weight(i), row)
		if err := s.solve(row); err != nil {
			return nil, err
		}
		floats.Scale(s.unit, row)
	}
	return out, s.p.ctx.Err()
}

// residuals returns c - x_i for all rows.
func (p *Problem) residuals(c []float64) []float64 {
	r := make([]float64, len(p.data.X))
	for i := range p.data.N {
		floats.SubTo(r[i*p.data.D:(i+1)*p.data.D], c, p.data.Row(i))
	}
	return r
}

// solve replaces b by H^-1 b.
func (s *Sensitivity) solve(b []float64) error {
	v := mat.NewVecDense(len(b), b)
	if err := s.factor.SolveVecTo(v, v); err != nil {
		return fmt.Errorf("mean: %w: %w", err, ErrNoCurvature)
	}
	return nil
}
