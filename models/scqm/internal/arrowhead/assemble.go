package arrowhead

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Assembly is one pass over the rows: each adds g h' and w h h' for its F = 1 + m + q
// features, and writes its B_i, P x d, and C_i, d x d. That takes about n(DF + F^2 +
// Pd) operations, and nP^2 where the Hessian of the loss has no structure.

// sums are the sums over rows that determine the outer derivatives. Sums of disjoint rows merge by adding.
type sums struct {
	cost float64
	gh   []float64 // D x F: sum of g h'
	dual []float64 // D x F: the same with dual variables, if any
	hh   []float64 // F x F, upper triangle: weighted sum of hh'
	a    []float64 // P x P, upper triangle: terms that do not follow from hh and diagonal

	diagonal []float64 // F(F+1)/2 x D: the moments of separable losses, if any
}

func newSums(a *Chart, outer bool) *sums {
	s := &sums{gh: make([]float64, a.F.D*a.Nf), hh: make([]float64, a.Nf*a.Nf)}
	if outer {
		s.a = make([]float64, a.P*a.P)
	}
	return s
}

func (s *sums) reset() {
	s.cost = 0
	clear(s.gh)
	clear(s.dual)
	clear(s.hh)
	clear(s.a)
	clear(s.diagonal)
}

func (s *sums) add(other *sums) {
	s.cost += other.cost
	floats.Add(s.gh, other.gh)
	floats.Add(s.dual, other.dual)
	floats.Add(s.hh, other.hh)
	floats.Add(s.a, other.a)
	floats.Add(s.diagonal, other.diagonal)
}

// BatchRows is the number of rows whose losses are computed at a time.
const BatchRows = 64

// worker holds the buffers of one goroutine. Buffers whose leading dimension is n hold a batch of n rows.
type worker struct {
	batch     int
	h         []float64 // n x F: features
	e, g      []float64 // n x D: residual and loss gradient in the frame
	u         []float64 // n: squared norms
	value     []float64 // n: losses
	one, two  []float64 // n: derivatives of rho
	hess      []float64 // n x D x D: loss Hessians in the frame
	atRows    rowLosses // in the coordinates of the data
	dh        []float64 // F x d: derivatives of the features
	he        []float64 // D x d: Hessian of the loss times that of e
	t         []float64 // d
	v         []float64 // P
	column    []float64 // D: see diagonalTimesJacobian
	w         []float64 // q
	quadratic *quadraticInner
	rows      *innerRows
	dual      *primalDual   // see primalDual
	features  outerProducts // of the features, for hh
	pulls     outerProducts // of J'e, for a
	moments   outerProducts // of features with second derivatives, for diagonal
}

func newWorker(a *Chart, n int) *worker {
	f := a.F
	vec := func(n int) []float64 { return make([]float64, n) }
	b := min(BatchRows, n)
	return &worker{
		batch: b, h: vec(b * a.Nf), e: vec(b * f.D), g: vec(b * f.D),
		u: vec(b), value: vec(b), one: vec(b), two: vec(b), atRows: newRowLosses(b, f.D),
		dh: vec(a.Nf * f.Latent), he: vec(f.D * f.Latent), t: vec(f.Latent), v: vec(a.P), w: vec(f.Q),
		quadratic: newQuadraticInner(f, b), rows: newInnerRows(f, b),
	}
}

// primalDual returns the buffers for dual variables. It allocates them at the first call.
func (w *worker) primalDual(f *sheet.Sheet) *primalDual {
	if w.dual == nil {
		w.dual = newPrimalDual(f)
	}
	return w.dual
}

// assembleShard adds the derivatives of one shard of the rows to its sums.
type assembleShard struct {
	dst *latent.Arrowhead
	tau []float64
}

func (job *assembleShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.reset()
	for from := lo; from < hi; from += w.batch {
		if err := a.o.Context().Err(); err != nil {
			return err
		}
		to := min(from+w.batch, hi)
		residuals := job.residuals
		if a.o.Data().Missing {
			residuals = job.observedResiduals
		}
		residuals(a, w, from, to)
		if err := a.lossDerivatives(w, to-from); err != nil {
			return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
		}
		for i := from; i < to; i++ {
			job.addRow(a, w, s, i, i-from)
		}
		w.addBatch(a, s)
	}
	return nil
}

// residuals computes features and residuals in the frame.
func (job *assembleShard) residuals(a *Hessian, w *worker, from, to int) {
	f := a.F
	for i := from; i < to; i++ {
		h := w.h[(i-from)*a.Nf : (i-from+1)*a.Nf]
		e := w.e[(i-from)*f.D : (i-from+1)*f.D]
		a.Features(h, job.tau[i*f.Latent:(i+1)*f.Latent])
		a.Frame.toFrame(e, a.o.Data().Row(i))
		for r, y := range e {
			e[r] = -y
			if r < f.M {
				e[r] = h[1+r] - y
			}
		}
	}
}

// observedResiduals computes features, and residuals in the coordinates of the data. In the frame, one missing entry
// would make all entries missing.
func (job *assembleShard) observedResiduals(a *Hessian, w *worker, from, to int) {
	f := a.F
	for i := from; i < to; i++ {
		k := i - from
		h := w.h[k*a.Nf : (k+1)*a.Nf]
		a.Features(h, job.tau[i*f.Latent:(i+1)*f.Latent])
		f.Residual(w.atRows.r[k*f.D:(k+1)*f.D], h[1:1+f.M], a.o.Data().Row(i))
	}
}

// addRow adds row i, which is row k of the batch, to the sums. It writes the derivatives with respect to tau_i.
func (job *assembleShard) addRow(a *Hessian, w *worker, s *sums, i, k int) {
	f, weight := a.F, a.o.Data().Weight(i)
	if weight > 0 {
		s.cost += weight * w.value[k]
		if prior := a.o.Prior.Of(*a.o.Data(), i); prior != nil {
			s.cost += weight * prior.Value(job.tau[i*f.Latent:(i+1)*f.Latent])
		}
	}
	h, g, tau := w.h[k*a.Nf:(k+1)*a.Nf], w.g[k*f.D:(k+1)*f.D], job.tau[i*f.Latent:(i+1)*f.Latent]
	dense.Scale(g, weight)
	a.Jacobian(w.dh, tau)
	a.hessianTimesJacobian(w, k, weight)
	job.inner(a, w, g, g, i)
	job.couple(a, w, h, g, i)
	for r, v := range g {
		row := s.gh[r*a.Nf : (r+1)*a.Nf]
		for j, x := range h {
			row[j] += v * x
		}
	}
	if !a.rowsOnly {
		a.addOuter(w, s, h, k, weight)
	}
}

// inner writes the gradient and the Hessian with respect to tau_i. bent takes the place of the gradient g in the terms
// with second derivatives of the residual.
func (job *assembleShard) inner(a *Hessian, w *worker, g, bent []float64, i int) {
	f := a.F
	d := f.Latent
	c, grad := job.dst.C[i*d*d:(i+1)*d*d], job.dst.InnerGrad[i*d:(i+1)*d]
	clear(c)
	clear(grad)
	for r := range f.M {
		slope, he := w.dh[(1+r)*d:(2+r)*d], w.he[r*d:(r+1)*d]
		for j, v := range slope {
			grad[j] += g[r] * v
			for l, u := range he {
				c[j*d+l] += v * u
			}
		}
	}
	f.WeighForms(w.w, bent[d:f.M])
	f.AddCurvature(c, w.w)
	if prior := a.o.Prior.Of(*a.o.Data(), i); prior != nil {
		prior.AddGradient(grad, job.tau[i*d:(i+1)*d], a.o.Data().Weight(i))
		prior.AddHessian(c, a.o.Data().Weight(i))
	}
}

// couple writes B_i, the coupling of tau_i with the outer coordinates.
func (job *assembleShard) couple(a *Hessian, w *worker, h, g []float64, i int) {
	d, nd := a.F.Latent, job.dst.Inner()
	for p := range a.P {
		b := job.dst.B[p*nd+i*d : p*nd+(i+1)*d]
		clear(b)
		for _, t := range a.TermsOf(p) {
			hf, gr := t.Sign*h[t.Feature], t.Sign*g[t.Row]
			he, dh := w.he[t.Row*d:(t.Row+1)*d], w.dh[t.Feature*d:(t.Feature+1)*d]
			for j := range b {
				b[j] += he[j]*hf + gr*dh[j]
			}
		}
	}
}

// addBatch adds the outer products of a batch to the sums of rows.
func (w *worker) addBatch(a *Hessian, s *sums) {
	w.features.squaresTo(s.hh, a.Nf)
	w.pulls.squaresTo(s.a, a.P)
	if w.moments.n > 0 {
		w.moments.productsTo(s.diagonal, a.momentsPerCoordinate(), a.F.D)
	}
}
