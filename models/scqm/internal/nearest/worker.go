package nearest

import (
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Worker holds the buffers of one goroutine for a batch of rows: residuals, their
// gradients, z and phi, of which two of length D fit a second-level cache.
type Worker struct {
	Batch  int
	R, G   []float64 // batch x D
	Z, Phi []float64 // batch x m, batch x q
	Pulled []float64 // batch x m: Q' times the rows of r or g
	Values []float64 // batch
	b, W   []float64 // m, q
	Hess   *RowHessian
}

func NewWorker(f *sheet.Sheet, n int) *Worker {
	batch := BatchRows(f, n)
	return &Worker{
		Batch: batch,
		R:     make([]float64, batch*f.D), G: make([]float64, batch*f.D),
		Z: make([]float64, batch*f.M), Phi: make([]float64, batch*f.Q), Pulled: make([]float64, batch*f.M),
		Values: make([]float64, batch),
		b:      make([]float64, f.M), W: make([]float64, f.Q),
		Hess: NewRowHessian(f),
	}
}

// BatchRows is the number of rows of a batch, of n in all.
func BatchRows(f *sheet.Sheet, n int) int { return min(max(BatchEntries/f.D/4, 1)*4, n) }

// Row returns row i of a buffer with rows of length n.
func (*Worker) Row(buf []float64, n, i int) []float64 { return buf[i*n : (i+1)*n] }

// BatchEntries is the number of residuals in a batch: two such arrays fit a
// second-level cache of 1 MiB.
const BatchEntries = 1 << 15
