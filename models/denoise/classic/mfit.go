package classic

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// MFIT moves a row to a point at which the weighted mean offset of its neighbours from it, normal to their tangent
// planes, is zero. P_i is the projector normal to the tangent plane of neighbour i, alpha_i is proportional to (1 -
// |x-x_i|^2/r^2)^beta, and Pi is the projector onto the D-d leading eigenvectors of sum alpha_i P_i. It repeats
//
//	x <- x + step Pi sum_i alpha_i P_i (x_i - x).
//
// Source: C. Fefferman, S. Ivanov, Y. Kurylev, M. Lassas, H. Narayanan, Fitting a
// putative manifold to noisy data, COLT 2018, in the form that Zhai and Li compare
// with.
type MFIT struct {
	// Latent is d, the dimension of the surface, 1 <= d <= D.
	Latent int
	// Neighbors is K, at least d+1; 0 stands for 30. The radius r is the
	// distance of the K-th neighbour.
	Neighbors int
	// Beta is the exponent of the weights; 0 stands for d+2.
	Beta float64
	// Step is the length of a step, up to 1; 0 stands for 1.
	Step float64
}

// Name returns "mfit".
func (MFIT) Name() string { return "mfit" }

// Size returns the number of neighbours.
func (m MFIT) Size(n, D int) (int, error) {
	if !(m.Beta >= 0) || math.IsInf(m.Beta, 0) || !(m.Step >= 0 && m.Step <= 1) {
		return 0, fmt.Errorf("denoise: mfit: exponent %v and step %v; want a finite exponent of at least 0 and a step up to 1: %w", m.Beta, m.Step, core.ErrInput)
	}
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, m.Latent+1)
}

// Prepare finds the tangent planes of all rows.
func (m MFIT) Prepare(ctx context.Context, c *core.Cloud, o core.Options) (core.Fitted, error) {
	if m.Beta == 0 {
		m.Beta = float64(m.Latent + 2)
	}
	if m.Step == 0 {
		m.Step = 1
	}
	size, err := m.Size(len(c.Used), c.D)
	if err != nil {
		return nil, err
	}
	d, D := m.Latent, c.D
	planes := tangentPlanes{axes: make([]float64, c.N*d*D), known: make([]bool, c.N)}
	type state struct {
		search lookup.Search
		nearby core.Neighborhood
		frame  *chart.Frame
	}
	states := make([]*state, par.Threads(o.Threads))
	par.Do(len(states), len(c.Used), func(w, k int) {
		if ctx.Err() != nil {
			return
		}
		if states[w] == nil {
			states[w] = &state{frame: chart.NewFrame(D, d)}
		}
		s, i := states[w], c.Used[k]
		s.nearby.At(c, &s.search, c.Row(i), size)
		planes.known[i] = s.frame.Find(s.nearby.Rows, s.nearby.Weights)
		copy(planes.axes[i*d*D:(i+1)*d*D], s.frame.Axes)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return core.PerWorker(func(context.Context) (core.Worker, error) {
		vec := func(n int) []float64 { return make([]float64, n) }
		return &mfitWorker{
			method: m, D: D, planes: &planes, eigen: dense.NewSymmetricEigen(D),
			x: vec(D), sum: vec(D), diff: vec(D), step: vec(D),
		}, nil
	}), nil
}

// tangentPlanes holds d x D orthonormal rows for every row of a cloud.
type tangentPlanes struct {
	axes  []float64
	known []bool
}

type mfitWorker struct {
	method    MFIT
	D         int
	planes    *tangentPlanes
	eigen     *dense.SymmetricEigen
	neighbors *core.Neighborhood

	x, sum, diff, step []float64 // D
}

// Place implements core.Worker: it stores the neighbourhood for Denoise.
func (w *mfitWorker) Place(h *core.Neighborhood, _ *core.Row) error {
	if !(h.Distance[h.N()-1] > 0) {
		return core.ErrNoSurface
	}
	w.neighbors = h
	return nil
}

func (w *mfitWorker) Project(dst, x []float64) error {
	r := w.neighbors.Distance[w.neighbors.N()-1]
	copy(w.x, x)
	for range 50 {
		if !w.direct(r) {
			return core.ErrNoSurface
		}
		floats.AddScaled(w.x, w.method.Step, w.step)
		if norm := math.Sqrt(dense.Dot(w.step, w.step)); norm <= settledPlace*r {
			break
		}
	}
	copy(dst, w.x)
	return nil
}

// direct computes the step from the current point. It returns false if no neighbour is near.
func (w *mfitWorker) direct(r float64) bool {
	h, D, d := w.neighbors, w.D, w.method.Latent
	clear(w.eigen.A)
	clear(w.sum)
	var total float64
	for k, i := range h.Index {
		far := rows.Distance(w.x, h.Row(k)) / r
		if far >= 1 || !w.planes.known[i] {
			continue
		}
		alpha := h.Weights[k] * math.Pow(1-far*far, w.method.Beta)
		total += alpha
		floats.SubTo(w.diff, h.Row(k), w.x)
		floats.AddScaled(w.sum, alpha, w.diff)
		for a := range d {
			axis := w.planes.axes[(i*d+a)*D : (i*d+a+1)*D]
			floats.AddScaled(w.sum, -alpha*dense.Dot(axis, w.diff), axis)
			dense.AddOuterProduct(w.eigen.A, axis, alpha)
		}
	}
	if !(total > 0) {
		return false
	}
	dense.Scale(w.eigen.A, 1/total)
	dense.Scale(w.sum, 1/total)
	if !w.eigen.Factorize() {
		return false
	}
	clear(w.step)
	for j := range D - d { // the leading eigenvectors of I - a are the last of a
		for i := range D {
			w.diff[i] = w.eigen.A[i*D+j]
		}
		floats.AddScaled(w.step, dense.Dot(w.diff, w.sum), w.diff)
	}
	return true
}

// Keeps implements keeper.
func (m MFIT) Keeps(f *core.Footprint) {
	f.Latent = float64(m.Latent)
	f.Kept = f.N * (f.Latent*f.D + 1)
}

// Dimension is Latent.
func (m MFIT) Dimension() int { return m.Latent }

// Sized implements sized.
func (m MFIT) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
