package alternating

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// StatelessSweep sums the moments of rows at a sheet as [Sweeper.Sweep] does, but recomputes every tau_i from
// Q'(x_i - c), see [nearest.Projection.Find]: the result is a function of the rows and the sheet alone. A
// StatelessSweep is for one goroutine.
type StatelessSweep struct {
	rows    *rowSweep
	moments *Moments
	data    rows.Data
	tau     []float64
	// response is summed too where it is not nil.
	response *Response
}

// NewStatelessSweep prepares for a sheet, for blocks of up to most rows, and for a loss
// rho(|r|^2) with concave rho. unit is the length scale h of the data.
func NewStatelessSweep(f *sheet.Sheet, loss framework.Radial, most int, unit float64) *StatelessSweep {
	s := &StatelessSweep{moments: NewMoments(f), tau: make([]float64, most*f.Latent)}
	s.rows = newRowSweep(&s.data, f, min(nearest.BatchRows(f, most), SweepRows), unit).anew()
	s.rows.loss = loss
	return s
}

// Sum writes the sums of some rows into dst.
func (s *StatelessSweep) Sum(dst []float64, x rows.Data) {
	s.data = x
	s.moments.reset()
	step := s.rows.rows
	for from := 0; from < x.N; from += step {
		to := min(from+step, x.N)
		s.rows.batch(s.moments, s.tau, s.tau, from, to)
		if s.response != nil {
			s.react(from, to)
		}
	}
	s.moments.Store(dst)
	if s.response != nil {
		copy(dst[s.moments.Len():], s.response.Sums)
	}
}

// Place writes the tau of the rows that Sum would use.
func (s *StatelessSweep) Place(tau []float64, x rows.Data) {
	f, step := s.rows.f, s.rows.rows
	for from := 0; from < x.N; from += step {
		to := min(from+step, x.N)
		s.rows.place(x.X[from*f.D:to*f.D], tau[from*f.Latent:to*f.Latent], to-from)
	}
}

// WithResponse makes s sum a [Response] too, behind the moments.
func (s *StatelessSweep) WithResponse() *StatelessSweep {
	s.response = NewResponse(s.rows.f)
	return s
}

// react adds the rows of the last batch to the response.
func (s *StatelessSweep) react(from, to int) {
	if from == 0 {
		clear(s.response.Sums)
	}
	d, k := s.rows.f.Latent, s.response.k
	for i := range to - from {
		s.response.add(s.tau[(from+i)*d:(from+i+1)*d], s.rows.y[i*k:(i+1)*k], s.rows.wy[i*k:(i+1)*k])
	}
}

// Sheet returns the sheet at which moments are summed.
func (s *StatelessSweep) Sheet() *sheet.Sheet { return s.rows.f }
