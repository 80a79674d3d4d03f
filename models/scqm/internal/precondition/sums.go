package precondition

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// minCurvature is the least diagonal entry of an axis of V relative to the mean of those of U. For Theta = 0 the
	// entries are 0, and steps would be unbounded.
	minCurvature = 3e-2
	// featureChunk is the number of features whose systems are summed at a time, over frameRows rows: enough to share
	// the products of z, few enough to stay in cache.
	featureChunk, frameRows = 128, 64
)

// sumFrame sums and factorizes the systems of the rows of [c Q], in nDm^2/2 operations. Features are cut into chunks,
// of which each adds all rows in order.
func (h *preconditioner) sumFrame(o *objective.Objective, f *sheet.Sheet, tau []float64) {
	par.Do(o.Threads(), (f.D+featureChunk-1)/featureChunk, func(id, k int) {
		from := k * featureChunk
		to := min(from+featureChunk, f.D)
		chunk, w := to-from, o.Worker(id)
		sums, yy := make([]float64, h.products*chunk), make([]float64, frameRows*h.products)
		for i := 0; i < o.Data().N; i += frameRows {
			n := min(frameRows, o.Data().N-i)
			for j := range n {
				z := w.Row(w.Z, f.M, 0)
				f.Coordinates(z, w.Row(w.Phi, f.Q, 0), tau[(i+j)*f.Latent:(i+j+1)*f.Latent])
				lowerProducts(yy[j*h.products:(j+1)*h.products], z)
			}
			dense.AddColumnsProduct(sums, yy, h.weights.W[i*f.D:(i+n)*f.D], n, h.products, f.D, from, to)
		}
		size := 1 + f.M
		gram, l := make([]float64, h.products), make([]float64, size*size)
		for j := range chunk {
			for t := range gram {
				gram[t] = sums[t*chunk+j]
			}
			fillLower(l, gram, size)
			raiseCurvature(l, f)
			dense.JitteredCholesky(l, size)
			dense.StoreCholeskyLane(h.frame, l, size, from+j, f.D)
		}
	})
}

// lowerProducts writes the lower triangle of yy' for y = [1; z], row by row.
func lowerProducts(yy, z []float64) {
	yy[0] = 1
	at := 1
	for a, v := range z {
		yy[at] = v
		for b, u := range z[:a+1] {
			yy[at+1+b] = v * u
		}
		at += a + 2
	}
}

// fillLower expands the lower triangle t into the symmetric n x n matrix a.
func fillLower(a, t []float64, n int) {
	for i := range n {
		for j := range i + 1 {
			a[i*n+j], a[j*n+i] = t[i*(i+1)/2+j], t[i*(i+1)/2+j]
		}
	}
}

// raiseCurvature bounds the diagonal entries of the axes of V from below.
func raiseCurvature(a []float64, f *sheet.Sheet) {
	n := 1 + f.M
	var mean float64
	for i := 1; i <= f.Latent; i++ {
		mean += a[i*n+i] / float64(f.Latent)
	}
	for i := f.Latent + 1; i < n; i++ {
		a[i*n+i] = max(a[i*n+i], minCurvature*mean)
	}
}

// thetaSums is the part of Theta's system that comes from some rows, with the
// buffers for their tau systems.
type thetaSums struct {
	k    []float64 // size x size
	b    []float64 // m x m: Q'W_iQ
	e    []float64 // m x d
	be   []float64 // m x d
	z    []float64
	phi  []float64
	size int

	coupling *couplingSums // nil where rows are short
}

func newThetaSums(f *sheet.Sheet, size int) *thetaSums {
	return &thetaSums{
		k: make([]float64, size*size), size: size, b: make([]float64, f.M*f.M),
		e: make([]float64, f.M*f.Latent), be: make([]float64, f.M*f.Latent),
		z: make([]float64, f.M), phi: make([]float64, f.Q),
	}
}

// sumRows factorizes the systems of the tau_i and that of Theta.
func (h *preconditioner) sumRows(o *objective.Objective, f *sheet.Sheet, tau []float64) {
	par.Do(o.Threads(), len(h.parts), func(id, shard int) {
		lo, hi := par.Bounds(o.Data().N, shard)
		t := h.parts[shard]
		clear(t.k)
		if h.coupling != nil {
			clear(t.coupling.system)
			clear(t.coupling.free)
		}
		wq := o.Worker(id).G[:f.D]
		for i := lo; i < hi; i++ {
			local := tau[i*f.Latent : (i+1)*f.Latent]
			f.Coordinates(t.z, t.phi, local)
			f.Jacobian(t.e, local)
			h.pullWeights(t.b, wq, f, i)
			l := h.tau[i*f.Latent*f.Latent : (i+1)*f.Latent*f.Latent]
			h.tauSystem(t, f, l)
			o.Prior.Of(*o.Data(), i).AddHessian(l, o.Data().Weight(i))
			dense.JitteredCholesky(l, f.Latent)
			h.addTheta(t, f)
			if h.coupling != nil {
				h.coupling.addRow(t.coupling, t, f, i, l)
			}
		}
	})
	clear(h.theta)
	for _, t := range h.parts {
		floats.Add(h.theta, t.k)
	}
	h.addPenalty(f, o.Regularizer)
	if h.coupling != nil {
		h.coupling.factorize(h.parts, f, o.Regularizer)
	}
	dense.JitteredCholesky(h.theta, h.parts[0].size)
}

// pullWeights writes Q'W_iQ into b.
func (h *preconditioner) pullWeights(b, wq []float64, f *sheet.Sheet, i int) {
	w := h.weights.W[i*f.D : (i+1)*f.D]
	for a := range f.M {
		dense.Products(wq, w, f.Axis(a))
		for c := range a + 1 {
			v := floats.Dot(wq, f.Axis(c))
			b[a*f.M+c], b[c*f.M+a] = v, v
		}
	}
}

// tauSystem writes E'BE into l.
func (h *preconditioner) tauSystem(t *thetaSums, f *sheet.Sheet, l []float64) {
	clear(t.be)
	for a := range f.M {
		for c, v := range t.b[a*f.M : (a+1)*f.M] {
			if v != 0 {
				floats.AddScaled(t.be[a*f.Latent:(a+1)*f.Latent], v, t.e[c*f.Latent:(c+1)*f.Latent])
			}
		}
	}
	clear(l)
	for a := range f.M {
		for j, v := range t.e[a*f.Latent : (a+1)*f.Latent] {
			floats.AddScaled(l[j*f.Latent:(j+1)*f.Latent], v, t.be[a*f.Latent:(a+1)*f.Latent])
		}
	}
}

// addTheta adds the row's part of Theta's system.
func (h *preconditioner) addTheta(t *thetaSums, f *sheet.Sheet) {
	if h.whole {
		for a, u := range t.phi {
			for c, v := range t.phi {
				for k := range f.S {
					dst := t.k[(a*f.S+k)*t.size+c*f.S:][:f.S]
					floats.AddScaled(dst, u*v, t.b[(f.Latent+k)*f.M+f.Latent:][:f.S])
				}
			}
		}
		return
	}
	var mean float64
	for k := f.Latent; k < f.M; k++ {
		mean += t.b[k*f.M+k] / float64(f.S)
	}
	for a, u := range t.phi {
		floats.AddScaled(t.k[a*f.Q:(a+1)*f.Q], mean*u, t.phi)
	}
}

// addPenalty adds the Hessian of the curvature penalty.
func (h *preconditioner) addPenalty(f *sheet.Sheet, penalty objective.Regularizer) {
	if h.whole {
		penalty.AddPenaltyHessian(f.Shape, h.theta, f.Q*f.S, 0)
		return
	}
	for a := range f.Q {
		h.theta[a*f.Q+a] += 2 * penalty.PenaltyWeight(f.Shape, a)
	}
}
