package influence

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// maxLeverage bounds leverages. It limits the factor 1/(1 - h) of the first-order change to twenty.
const maxLeverage = 0.95

// Row is the change of a fit when one row is left out.
type Row struct {
	// Move is how far the sheet moves. It is the root mean square, over all weighted rows, of the distance between
	// the nearest points of the sheet to a row before and after. Its unit is that of the data.
	Move float64
	// Residual is the distance of the row from the sheet, and Without its distance from the sheet fitted without the
	// row.
	Residual, Without float64
	// Leverage is the contribution of the row to the curvature of the cost along the step that leaving it out causes,
	// from 0 to 0.95.
	Leverage float64
}

// response computes the first-order change of the sheet when a row of a batch is left out, at P^2 operations
// for a row,
//
//	x_i = H^-1 w_i g_i,
//
// It changes e_i by de_i for fixed tau_i, and by df_i with tau_i at its minimum.
type response struct {
	*batch
	x, moved    []float64 // n x P
	columns     []float64 // P x n
	d           []float64 // 2n x D: all de, then all df, in the frame
	r, v, curve []float64 // 2n x D: e twice and d in the coordinates of the data, and the Hessian of the loss times v
	slope       []float64 // n: x_i'Hx_i
	remainder   []float64 // n: x_i'H_i x_i less de'L de, times the weight

	turned, turning, pulled, bend []float64 // D: second-order terms of a move
}

func newResponse(k *Jackknife) *response {
	vec := func(n int) []float64 { return make([]float64, n) }
	P, D, n := k.P, k.F.D, BatchRows
	return &response{
		batch: newBatch(k, true), x: vec(n * P), moved: vec(n * P), columns: vec(n * P),
		d: vec(2 * n * D), r: vec(2 * n * D), v: vec(2 * n * D), curve: vec(2 * n * D), slope: vec(n), remainder: vec(n),
		turned: vec(D), turning: vec(D), pulled: vec(D), bend: vec(D),
	}
}

// LeaveOut computes the influence of every row of an objective, whose coordinates must be at minima.
func (k *Jackknife) LeaveOut(dst []Row, o *objective.Objective, tau []float64) error {
	batches := (len(dst) + BatchRows - 1) / BatchRows
	errs := make([]error, batches)
	if len(k.workers) < o.Threads() {
		k.workers = make([]*response, o.Threads())
	}
	par.Do(o.Threads(), batches, func(id, i int) {
		if k.workers[id] == nil {
			k.workers[id] = newResponse(k)
		}
		from := i * BatchRows
		to := min(from+BatchRows, len(dst))
		if errs[i] = k.workers[id].load(o, tau, from, to); errs[i] == nil {
			errs[i] = k.workers[id].run(dst[from:to])
		}
	})
	return cmp.Or(errs...)
}

// run computes the influence of the loaded rows.
func (a *response) run(dst []Row) error {
	a.solve()
	n, P, D, frame := a.n, a.k.P, a.k.F.D, a.second.Frame
	for i := range dst {
		a.follow(i)
	}
	for i := range 2 * n {
		frame.Restore(a.v[i*D:(i+1)*D], a.d[i*D:(i+1)*D])
		frame.Restore(a.r[i*D:(i+1)*D], a.e[i%n*D:(i%n+1)*D])
	}
	used := 2 * n * D
	if err := rowloss.HessianOf(a.o.Loss()).HessianProduct(a.curve[:used], a.r[:used], a.v[:used], D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", a.o.Loss().Name(), err)
	}
	for i := range dst {
		e, df := a.r[i*D:(i+1)*D], a.v[(n+i)*D:(n+i+1)*D]
		h := a.leverage(i)
		move := floats.Dot(a.x[i*P:(i+1)*P], a.moved[i*P:(i+1)*P])
		dst[i] = Row{Move: math.Sqrt(math.Max(0, move)) / (1 - h), Residual: floats.Norm(e, 2), Leverage: h}
		floats.AddScaled(e, 1/(1-h), df)
		dst[i].Without = floats.Norm(e, 2)
	}
	return nil
}

// solve computes x and the product of the moves with x.
func (a *response) solve() {
	k, n := a.k, a.n
	for i := range n {
		g, h, x := a.g[i*k.F.D:], a.h[i*k.Nf:], a.x[i*k.P:(i+1)*k.P]
		for p := range x { // J'g
			x[p] = 0
			for _, t := range k.TermsOf(p) {
				x[p] += t.Sign * g[t.Row] * h[t.Feature]
			}
		}
	}
	x, columns := a.x[:n*k.P], a.columns[:n*k.P]
	dense.Transpose(columns, x, n, k.P)
	k.solve(columns, n)
	dense.Transpose(x, columns, k.P, n)
	k.move(a.moved[:n*k.P], x, n)
}

// follow computes de, df, slope and remainder of row i.
func (a *response) follow(i int) {
	k := a.k
	d, m, D := k.F.Latent, k.F.M, k.F.D
	g, x := a.g[i*D:(i+1)*D], a.x[i*k.P:(i+1)*k.P]
	de, df := a.d[i*D:(i+1)*D], a.d[(a.n+i)*D:(a.n+i+1)*D]
	a.step(de, x, g, a.h[i*k.Nf:])
	a.slope[i] = dense.Dot(g, de)
	// -B C^-1 B', then the second order of the move as in chart.addMove.
	a.remainder[i] = 2*dense.Dot(a.pulled[d:m], a.bend[d:m]) - dense.Dot(a.turning, a.turned)
	copy(df, de)
	slopes := a.slopes(i)
	for j := range d {
		along := dense.Dot(a.column(i, j), x) // R'B'x
		a.remainder[i] -= along * along
		for r := range m {
			df[r] -= slopes[r*d+j] * along
		}
	}
}

// step writes the change de for a step x of a row with gradient g and features h. The parts due to rotations of Q
// equal those of g with g in place of z. It adds the part due to Theta, and the gradient times the change of Q.
func (a *response) step(de, x, g, h []float64) {
	for _, v := range [][]float64{de, a.turned, a.turning, a.pulled, a.bend} {
		clear(v)
	}
	for p, size := range x {
		for _, t := range a.k.TermsOf(p) {
			v, f := t.Sign*size, t.Feature
			de[t.Row] += v * h[f]
			switch {
			case f > a.k.F.M:
				a.bend[t.Row] += v * h[f]
			case f > 0:
				a.turned[t.Row] += v * h[f]
				a.turning[t.Row] += v * g[f-1]
				a.pulled[f-1] += v * g[t.Row]
			}
		}
	}
}

// leverage is the fraction of the second derivative of the cost along x that is due to row i, from 0 to maxLeverage.
// The term df'L df is that of a model linear around the row. Further terms have the curvature of the sheet times the
// residual. They count only if they reduce the leverage; otherwise they mislead, as the sheet turns away.
func (a *response) leverage(i int) float64 {
	if !(a.slope[i] > 0) {
		return 0
	}
	D, weight := a.k.F.D, a.o.Data().Weight(i)
	curvature := func(i int) float64 { return weight * dense.Dot(a.v[i*D:(i+1)*D], a.curve[i*D:(i+1)*D]) }
	whole, linear := curvature(i)+a.remainder[i], curvature(a.n+i)
	return min(max(0, min(whole, linear)/a.slope[i]), maxLeverage)
}
