package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// sweepSteps bounds the Newton steps of a row in one sweep. More steps would not pay, as the outer blocks move
	// next.
	sweepSteps = 2
	// sweepPrecision is the relative length of a Newton step below which a row ends its steps. A further step would
	// gain less than the next step of the outer blocks.
	sweepPrecision = 1e-3
	// SweepRows bounds the number of rows that are processed at a time.
	SweepRows = 192
	// shortestResidual is the least residual, relative to the length scale of the data, used in the weights of losses
	// with a kink. It bounds the weights of rows on the sheet.
	shortestResidual = 1e-8
)

// rowSweep holds the buffers of one goroutine.
type rowSweep struct {
	*frame
	loss interface {
		Rho(rho, d1, d2, u []float64)
	}
	alone      *nearest.Quadratic
	batch      *nearest.Batch
	stateless  *nearest.Projection // nil if rows continue from their last tau
	rows       int                 // number of rows at a time
	pulled     []float64           // m x rows: y, one axis after the other
	whole      []float64           // rows: |R(x - c)|^2
	rho, slope []float64           // rows
	u          []float64           // rows: squared residuals
	y, wy      []float64           // rows x (1+d+q): [1; y], and that times the weight
	direct     []float64           // D
	gaps       *gaps               // nil without missing entries
	unit       float64
}

func newRowSweep(f *frame, n int, unit float64) *rowSweep {
	k := 1 + f.Latent + forms(f.Sheet)
	vec := func(n int) []float64 { return make([]float64, n) }
	s := &rowSweep{
		frame: f, alone: nearest.NewQuadratic(f.Sheet), unit: unit, rows: n,
		pulled: vec(f.M * n), whole: vec(n), rho: vec(n), slope: vec(n), u: vec(n),
		y: vec(n * k), wy: vec(n * k), direct: vec(f.D),
	}
	s.alone.Metric = f.gram
	return s
}

// add improves tau of the rows [from, to), and adds their losses and moments to m.
func (s *rowSweep) add(m *Moments, data *rows.Data, tau []float64, from, to int) {
	n := to - from
	u, slope, x := s.u[:n], s.slope[:n], data.X[from*s.D:to*s.D]
	s.place(x, tau, from, n)
	s.loss.Rho(s.rho[:n], slope, nil, u)
	least := shortestResidual * s.unit
	for i, v := range u {
		if v < least*least {
			u[i] = least * least
			s.loss.Rho(nil, slope[i:i+1], nil, u[i:i+1])
		}
		weight := data.Weight(from + i)
		m.Sums[0] += weight * s.rho[i]
		slope[i] *= weight
	}
	s.regress(tau, slope)
	m.accumulate(x, s.centre, s.y, s.wy, n)
}

// place improves tau for the n rows of x, the first of which is row from. It writes squared residuals into u.
func (s *rowSweep) place(x, tau []float64, from, n int) {
	D, d := s.D, s.Latent
	if s.gaps != nil {
		s.gaps.before = append(s.gaps.before[:0], tau...)
	}
	dense.FrameProducts(s.pulled, s.rows, s.whole, x, s.centre, s.inverse, n, s.M, D)
	switch {
	case s.gram != nil:
		for i := range n {
			s.u[i] = nearest.Refused
		}
	case s.stateless != nil:
		s.batch.Project(s.u, tau, s.pulled, s.rows, s.whole, n)
	default:
		s.batch.Improve(s.u, tau, s.pulled, s.rows, s.whole, n, sweepSteps)
	}
	for i := range n {
		switch {
		case s.gaps != nil && rows.Incomplete(s.gaps.given.Row(from+i)):
			s.u[i] = s.fill(x[i*D:(i+1)*D], from+i, tau[i*d:(i+1)*d], s.gaps.before[i*d:(i+1)*d])
		case !(s.u[i] > nearest.LostDigits*s.whole[i]):
			s.u[i] = s.project(x[i*D:(i+1)*D], i, tau[i*d:(i+1)*d])
		}
	}
}

// project improves tau for row i of a batch, x, and returns the squared residual
// |R(x - c)|^2 - y'Ay + (z - y)'A(z - y).
func (s *rowSweep) project(x []float64, i int, tau []float64) float64 {
	p, whole := s.alone, s.whole[i]
	for k := range p.Y {
		p.Y[k] = s.pulled[k*s.rows+i]
	}
	var inside float64
	switch {
	case s.S == 0: // a flat sheet
		copy(tau, p.Y)
	case s.stateless != nil:
		inside = s.stateless.Find(tau)
	default:
		inside = p.Minimize(tau, sweepSteps, sweepPrecision)
	}
	u := whole + inside
	for k, v := range p.Y {
		if s.gram == nil {
			u -= v * v
		} else {
			u -= v * dense.Dot(s.gram[k*s.M:(k+1)*s.M], p.Y)
		}
	}
	if u > nearest.LostDigits*whole {
		return u
	}
	floats.SubTo(s.direct, x, s.centre)
	for j, v := range tau {
		floats.AddScaled(s.direct, -v, s.axes[j*s.D:(j+1)*s.D])
	}
	for k := s.Latent; k < s.M && s.S > 0; k++ {
		floats.AddScaled(s.direct, -p.E[k]-p.Y[k], s.axes[k*s.D:(k+1)*s.D])
	}
	return floats.Dot(s.direct, s.direct)
}

// regress fills the regressors y and the weighted regressors wy for rows with the given tau and weights.
func (s *rowSweep) regress(tau, weights []float64) {
	d, k := s.Latent, 1+s.Latent+forms(s.Sheet)
	perUnit := 1 / s.unit
	for i, weight := range weights {
		y, wy := s.y[i*k:(i+1)*k], s.wy[i*k:(i+1)*k]
		y[0] = 1
		scaled := y[1 : 1+d]
		for j, t := range tau[i*d : (i+1)*d] {
			scaled[j] = t * perUnit
		}
		if s.S > 0 {
			sheet.Vech(y[1+d:], scaled)
		}
		for j, v := range y {
			wy[j] = weight * v
		}
	}
}
