package objective

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// want selects the gradients of an evaluation, and whether it sums the terms of all. Those of c and Theta take
// few operations beyond the loss, that of Q 2nDm, those of Theta and Tau 2nDm together.
type want struct{ c, q, theta, tau, terms bool }

func wanted(grad framework.Point) want {
	if grad == nil {
		return want{}
	}
	return want{
		c: grad[BlockC] != nil, q: grad[BlockQ] != nil,
		theta: grad[BlockTheta] != nil, tau: grad[BlockTau] != nil,
	}
}

func (w want) any() bool { return w.c || w.q || w.theta || w.tau || w.terms }

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

// add merges other into s, in the parts that were wanted.
func (s *sums) add(other *sums, w want) {
	s.cost += other.cost
	if w.c {
		floats.Add(s.c, other.c)
	}
	if w.q {
		floats.Add(s.qt, other.qt)
	}
	if w.theta {
		floats.Add(s.theta, other.theta)
	}
	if w.terms {
		s.terms.add(&other.terms)
	}
}

// accumulate adds n rows with weighted loss gradients g, n x D; their z and phi
// are in the worker's buffers. Gradients with respect to tau are written where
// wanted, tau being the coordinates of the rows.
func (s *sums) accumulate(f *sheet.Sheet, w *nearest.Worker, want want, g, tau, tauGrad []float64) {
	n := len(g) / f.D
	if want.c {
		for i := range n {
			floats.Add(s.c, w.Row(g, f.D, i))
		}
	}
	if want.q {
		dense.AddProduct(s.qt, w.Z, g, n, f.M, f.D)
	}
	if !want.theta && !want.tau {
		return
	}
	f.RowsToFrame(w.Pulled, g, n)
	for i := range n {
		pulled := w.Row(w.Pulled, f.M, i)
		if want.theta {
			for a, v := range w.Row(w.Phi, f.Q, i) {
				sums := s.theta[a*f.S : (a+1)*f.S]
				for k, b := range pulled[f.Latent:] {
					sums[k] += float64(v * b)
				}
			}
		}
		if want.tau {
			f.TauGradient(w.Row(tauGrad, f.Latent, i), w.W, w.Row(tau, f.Latent, i), pulled)
		}
	}
}

// write converts the sums to gradients.
func (s *sums) write(f *sheet.Sheet, grad framework.Point, w want) {
	if w.c {
		copy(grad[BlockC], s.c)
	}
	if w.q {
		dense.Transpose(grad[BlockQ], s.qt, f.M, f.D)
	}
	if w.theta {
		copy(grad[BlockTheta], s.theta)
	}
}
