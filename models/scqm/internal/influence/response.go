package influence

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
)

// maxLeverage bounds leverages, and so the factor 1/(1 - h) of the first-order change by twenty.
const maxLeverage = 0.95

// Row is the change when one row is left out: how far the sheet moves, the distance of the row from it and from
// the sheet of the others, and its leverage.
type Row struct{ Move, Residual, Without, Leverage float64 }

// response computes the first-order change of the sheet when a row of a batch is left out, at P^2 operations
// for a row,
//
//	x_i = H^-1 w_i g_i,
//
// which changes e_i by de_i for fixed tau_i, and by df_i with tau_i at its minimum.
type response struct {
	batch
	x, moved  []float64 // n x P
	columns   []float64 // P x n
	m         []float64 // D x F
	d         []float64 // 2n x D: all de, then all df
	lossHess  []float64 // 2n x D: the Hessian of the loss times those
	r         []float64 // 2n x D: residuals in the coordinates of the data, twice
	remainder []float64 // n: x'H_i x less de'L de, times the weight
	mg, t     []float64 // F, d
}

func newResponse(k *Jackknife) *response {
	f, n := k.F, BatchRows
	vec := func(n int) []float64 { return make([]float64, n) }
	return &response{
		batch: newBatch(k, true), x: vec(n * k.P), moved: vec(n * k.P), columns: vec(n * k.P),
		m: vec(f.D * k.Nf), d: vec(2 * n * f.D), lossHess: vec(2 * n * f.D), r: vec(2 * n * f.D), remainder: vec(n),
		mg: vec(k.Nf), t: vec(f.Latent),
	}
}

// LeaveOut computes the influence of every row of the objective.
func (k *Jackknife) LeaveOut(dst []Row) error {
	batches := (len(dst) + BatchRows - 1) / BatchRows
	threads := k.problem.Threads()
	errs := make([]error, batches)
	if len(k.workers) < threads {
		k.workers = make([]*response, threads)
	}
	par.Do(threads, batches, func(id, i int) {
		if errs[i] = k.problem.Context().Err(); errs[i] != nil {
			return
		}
		if k.workers[id] == nil {
			k.workers[id] = newResponse(k)
		}
		from := i * BatchRows
		errs[i] = k.workers[id].run(dst[from:min(from+BatchRows, len(dst))], from)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// run computes the influence of the rows from the first one on.
func (a *response) run(dst []Row, from int) error {
	if err := a.load(from, from+len(dst)); err != nil {
		return err
	}
	a.solve()
	for i := range dst {
		a.follow(i)
	}
	if err := a.applyLossHessian(); err != nil {
		return err
	}
	P, D := a.k.P, a.k.F.D
	for i := range dst {
		h := a.leverage(i)
		x, df := a.x[i*P:(i+1)*P], a.d[(a.n+i)*D:(a.n+i+1)*D]
		e := a.e[i*D : (i+1)*D]
		dst[i] = Row{
			Move:     math.Sqrt(math.Max(0, floats.Dot(x, a.moved[i*P:(i+1)*P]))) / (1 - h),
			Residual: floats.Norm(e, 2),
			Leverage: h,
		}
		floats.Scale(1/(1-h), df)
		floats.Add(df, e)
		dst[i].Without = floats.Norm(df, 2)
	}
	return nil
}

// solve computes x, and the products of the moves with it.
func (a *response) solve() {
	k, n := a.k, a.n
	P, D, nf := k.P, k.F.D, k.Nf
	for i := range n {
		k.pull(a.x[i*P:(i+1)*P], a.g[i*D:(i+1)*D], a.h[i*nf:(i+1)*nf])
	}
	dense.Transpose(a.columns[:n*P], a.x[:n*P], n, P)
	k.solve(a.columns[:n*P], n)
	dense.Transpose(a.x[:n*P], a.columns[:n*P], P, n)
	times(a.moved[:n*P], k.moves, a.x[:n*P], n)
}

// follow computes de, df and remainder of row i.
func (a *response) follow(i int) {
	k, f := a.k, a.k.F
	D, nf, m, d := f.D, k.Nf, f.M, f.Latent
	h, g, x := a.h[i*nf:(i+1)*nf], a.g[i*D:(i+1)*D], a.x[i*k.P:(i+1)*k.P]
	de, df := a.d[i*D:(i+1)*D], a.d[(a.n+i)*D:(a.n+i+1)*D]
	k.scatter(a.m, x)
	clear(a.mg)
	for r := range de {
		row := a.m[r*nf : (r+1)*nf]
		de[r] = dense.Dot(row, h)
		floats.AddScaled(a.mg, g[r], row)
	}
	for j := range a.t {
		a.t[j] = dense.Dot(a.column(i, j), x) // R'B'x
	}
	copy(df, de)
	a.jacobian(i)
	a.inverse.R = a.root(i)
	for r := range m {
		slope := a.dh[(1+r)*d : (2+r)*d]
		a.inverse.Multiply(slope, slope)
		df[r] -= dense.Dot(slope, a.t)
	}
	// -B C^-1 B', then the second order of the move as in chart.addMove.
	a.remainder[i] = -dense.Dot(a.t, a.t)
	for r := range D {
		turn := a.m[r*nf+1 : r*nf+1+m]
		a.remainder[i] -= dense.Dot(turn, g[:m]) * dense.Dot(turn, h[1:1+m])
	}
	for j := range f.S {
		a.remainder[i] += 2 * a.mg[1+d+j] * dense.Dot(a.m[(d+j)*nf+1+m:(d+j+1)*nf], h[1+m:])
	}
}

// applyLossHessian computes lossHess.
func (a *response) applyLossHessian() error {
	D, n, frame := a.k.F.D, a.n, a.second.Frame
	for i := range 2 * n {
		frame.Restore(a.lossHess[i*D:(i+1)*D], a.d[i*D:(i+1)*D])
		frame.Restore(a.r[i*D:(i+1)*D], a.e[i%n*D:(i%n+1)*D])
	}
	if err := a.k.second.HessianProduct(a.lossHess[:2*n*D], a.r[:2*n*D], a.lossHess[:2*n*D], D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", a.k.problem.Loss().Name(), err)
	}
	for i := range 2 * n {
		v := a.r[i*D : (i+1)*D] // no longer needed
		copy(v, a.lossHess[i*D:(i+1)*D])
		frame.Rotate(a.lossHess[i*D:(i+1)*D], v)
	}
	return nil
}

// leverage is the share of row i in the second derivative of the cost along x, from 0 to maxLeverage. Besides
// df'L df, that of a model linear around the row, it has terms with the curvature of the sheet times the
// residual. These count only where they reduce it; otherwise they mislead, as the sheet turns away.
func (a *response) leverage(i int) float64 {
	D, n, weight := a.k.F.D, a.n, a.o.Data().Weight(i)
	at := func(v []float64, i int) []float64 { return v[i*D : (i+1)*D] }
	slope := dense.Dot(at(a.g, i), at(a.d, i)) // x'Hx
	if !(slope > 0) {
		return 0
	}
	whole := weight*dense.Dot(at(a.d, i), at(a.lossHess, i)) + a.remainder[i]
	linear := weight * dense.Dot(at(a.d, n+i), at(a.lossHess, n+i))
	return min(max(0, min(whole, linear)/slope), maxLeverage)
}

// solve replaces the n columns of b by H^-1 times them.
func (k *Jackknife) solve(b []float64, n int) {
	lapack64.Potrs(k.factor, blas64.General{Rows: k.P, Cols: n, Stride: n, Data: b})
}
