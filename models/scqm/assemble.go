package scqm

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// arrowSums is all that the outer derivatives need to know of some rows. Sums
// of disjoint rows merge by adding.
type arrowSums struct {
	cost float64
	gh   []float64 // D x F: sum of g h'
	hh   []float64 // F x F, upper triangle: weighted sum of h h'
	a    []float64 // P x P, upper triangle: what does not follow from hh
}

func newArrowSums(a *chart) *arrowSums {
	return &arrowSums{
		gh: make([]float64, a.f.D*a.nf), hh: make([]float64, a.nf*a.nf), a: make([]float64, a.p*a.p),
	}
}

func (s *arrowSums) reset() {
	s.cost = 0
	clear(s.gh)
	clear(s.hh)
	clear(s.a)
}

func (s *arrowSums) add(other *arrowSums) {
	s.cost += other.cost
	floats.Add(s.gh, other.gh)
	floats.Add(s.hh, other.hh)
	floats.Add(s.a, other.a)
}

// arrowBatch is the number of rows whose losses are computed at a time.
const arrowBatch = 64

// arrowWorker holds the buffers of one goroutine. Those with a leading n are
// for a batch of rows.
type arrowWorker struct {
	batch    int
	h        []float64 // n x F: features
	e, g     []float64 // n x D: residual and loss gradient in the frame
	u        []float64 // n: squared norms
	value    []float64 // n: losses
	one, two []float64 // n: derivatives of rho
	hess     []float64 // n x D x D: loss Hessians in the frame
	atRows   rowLosses // in the coordinates of the data
	dh       []float64 // F x d: derivatives of the features
	he       []float64 // D x d: Hessian of the loss times that of e
	t        []float64 // d
	v        []float64 // P
	w        []float64 // q
	walker   *walker
	settler  *settler
}

func newArrowWorker(a *chart, n int) *arrowWorker {
	f := a.f
	vec := func(n int) []float64 { return make([]float64, n) }
	b := min(arrowBatch, n)
	return &arrowWorker{
		batch: b, h: vec(b * a.nf), e: vec(b * f.D), g: vec(b * f.D),
		u: vec(b), value: vec(b), one: vec(b), two: vec(b), atRows: newRowLosses(b, f.D),
		dh: vec(a.nf * f.d), he: vec(f.D * f.d), t: vec(f.d), v: vec(a.p), w: vec(f.q),
		walker: newWalker(f), settler: newSettler(f, b),
	}
}

// assembleShard assembles some rows.
type assembleShard struct {
	dst  *framework.Arrow
	tau  []float64
	seen bool // a.seen is that of the point
}

func (job *assembleShard) run(a *arrow, w *arrowWorker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.reset()
	for from := lo; from < hi; from += w.batch {
		if err := a.o.Context().Err(); err != nil {
			return err
		}
		to := min(from+w.batch, hi)
		look := job.look
		if a.isSurface() {
			look = job.lookAtSurface
		}
		look(a, w, from, to)
		if err := a.lossDerivatives(w, to-from); err != nil {
			return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
		}
		if a.isSurface() {
			job.surface(a, w, s, from, to)
			continue
		}
		for i := from; i < to; i++ {
			job.addRow(a, w, s, i, i-from)
		}
	}
	return nil
}

// look computes features and residuals in the frame.
func (job *assembleShard) look(a *arrow, w *arrowWorker, from, to int) {
	f := a.f
	for i := from; i < to; i++ {
		h := w.h[(i-from)*a.nf : (i-from+1)*a.nf]
		e := w.e[(i-from)*f.D : (i-from+1)*f.D]
		a.features(h, job.tau[i*f.d:(i+1)*f.d])
		seen := a.seen.y[i*f.D : (i+1)*f.D]
		if !job.seen {
			a.frame.see(seen, a.o.Data().Row(i))
		}
		for r, y := range seen {
			e[r] = -y
			if r < f.m {
				e[r] = h[1+r] - y
			}
		}
	}
}

// addRow adds row i, which is number k of the batch, and writes its inner
// derivatives.
func (job *assembleShard) addRow(a *arrow, w *arrowWorker, s *arrowSums, i, k int) {
	f, weight := a.f, a.o.Data().Weight(i)
	if weight > 0 {
		s.cost += weight * w.value[k]
	}
	h, g, tau := w.h[k*a.nf:(k+1)*a.nf], w.g[k*f.D:(k+1)*f.D], job.tau[i*f.d:(i+1)*f.d]
	dense.Scale(g, weight)
	a.slopes(w.dh, tau)
	a.hessianTimesSlopes(w, k, weight)
	job.inner(a, w, g, i)
	job.couple(a, w, h, g, i)
	for r, v := range g {
		row := s.gh[r*a.nf : (r+1)*a.nf]
		for j, x := range h {
			row[j] += v * x
		}
	}
	a.addOuter(w, s, h, k, weight)
}

// inner writes gradient and Hessian with respect to tau_i.
func (job *assembleShard) inner(a *arrow, w *arrowWorker, g []float64, i int) {
	f := a.f
	d := f.d
	c, grad := job.dst.C[i*d*d:(i+1)*d*d], job.dst.InnerGrad[i*d:(i+1)*d]
	clear(c)
	clear(grad)
	for r := range f.m {
		slope, he := w.dh[(1+r)*d:(2+r)*d], w.he[r*d:(r+1)*d]
		for j, v := range slope {
			grad[j] += g[r] * v
			for l, u := range he {
				c[j*d+l] += v * u
			}
		}
	}
	f.weigh(w.w, g[d:f.m])
	f.addCurvature(c, w.w)
}

// couple writes B_i.
func (job *assembleShard) couple(a *arrow, w *arrowWorker, h, g []float64, i int) {
	d, nd := a.f.d, job.dst.Inner()
	for p := range a.p {
		b := job.dst.B[p*nd+i*d : p*nd+(i+1)*d]
		clear(b)
		for _, t := range a.termsOf(p) {
			hf, gr := t.sign*h[t.feature], t.sign*g[t.row]
			he, dh := w.he[t.row*d:(t.row+1)*d], w.dh[t.feature*d:(t.feature+1)*d]
			for j := range b {
				b[j] += he[j]*hf + gr*dh[j]
			}
		}
	}
}
