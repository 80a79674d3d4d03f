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

// QMF is quadratic matrix factorization with a ridge. It fits the neighbours by f(tau) = c + A tau + B(tau, tau),
// without constraints on A and B, alternating three steps:
//
//  1. c, A, B are regressions of the rows on 1, tau and its products, with the
//     ridge Lambda on B;
//  2. tau_i is the fixed point of (2B'B + B'A + A'A + A'B) t+ = (2B+A)'(x_i-c) -
//     B'A t, where B stands for the matrix B(t, .);
//  3. the columns of tau are made orthonormal and of mean 0.
//
// Source: Z. Zhai, H. Chen, Q. Sun, Quadratic matrix factorization with
// applications to manifold learning, IEEE TPAMI (2024).
type QMF struct {
	// Latent is d, the dimension of the surface, 1 <= d <= D.
	Latent int
	// Neighbors is K, at least 1+d+d(d+1)/2; 0 stands for 30.
	Neighbors int
	// Lambda is the ridge; 0 stands for 0.01, NoRidge for none.
	Lambda float64
	// Rounds bounds the alternations; 0 stands for 50.
	Rounds int
}

// Name returns "qmf".
func (QMF) Name() string { return "qmf" }

// Size returns the number of neighbours.
func (m QMF) Size(n, D int) (int, error) {
	if math.IsNaN(m.Lambda) || math.IsInf(m.Lambda, 0) || m.Lambda < 0 && m.Lambda != NoRidge || m.Rounds < 0 {
		return 0, fmt.Errorf("denoise: qmf: ridge %v and %d rounds; want finite numbers of at least 0: %w", m.Lambda, m.Rounds, core.ErrInput)
	}
	return core.SettleSize(m, m.Latent, D, m.Neighbors, n, chart.Quadratics(m.Latent))
}

// Prepare has nothing to do.
func (m QMF) Prepare(_ context.Context, c *core.Cloud, _ core.Options) (core.Fitted, error) {
	lambda := m.Lambda
	switch lambda {
	case 0:
		lambda = 0.01
	case NoRidge:
		lambda = 0
	}
	if m.Rounds == 0 {
		m.Rounds = 50
	}
	return core.PerWorker(func(context.Context) (core.Worker, error) {
		d, D, p := m.Latent, c.D, chart.Quadratics(m.Latent)
		vec := func(n int) []float64 { return make([]float64, n) }
		return &qmfWorker{
			d: d, D: D, p: p, lambda: lambda, rounds: m.Rounds, frame: chart.NewFrame(D, d), sums: chart.NewRegression(p, D),
			f: vec(p * D), psi: vec(p), diff: vec(D), jac: vec(2 * d * D), h: vec(d * d), t: vec(d), next: vec(d), column: vec(d),
		}, nil
	}), nil
}

type qmfWorker struct {
	d, D, p, rounds int
	lambda          float64
	frame           *chart.Frame
	sums            *chart.Regression

	f    []float64 // p x D: c, A and B
	tau  []float64 // K x d
	psi  []float64 // p
	diff []float64 // D
	jac  []float64 // 2 d x D: A' above B(t, .)'
	h    []float64 // d x d

	t, next, column []float64 // d
}

// qmfPrecision is the step length at which a fixed point iteration ends, and the relative change of the sum of
// squares at which the alternation ends.
const qmfPrecision = 1e-8

func (w *qmfWorker) Place(h *core.Neighborhood, about *core.Row) error {
	if !w.frame.Find(h.Rows, h.Weights) {
		return core.ErrNoSurface
	}
	w.begin(h)
	before := math.Inf(1)
	var rest float64
	for range w.rounds {
		if !w.orthonormalize(h.N()) || !w.regress(h) {
			return core.ErrNoSurface
		}
		if rest = w.settle(h); math.IsNaN(rest) {
			return core.ErrNoSurface
		}
		if before-rest <= qmfPrecision*rest {
			break
		}
		before = rest
	}
	if !w.orthonormalize(h.N()) || !w.regress(h) {
		return core.ErrNoSurface
	}
	var total, square float64
	for _, v := range h.Weights {
		total += v
		square += v * v
	}
	about.Ridge = w.lambda
	about.Noise = chart.SpreadPerDirection(rest, total, square, w.p, w.D-w.d)
	return nil
}

// begin takes the principal components as tau.
func (w *qmfWorker) begin(h *core.Neighborhood) {
	if len(w.tau) < h.N()*w.d {
		w.tau = make([]float64, h.N()*w.d)
	}
	for i := range h.N() {
		floats.SubTo(w.diff, h.Row(i), w.frame.Mean)
		for k := range w.d {
			w.tau[i*w.d+k] = dense.Dot(w.frame.Axis(k), w.diff)
		}
	}
}

// orthonormalize makes the columns of tau, n x d, orthonormal and of mean 0.
func (w *qmfWorker) orthonormalize(n int) bool {
	d := w.d
	for k := range d {
		var mean float64
		for i := range n {
			mean += w.tau[i*d+k] / float64(n)
		}
		for i := range n {
			w.tau[i*d+k] -= mean
		}
	}
	clear(w.h)
	for i := range n {
		row := w.tau[i*d : (i+1)*d]
		for a := range d {
			for b := range a + 1 {
				w.h[a*d+b] += row[a] * row[b]
			}
		}
	}
	if !dense.FactorCholesky(w.h, d, 0, chart.Singular) {
		return false
	}
	for i := range n { // tau <- tau L^-T
		row := w.tau[i*d : (i+1)*d]
		for a := range d {
			row[a] = (row[a] - dense.Dot(w.h[a*d:a*d+a], row[:a])) / w.h[a*d+a]
		}
	}
	return true
}

// regress fits c, A and B to the rows.
func (w *qmfWorker) regress(h *core.Neighborhood) bool {
	w.sums.Reset()
	for i := range h.N() {
		chart.Quadratic(w.psi, w.tau[i*w.d:(i+1)*w.d])
		floats.SubTo(w.diff, h.Row(i), w.frame.Mean)
		w.sums.Add(w.psi, w.diff, h.Weights[i])
	}
	w.sums.Penalise(1+w.d, w.lambda)
	return w.sums.Solve(w.f)
}

// settle moves every tau to its fixed point, if this lowers its residual, and returns the weighted sum of squares.
func (w *qmfWorker) settle(h *core.Neighborhood) float64 {
	var rest float64
	for i := range h.N() {
		row := w.tau[i*w.d : (i+1)*w.d]
		before := w.residual(h.Row(i), row)
		copy(w.t, row)
		w.fixedPoint(h.Row(i))
		if after := w.residual(h.Row(i), w.t); after < before {
			before = after
			copy(row, w.t)
		}
		rest += h.Weights[i] * before
	}
	return rest
}

// residual leaves x - f(t) in diff and returns its square.
func (w *qmfWorker) residual(x, t []float64) float64 {
	chart.Quadratic(w.psi, t)
	floats.SubTo(w.diff, x, w.frame.Mean)
	for i, v := range w.psi {
		floats.AddScaled(w.diff, -v, w.f[i*w.D:(i+1)*w.D])
	}
	return dense.Dot(w.diff, w.diff)
}

// fixedPoint iterates from t, in place.
func (w *qmfWorker) fixedPoint(x []float64) {
	d, D := w.d, w.D
	copy(w.jac[:d*D], w.f[D:(1+d)*D])
	for range 100 {
		w.bendAt(w.t)
		a, b := w.jac[:d*D], w.jac[d*D:]
		floats.SubTo(w.diff, x, w.frame.Mean)
		floats.Sub(w.diff, w.f[:D])
		for i := range d {
			ai, bi := a[i*D:(i+1)*D], b[i*D:(i+1)*D]
			w.next[i] = dense.Dot(ai, w.diff) + 2*dense.Dot(bi, w.diff)
			for j := range d {
				aj, bj := a[j*D:(j+1)*D], b[j*D:(j+1)*D]
				w.next[i] -= dense.Dot(bi, aj) * w.t[j]
				w.h[i*d+j] = 2*dense.Dot(bi, bj) + dense.Dot(bi, aj) + dense.Dot(ai, aj) + dense.Dot(ai, bj)
			}
		}
		if !dense.FactorCholesky(w.h, d, 0, chart.Singular) {
			return
		}
		dense.SolveCholeskyRows(w.next, w.h, d, 1)
		moved := rows.Distance(w.next, w.t)
		copy(w.t, w.next)
		if !(moved > qmfPrecision) {
			return
		}
	}
}

// bendAt writes B(t, .)' below A' in jac: the products of row i are t_i t_j for
// j >= i, whose symmetric matrix has half of the mixed coefficients.
func (w *qmfWorker) bendAt(t []float64) {
	d, D := w.d, w.D
	b := w.jac[d*D:]
	clear(b)
	at := 1 + d
	for i := range d {
		for j := i; j < d; j++ {
			f := w.f[at*D : (at+1)*D]
			if i == j {
				floats.AddScaled(b[i*D:(i+1)*D], t[i], f)
			} else {
				floats.AddScaled(b[i*D:(i+1)*D], t[j]/2, f)
				floats.AddScaled(b[j*D:(j+1)*D], t[i]/2, f)
			}
			at++
		}
	}
}

// Project starts from the place of x on the tangent plane at tau = 0.
func (w *qmfWorker) Project(dst, x []float64) error {
	d, D := w.d, w.D
	floats.SubTo(w.diff, x, w.frame.Mean)
	floats.Sub(w.diff, w.f[:D])
	for i := range d {
		ai := w.f[(1+i)*D : (2+i)*D]
		w.t[i] = dense.Dot(ai, w.diff)
		for j := range d {
			w.h[i*d+j] = dense.Dot(ai, w.f[(1+j)*D:(2+j)*D])
		}
	}
	if !dense.FactorCholesky(w.h, d, 0, chart.Singular) {
		return core.ErrNoSurface
	}
	dense.SolveCholeskyRows(w.t, w.h, d, 1)
	copy(w.column, w.t)
	start := w.residual(x, w.column)
	w.fixedPoint(x)
	if !(w.residual(x, w.t) <= start) {
		copy(w.t, w.column)
	}
	w.residual(x, w.t)
	floats.SubTo(dst, x, w.diff)
	return nil
}

// Dimension is Latent.
func (m QMF) Dimension() int { return m.Latent }

// Sized implements sized.
func (m QMF) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
