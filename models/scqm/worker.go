package scqm

// worker holds the buffers of one goroutine for a batch of rows.
type worker struct {
	batch  int
	r, g   []float64 // batch x D
	z, phi []float64 // batch x m, batch x q
	pulled []float64 // batch x m: Q' times the rows of r or g
	values []float64 // batch
	b, w   []float64 // m, q
	hess   *hessian
}

func newWorker(f *sheet, n int) *worker {
	batch := min(max(batchEntries/f.D, 1), n)
	return &worker{
		batch: batch,
		r:     make([]float64, batch*f.D), g: make([]float64, batch*f.D),
		z: make([]float64, batch*f.m), phi: make([]float64, batch*f.q), pulled: make([]float64, batch*f.m),
		values: make([]float64, batch),
		b:      make([]float64, f.m), w: make([]float64, f.q),
		hess: newHessian(f),
	}
}

// row returns row i of a buffer with rows of length n.
func (*worker) row(buf []float64, n, i int) []float64 { return buf[i*n : (i+1)*n] }

// batchEntries is the number of residuals in a batch: two such arrays fit a
// second-level cache of 1 MiB.
const batchEntries = 1 << 15
