package classic

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// MLS is the moving least squares projection. It fits a plane with an origin q such that the row minus q is normal to
// the plane, then a polynomial over the plane. The value of the polynomial at q is the result.
//
// Source: B. Sober, D. Levin, Manifold approximation by moving least-squares
// projection, Constructive Approximation 52 (2020).
type MLS struct {
	// Latent is d, the dimension of the surface, 1 <= d <= D.
	Latent int
	// Neighbors is K, at least 1+d+d(d+1)/2 for degree 2 and d+1 for degree 1;
	// 0 stands for 30.
	Neighbors int
	// Degree of the polynomial, 1 or 2; 0 stands for 2.
	Degree int
	// Flat gives all neighbours the same weight. Otherwise a neighbour at distance r from q has the weight
	// (1-(r/h)^3)^3. h is the distance of the first row that is not a neighbour.
	Flat bool
}

// Name returns "mls".
func (MLS) Name() string { return "mls" }

// Size returns the number of neighbours.
func (m MLS) Size(n, D int) (int, error) {
	if m.Degree < 0 || m.Degree > 2 {
		return 0, fmt.Errorf("denoise: mls: degree is %d, want 1 or 2: %w", m.Degree, core.ErrInput)
	}
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, m.functions())
}

func (m MLS) functions() int {
	if m.Degree == 1 {
		return 1 + m.Latent
	}
	return chart.Quadratics(m.Latent)
}

// Prepare implements core.Method; the method learns nothing from the cloud.
func (m MLS) Prepare(_ context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	return core.PerWorker(func(context.Context) (core.Worker, error) {
		d, D, p := m.Latent, c.D, m.functions()
		vec := func(n int) []float64 { return make([]float64, n) }
		return &mlsWorker{
			method: m, d: d, D: D, frame: chart.NewFrame(D, d), plane: chart.NewRegression(1+d, D), surface: chart.NewRegression(p, D),
			q: vec(D), u: vec(d * D), slope: vec((1 + d) * D), coefficients: vec(p * D), diff: vec(D), step: vec(D),
			t: vec(d), psi: vec(chart.Quadratics(d)),
		}, nil
	}), nil
}

type mlsWorker struct {
	method         MLS
	d, D           int
	frame          *chart.Frame
	plane, surface *chart.Regression
	q              []float64 // D: origin
	u              []float64 // d x D: frame
	slope          []float64 // (1+d) x D
	coefficients   []float64 // p x D
	diff, step     []float64 // D
	t, psi         []float64
	unit           float64 // of coordinates
}

func (w *mlsWorker) Place(h *core.Neighborhood, about *core.Row) error {
	if !w.frame.Find(h.Rows, h.Weights) || !(h.Next > 0) {
		return core.ErrNoSurface
	}
	copy(w.u, w.frame.Axes)
	copy(w.q, h.Centre)
	w.unit = h.Next
	for range 100 {
		moved, ok := w.movePlane(h)
		if !ok {
			return core.ErrNoSurface
		}
		if moved <= 1e-10*w.unit {
			break
		}
	}
	return w.fitSurface(h, about)
}

// coordinates leaves x - q in diff and its coordinates in t and psi.
func (w *mlsWorker) coordinates(x []float64) {
	floats.SubTo(w.diff, x, w.q)
	for k := range w.d {
		w.t[k] = dense.Dot(w.u[k*w.D:(k+1)*w.D], w.diff) / w.unit
	}
	chart.Quadratic(w.psi, w.t)
}

func (w *mlsWorker) weight(h *core.Neighborhood, k int) float64 {
	if w.method.Flat {
		return h.Weights[k]
	}
	return h.Weights[k] * chart.Tricube(rows.Distance(h.Row(k), w.q)/h.Next)
}

// movePlane fits x - q to 1 and the coordinates. It updates the plane and moves the origin to the projection of the
// centre. It returns how far the origin moved.
func (w *mlsWorker) movePlane(h *core.Neighborhood) (moved float64, ok bool) {
	w.plane.Reset()
	for k := range h.N() {
		w.coordinates(h.Row(k))
		w.plane.Add(w.psi[:1+w.d], w.diff, w.weight(h, k))
	}
	if !w.plane.Solve(w.slope) {
		return 0, false
	}
	copy(w.u, w.slope[w.D:])
	if !dense.OrthonormalizeRows(w.u, w.D) {
		return 0, false
	}
	floats.AddTo(w.step, w.q, w.slope[:w.D]) // a point of the plane
	floats.SubTo(w.diff, h.Centre, w.step)
	for k := range w.d {
		axis := w.u[k*w.D : (k+1)*w.D]
		floats.AddScaled(w.step, dense.Dot(axis, w.diff), axis)
	}
	moved = rows.Distance(w.step, w.q)
	copy(w.q, w.step)
	return moved, !math.IsNaN(moved)
}

func (w *mlsWorker) fitSurface(h *core.Neighborhood, about *core.Row) error {
	p := w.surface.P
	w.surface.Reset()
	for k := range h.N() {
		w.coordinates(h.Row(k))
		w.surface.Add(w.psi[:p], w.diff, w.weight(h, k))
	}
	if !w.surface.Solve(w.coefficients) {
		return core.ErrNoSurface
	}
	var rest, total, square float64
	for k := range h.N() {
		w.coordinates(h.Row(k))
		weight := w.weight(h, k)
		for i := range p {
			floats.AddScaled(w.diff, -w.psi[i], w.coefficients[i*w.D:(i+1)*w.D])
		}
		rest += weight * dense.Dot(w.diff, w.diff)
		total += weight
		square += weight * weight
	}
	about.Noise = chart.SpreadPerDirection(rest, total, square, p, w.D-w.d)
	return nil
}

func (w *mlsWorker) Project(dst, x []float64) error {
	w.coordinates(x)
	copy(dst, w.q)
	for i := range w.surface.P {
		floats.AddScaled(dst, w.psi[i], w.coefficients[i*w.D:(i+1)*w.D])
	}
	return nil
}

// Dimension is Latent.
func (m MLS) Dimension() int { return m.Latent }

// Sized implements sized.
func (m MLS) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
