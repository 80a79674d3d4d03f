package objective

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// noGradient requests no gradients. Of the requested gradients, those of c and Theta take few operations beyond the
// loss, Q 2nDm, Theta and Tau 2nDm together.
var noGradient = make(framework.Point, NumBlocks)

// sums are the sums over rows that determine the global gradients. Sums of disjoint rows merge by adding.
type sums struct {
	cost  float64
	c     []float64 // D: sum of g_i
	qt    []float64 // m x D: sum of z_i g_i'
	theta []float64 // q x s: sum of phi_i (V'g_i)'
	terms GradientTerms
}

func newSums(f *sheet.Sheet) *sums {
	return &sums{c: make([]float64, f.D), qt: make([]float64, f.M*f.D), theta: make([]float64, f.Q*f.S)}
}

func (s *sums) reset() {
	s.cost = 0
	clear(s.c)
	clear(s.qt)
	clear(s.theta)
	s.terms.reset()
}

// add adds the requested parts of the sums other to s.
func (s *sums) add(other *sums, grad framework.Point, terms bool) {
	s.cost += other.cost
	if grad[BlockC] != nil {
		floats.Add(s.c, other.c)
	}
	if grad[BlockQ] != nil {
		floats.Add(s.qt, other.qt)
	}
	if grad[BlockTheta] != nil {
		floats.Add(s.theta, other.theta)
	}
	if terms {
		s.terms.add(&other.terms)
	}
}

// accumulate adds n rows with weighted loss gradients g, n x D; their z and phi
// are in the worker's buffers. Gradients with respect to tau are written where
// tauGrad is not nil, tau being the coordinates of the rows.
func (s *sums) accumulate(f *sheet.Sheet, w *nearest.Worker, grad framework.Point, g, tau, tauGrad []float64) {
	n := len(g) / f.D
	if grad[BlockC] != nil {
		for i := range n {
			floats.Add(s.c, w.Row(g, f.D, i))
		}
	}
	if grad[BlockQ] != nil {
		dense.AddProduct(s.qt, w.Z, g, n, f.M, f.D)
	}
	if grad[BlockTheta] == nil && tauGrad == nil {
		return
	}
	f.RowsToFrame(w.Pulled, g, n)
	for i := range n {
		pulled := w.Row(w.Pulled, f.M, i)
		if grad[BlockTheta] != nil {
			for a, v := range w.Row(w.Phi, f.Q, i) {
				sums := s.theta[a*f.S : (a+1)*f.S]
				for k, b := range pulled[f.Latent:] {
					sums[k] += float64(v * b)
				}
			}
		}
		if tauGrad != nil {
			f.TauGradient(w.Row(tauGrad, f.Latent, i), w.W, w.Row(tau, f.Latent, i), pulled)
		}
	}
}

// write converts the sums to the requested gradients.
func (s *sums) write(f *sheet.Sheet, grad framework.Point) {
	copy(grad[BlockC], s.c)
	if grad[BlockQ] != nil {
		dense.Transpose(grad[BlockQ], s.qt, f.M, f.D)
	}
	copy(grad[BlockTheta], s.theta)
}
