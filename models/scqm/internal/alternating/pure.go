package alternating

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// PureSweep sums the moments of rows at a sheet as [Sweeper.Sweep] does, but finds every
// tau_i anew from Q'(x_i - c), see [nearest.Footpoint.Find]: what it returns is a function
// of the rows and the sheet alone, with no state of the rows. One PureSweep serves one
// goroutine.
type PureSweep struct {
	rows    *rowSweep
	w       *nearest.Worker
	moments *Moments
	data    rows.Data
	tau     []float64
}

// NewPureSweep prepares for a sheet, for blocks of up to most rows, and for a loss
// rho(|r|^2) with concave rho. unit is the length scale h of the data.
func NewPureSweep(f *sheet.Sheet, loss framework.Radial, most int, unit float64) *PureSweep {
	s := &PureSweep{moments: NewMoments(f), w: nearest.NewWorker(f, most), tau: make([]float64, most*f.Latent)}
	s.rows = newRowSweep(&s.data, f, min(s.w.Batch, SweepRows), unit)
	s.rows.loss = loss
	s.rows.pure = nearest.NewFootpoint(f)
	s.rows.footpoint = s.rows.pure.Quadratic
	s.rows.pure.Reload()
	return s
}

// Len is the number of sums.
func (s *PureSweep) Len() int { return s.moments.Len() }

// Sum writes the sums of some rows into dst.
func (s *PureSweep) Sum(dst []float64, x rows.Data) {
	s.data = x
	s.moments.reset()
	step := len(s.rows.u)
	for from := 0; from < x.N; from += step {
		s.rows.batch(s.w, s.moments, s.tau, s.tau, from, min(from+step, x.N))
	}
	s.moments.Store(dst)
}

// Sheet returns the sheet at which moments are summed.
func (s *PureSweep) Sheet() *sheet.Sheet { return s.rows.f }
