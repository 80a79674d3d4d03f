package classic

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// SPH projects onto spherelets: the best-fitting sphere of dimension d in the affine space along d+1 principal
// directions of the neighbours.
//
// Source: D. Li, M. Mukhopadhyay, D. B. Dunson, Efficient manifold approximation
// with spherelets, JRSS B 84 (2022).
type SPH struct {
	// Latent is d, the dimension of the surface, 1 <= d < D.
	Latent int
	// Neighbors is K, at least d+2; 0 stands for 30.
	Neighbors int
}

// Name returns "sph".
func (SPH) Name() string { return "sph" }

// Size returns the number of neighbours.
func (m SPH) Size(n, D int) (int, error) {
	if m.Latent == D {
		return 0, core.NoDirection(m, D)
	}
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, m.Latent+2)
}

// Prepare implements core.Method; the method learns nothing from the cloud.
func (m SPH) Prepare(_ context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	return core.PerWorker(func(context.Context) (core.Worker, error) {
		k := m.Latent + 1
		vec := func(n int) []float64 { return make([]float64, n) }
		return &sphWorker{
			Frame: chart.NewFrame(c.D, k), sums: chart.NewRegression(k, 1), centre: vec(k), y: vec(k),
		}, nil
	}), nil
}

// sphWorker works with coordinates along the axes, from the mean.
type sphWorker struct {
	*chart.Frame
	sums   *chart.Regression
	centre []float64 // d+1
	radius float64
	y      []float64
	target [1]float64
}

func (w *sphWorker) coordinates(x []float64) {
	floats.SubTo(w.Diff, x, w.Mean)
	for k := range w.K {
		w.y[k] = dense.Dot(w.Axis(k), w.Diff)
	}
}

// Place solves H c = xi / 2 with H = sum (y-ybar)(y-ybar)' and xi = sum (|y|^2 -
// mean |y|^2)(y-ybar). The mean of y is 0 here.
func (w *sphWorker) Place(h *core.Neighborhood, about *core.Row) error {
	if !w.Find(h.Rows, h.Weights) {
		return core.ErrNoSurface
	}
	var sum, square float64
	for k := range h.N() {
		w.coordinates(h.Row(k))
		sum += h.Weights[k]
		square += h.Weights[k] * dense.Dot(w.y, w.y)
	}
	w.sums.Reset()
	for k := range h.N() {
		w.coordinates(h.Row(k))
		w.target[0] = (dense.Dot(w.y, w.y) - square/sum) / 2
		w.sums.Add(w.y, w.target[:], h.Weights[k])
	}
	if !w.sums.Solve(w.centre) {
		return core.ErrNoSurface
	}
	w.radius = 0
	for k := range h.N() {
		w.coordinates(h.Row(k))
		w.radius += h.Weights[k] / sum * rows.Distance(w.y, w.centre)
	}
	var rest float64
	for k := range h.N() {
		w.coordinates(h.Row(k))
		e := rows.Distance(w.y, w.centre) - w.radius
		rest += h.Weights[k] / sum * (e*e + max(dense.Dot(w.Diff, w.Diff)-dense.Dot(w.y, w.y), 0))
	}
	if free := h.N() - w.K - 1; free > 0 {
		about.Noise = math.Sqrt(rest * float64(h.N()) / float64(free*(w.D-w.K+1)))
	}
	return nil
}

// Project moves the projection of x onto the affine space to the sphere.
func (w *sphWorker) Project(dst, x []float64) error {
	w.coordinates(x)
	far := rows.Distance(w.y, w.centre)
	if !(far > 0) {
		return core.ErrNoSurface
	}
	copy(dst, w.Mean)
	for k := range w.K {
		floats.AddScaled(dst, w.centre[k]+w.radius/far*(w.y[k]-w.centre[k]), w.Axis(k))
	}
	return nil
}

// Dimension is Latent.
func (m SPH) Dimension() int { return m.Latent }

// Sized implements sized.
func (m SPH) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
