package scqm

import (
	"math"

	"github.com/scqm/scqm/internal/par"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// answers computes the answer of the sheet to leaving out the rows of a batch,
//
//	x_i = H^-1 w_i g_i.
type answers struct {
	k          *jackknife
	rows       *bentRows
	x, moved   []float64 // n x P
	columns    []float64 // P x n
	m          []float64 // D x F
	e          []float64 // D
	mg, t, own []float64 // F, d, d
}

func newAnswers(k *jackknife) *answers {
	f, n := k.f, min(jackknifeBatch, k.problem.data.N)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &answers{
		k: k, rows: newBentRows(k, n), x: vec(n * k.p), moved: vec(n * k.p), columns: vec(n * k.p),
		m: vec(f.D * k.nf), e: vec(f.D), mg: vec(k.nf), t: vec(f.d), own: vec(f.d),
	}
}

// leaveOut computes the influence of every row.
func (k *jackknife) leaveOut(dst []RowInfluence) error {
	batches := (len(dst) + jackknifeBatch - 1) / jackknifeBatch
	threads := k.problem.threads
	workers, errs := make([]*answers, threads), make([]error, batches)
	par.Do(threads, batches, func(id, i int) {
		if errs[i] = k.problem.ctx.Err(); errs[i] != nil {
			return
		}
		if workers[id] == nil {
			workers[id] = newAnswers(k)
		}
		from := i * jackknifeBatch
		errs[i] = workers[id].run(dst[from:min(from+jackknifeBatch, len(dst))], from)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// run computes the influence of the rows from the first one on.
func (a *answers) run(dst []RowInfluence, from int) error {
	if err := a.rows.load(from, from+len(dst)); err != nil {
		return err
	}
	a.solve()
	P, D := a.k.p, a.k.f.D
	for i := range dst {
		x := a.x[i*P : (i+1)*P]
		dst[i] = RowInfluence{
			Move:     math.Sqrt(math.Max(0, floats.Dot(x, a.moved[i*P:(i+1)*P]))),
			Residual: floats.Norm(a.rows.e[i*D:(i+1)*D], 2),
			Without:  a.without(x, i),
		}
	}
	return nil
}

// solve computes x, and the products of the moves with it.
func (a *answers) solve() {
	k, n := a.k, a.rows.n
	P, D, nf := k.p, k.f.D, k.nf
	for i := range n {
		x := a.x[i*P : (i+1)*P]
		k.gather(x, a.rows.g[i*D:(i+1)*D], a.rows.h[i*nf:(i+1)*nf], nil, nil)
		floats.Scale(k.problem.data.weight(a.rows.first+i), x)
	}
	transpose(a.columns[:n*P], a.x[:n*P], n, P)
	k.solve(a.columns[:n*P], n)
	transpose(a.x[:n*P], a.columns[:n*P], P, n)
	times(a.moved[:n*P], k.moves, a.x[:n*P], n)
}

// without is the norm of the residual of row i after the step x.
func (a *answers) without(x []float64, i int) float64 {
	k, f := a.k, a.k.f
	h, g := a.rows.h[i*k.nf:(i+1)*k.nf], a.rows.g[i*f.D:(i+1)*f.D]
	k.spread(a.m, x)
	clear(a.mg)
	for r := range a.e {
		row := a.m[r*k.nf : (r+1)*k.nf]
		a.e[r] = dot(row, h)
		floats.AddScaled(a.mg, g[r], row)
	}
	a.rows.pull(a.t, a.e, a.mg, i)
	a.rows.settle(a.own, a.t, i)
	dh := a.rows.slopes(i)
	for r, v := range a.rows.e[i*f.D : (i+1)*f.D] {
		a.e[r] += v
		if r < f.m {
			a.e[r] += dot(dh[(1+r)*f.d:(2+r)*f.d], a.own)
		}
	}
	return floats.Norm(a.e, 2)
}

// solve replaces the n columns of b by H^-1 times them.
func (k *jackknife) solve(b []float64, n int) {
	lapack64.Potrs(k.factor, blas64.General{Rows: k.p, Cols: n, Stride: n, Data: b})
}
