package alternating

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// StatelessSweep sums the moments of rows at a sheet like [Sweeper.Sweep], but recomputes every tau_i from Q'(x_i -
// c), see [nearest.Projection.Find]. The result is a function of the rows and the sheet alone. Use a StatelessSweep
// from one goroutine.
type StatelessSweep struct {
	rows    *rowSweep
	moments *Moments
	tau     []float64
}

// NewStatelessSweep prepares sums at a sheet over blocks of up to most rows, for a loss rho(|r|^2) with concave rho.
// unit is the length scale h of the data.
func NewStatelessSweep(f *sheet.Sheet, loss framework.Radial, most int, unit float64) *StatelessSweep {
	r := newRowSweep(newFrame(f, nil), min(nearest.BatchRows(f, most), SweepRows), unit)
	r.loss, r.batch, r.stateless = loss, nearest.NewBatch(f, nearest.FewDigits), nearest.NewProjection(f)
	r.alone = r.stateless.Quadratic
	return &StatelessSweep{rows: r, moments: NewMoments(f), tau: make([]float64, most*f.Latent)}
}

// Sum writes the moments of the rows of x into dst.
func (s *StatelessSweep) Sum(dst []float64, x rows.Data) {
	d := s.rows.Latent
	clear(s.moments.Sums)
	for from := 0; from < x.N; from += s.rows.rows {
		to := min(from+s.rows.rows, x.N)
		s.rows.add(s.moments, &x, s.tau[from*d:to*d], from, to)
	}
	copy(dst, s.moments.Sums)
}

// Place computes the tau of the rows of x as Sum does, and writes them into tau.
func (s *StatelessSweep) Place(tau []float64, x rows.Data) {
	f, step := s.rows.Sheet, s.rows.rows
	for from := 0; from < x.N; from += step {
		to := min(from+step, x.N)
		s.rows.place(x.X[from*f.D:to*f.D], tau[from*f.Latent:to*f.Latent], from, to-from)
	}
}

// Sheet returns the sheet at which moments are summed.
func (s *StatelessSweep) Sheet() *sheet.Sheet { return s.rows.Sheet }
