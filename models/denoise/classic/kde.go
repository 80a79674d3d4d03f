package classic

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// KDE moves rows uphill on a kernel density estimate to its ridge: the subspace constrained mean shift. The Gaussian
// kernels have width h. m is the mean of the rows weighted by them, and N holds the D-d eigenvectors of the Hessian
// of the density with the smallest eigenvalues. The method repeats
//
//	x <- x + N N'(m - x).
//
// Source: U. Ozertem, D. Erdogmus, Locally defined principal curves and surfaces,
// JMLR 12 (2011).
type KDE struct {
	// Latent is d, the dimension of the ridge, 1 <= d <= D.
	Latent int
	// Neighbors is K if Local is set; 0 stands for 30.
	Neighbors int
	// Width is h; 0 stands for Silverman's rule
	// (4/(D+2))^(1/(D+4)) n^(-1/(D+4)) times the mean standard deviation of the
	// columns.
	Width float64
	// Local sets h, for each row, to the distance of its K-th neighbour. Only the 16 K nearest rows count then: with
	// many columns nearly all rows are about as far as the K-th.
	Local bool
	// Log uses the Hessian of the logarithm of the density.
	Log bool
}

// Name returns "kde", or "logkde".
func (m KDE) Name() string {
	if m.Log {
		return "logkde"
	}
	return "kde"
}

// Size returns the number of neighbours.
func (m KDE) Size(n, D int) (int, error) {
	if !(m.Width >= 0) || math.IsInf(m.Width, 0) {
		return 0, fmt.Errorf("denoise: %s: kernel width %v; want a finite number of at least 0: %w", m.Name(), m.Width, core.ErrInput)
	}
	if m.Local && m.Width > 0 {
		return 0, fmt.Errorf("denoise: %s: the kernel width is given or local, not both: %w", m.Name(), core.ErrInput)
	}
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, 2)
}

// Prepare settles the width.
func (m KDE) Prepare(_ context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	if m.Width == 0 && !m.Local {
		m.Width = silverman(c)
		if !(m.Width > 0) {
			return nil, fmt.Errorf("denoise: %s: all rows are equal, and have no kernel width: %w", m.Name(), core.ErrInput)
		}
	}
	return core.PerWorker(func(context.Context) (core.Worker, error) {
		vec := func(n int) []float64 { return make([]float64, n) }
		return &kdeWorker{method: m, cloud: c, eigen: dense.NewSymmetricEigen(c.D), x: vec(c.D), at: vec(c.D), shift: vec(c.D), diff: vec(c.D), step: vec(c.D)}, nil
	}), nil
}

// silverman is the rule of thumb for the width of a kernel.
func silverman(c *core.Cloud) float64 {
	var total float64
	for _, i := range c.Used {
		total += c.Weight(i)
	}
	var deviation float64
	for j := range c.D {
		var mean, square float64
		first := c.Row(c.Used[0])[j]
		for _, i := range c.Used {
			mean += c.Weight(i) / total * (c.Row(i)[j] - first)
		}
		for _, i := range c.Used {
			e := c.Row(i)[j] - first - mean
			square += c.Weight(i) / total * e * e
		}
		deviation += math.Sqrt(square) / float64(c.D)
	}
	D, n := float64(c.D), float64(len(c.Used))
	return math.Pow(4/(D+2), 1/(D+4)) * math.Pow(n, -1/(D+4)) * deviation
}

type kdeWorker struct {
	method KDE
	cloud  *core.Cloud
	h      float64
	most   int // number of rows that count
	eigen  *dense.SymmetricEigen
	search lookup.Search
	found  []lookup.Near
	at     []float64 // point from which found was searched

	x, shift, diff, step []float64 // D
}

// kdeReach is the distance, in widths, beyond which kernels are ignored. The kernels are looked up again after a
// point has moved by one width.
const kdeReach = 6

// Place settles the width.
func (w *kdeWorker) Place(h *core.Neighborhood, _ *core.Row) error {
	w.h, w.most = w.method.Width, len(w.cloud.Used)
	if w.method.Local {
		w.h, w.most = h.Distance[h.N()-1], min(w.most, 16*h.N()) // on a surface of two dimensions, the rows within 4 widths
	}
	if !(w.h > 0) {
		return core.ErrNoSurface
	}
	return nil
}

func (w *kdeWorker) Project(dst, x []float64) error {
	copy(w.x, x)
	w.look()
	for range 1000 {
		if rows.Distance(w.x, w.at) > w.h {
			w.look()
		}
		if !w.direct() {
			return core.ErrNoSurface
		}
		floats.Add(w.x, w.step)
		if math.Sqrt(dense.Dot(w.step, w.step)) < 1e-7*w.h {
			break
		}
	}
	copy(dst, w.x)
	return nil
}

// look finds the rows whose kernels count at the point.
func (w *kdeWorker) look() {
	copy(w.at, w.x)
	reach := (kdeReach + 1) * w.h
	for k := 64; ; k *= 4 {
		w.found = w.search.Find(w.cloud.Index, w.x, min(k, w.most))
		if k >= w.most || w.found[len(w.found)-1].Distance > reach*reach {
			return
		}
	}
}

// direct computes the step from the current point. It returns false if the density is 0.
func (w *kdeWorker) direct() bool {
	D, h := w.cloud.D, w.h
	clear(w.shift)
	clear(w.eigen.A)
	least := math.Inf(1) // keeps kernels from vanishing far away
	for _, f := range w.found {
		least = min(least, rows.Distance(w.x, w.cloud.Row(f.Row)))
	}
	var total float64
	for _, f := range w.found {
		floats.SubTo(w.diff, w.cloud.Row(f.Row), w.x)
		weight := w.cloud.Weight(f.Row) * math.Exp((least*least-dense.Dot(w.diff, w.diff))/(2*h*h))
		dense.Scale(w.diff, 1/h)
		total += weight
		floats.AddScaled(w.shift, weight, w.diff)
		dense.AddOuterProduct(w.eigen.A, w.diff, weight)
	}
	if !(total > 0) {
		return false
	}
	dense.Scale(w.shift, 1/total)
	dense.Scale(w.eigen.A, 1/total) // h^2 times the Hessian over the density, plus I
	if w.method.Log {
		dense.AddOuterProduct(w.eigen.A, w.shift, -1)
	}
	if !w.eigen.Factorize() {
		return false
	}
	clear(w.step)
	for j := range D - w.method.Latent {
		for i := range D {
			w.diff[i] = w.eigen.A[i*D+j]
		}
		floats.AddScaled(w.step, h*dense.Dot(w.diff, w.shift), w.diff)
	}
	return true
}

// InUnits implements the interface of methods with units.
func (m KDE) InUnits(unit float64) (core.Method, bool) {
	m.Width /= unit
	return m, true
}

// Dimension is Latent.
func (m KDE) Dimension() int { return m.Latent }

// Sized implements sized.
func (m KDE) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
