package scqm

import (
	"math"

	"github.com/scqm/scqm/internal/par"
	"gonum.org/v1/gonum/floats"
)

const (
	// leaveBatch is the number of rows that are left out side by side.
	leaveBatch = 16
	// leaveSteps and leavePrecision end the solution of one system: the error
	// relative to the step, in the norm of the Hessian.
	leaveSteps     = 200
	leavePrecision = 1e-8
)

// leaving solves (H - w H_i) x = w g_i for the rows of a batch side by side, by
// conjugate gradients with H as the preconditioner: only eigenvalues of H^-1 w
// H_i, the leverages of the row, stand between the two, and they cluster.
// Products with H are not needed: with the residuals r and z = H^-1 r, the
// directions are sums of z, and H times them is the same sum of r.
type leaving struct {
	k                *jackknife
	rows             *bentRows
	x, r, z, dir, hd []float64 // n x P; hd is H dir
	q                []float64 // n x P: w H_i dir
	slope            []float64 // n: r'z
	first            []float64 // n: that of the start
	done, unstable   []bool
	m                []float64 // n x (D x F)
	de, v            []float64 // n x D
	near             []float64 // D x F: of the move
	mg, t            []float64 // n x F, n x d: see respond
	u, s, b          []float64 // D, F, d
}

func newLeaving(k *jackknife) *leaving {
	f, P := k.f, k.p
	n := min(leaveBatch, k.problem.data.N)
	vec := func(n int) []float64 { return make([]float64, n) }
	return &leaving{
		k: k, rows: newBentRows(k, n), x: vec(n * P), r: vec(n * P), z: vec(n * P), dir: vec(n * P), hd: vec(n * P), q: vec(n * P),
		slope: vec(n), first: vec(n), done: make([]bool, n), unstable: make([]bool, n),
		m: vec(n * f.D * k.nf), de: vec(n * f.D), v: vec(n * f.D), near: vec(f.D * k.nf),
		mg: vec(n * k.nf), t: vec(n * f.d), u: vec(f.D), s: vec(k.nf), b: vec(f.d),
	}
}

// leaveOut computes the influence of every row.
func (k *jackknife) leaveOut(dst []RowInfluence) error {
	batches := (len(dst) + leaveBatch - 1) / leaveBatch
	workers, errs := make([]*leaving, k.problem.threads), make([]error, batches)
	par.Do(k.problem.threads, batches, func(id, i int) {
		if errs[i] = k.problem.ctx.Err(); errs[i] != nil {
			return
		}
		if workers[id] == nil {
			workers[id] = newLeaving(k)
		}
		from := i * leaveBatch
		errs[i] = workers[id].run(dst[from:min(from+leaveBatch, len(dst))], from)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *leaving) run(dst []RowInfluence, from int) error {
	if err := l.rows.load(from, from+len(dst)); err != nil {
		return err
	}
	if err := l.solve(); err != nil {
		return err
	}
	P, D := l.k.p, l.k.f.D
	times(l.q[:len(dst)*P], l.k.moves, l.x[:len(dst)*P], len(dst))
	for i := range dst {
		x := l.x[i*P : (i+1)*P]
		dst[i] = RowInfluence{
			Move:     math.Sqrt(math.Max(0, floats.Dot(x, l.q[i*P:(i+1)*P]))),
			Residual: floats.Norm(l.rows.e[i*D:(i+1)*D], 2),
			Without:  l.without(x, i),
			Unstable: l.unstable[i],
		}
	}
	return nil
}

// without is the norm of the residual of row i after the step x.
func (l *leaving) without(x []float64, i int) float64 {
	f := l.k.f
	l.respond(x, i)
	e := append([]float64(nil), l.rows.e[i*f.D:(i+1)*f.D]...)
	floats.Add(e, l.de[i*f.D:(i+1)*f.D])
	dh, t := l.rows.slopes(i), l.t[i*f.d:(i+1)*f.d]
	for r := range f.m {
		e[r] += dot(dh[(1+r)*f.d:(2+r)*f.d], t)
	}
	return floats.Norm(e, 2)
}

// respond leaves the change of e of row i by v in de, its M in m, M'g in mg and
// the answer of tau_i in t.
func (l *leaving) respond(v []float64, i int) {
	k, f := l.k, l.k.f
	size := f.D * k.nf
	m, de := l.m[i*size:(i+1)*size], l.de[i*f.D:(i+1)*f.D]
	k.spread(m, v)
	h, g := l.rows.h[i*k.nf:(i+1)*k.nf], l.rows.g[i*f.D:(i+1)*f.D]
	mg, t := l.mg[i*k.nf:(i+1)*k.nf], l.t[i*f.d:(i+1)*f.d]
	clear(mg)
	for r := range de {
		row := m[r*k.nf : (r+1)*k.nf]
		de[r] = dot(row, h)
		floats.AddScaled(mg, g[r], row)
	}
	l.rows.pull(l.b, de, mg, i)
	l.rows.settle(t, l.b, i)
}

// solve runs the conjugate gradients of all rows of the batch.
func (l *leaving) solve() error {
	k, n := l.k, l.rows.n
	P := k.p
	l.begin()
	for range leaveSteps {
		if err := l.product(); err != nil {
			return err
		}
		open := false
		for i := range n {
			if !l.done[i] {
				l.step(i)
				open = open || !l.done[i]
			}
		}
		if !open {
			return nil
		}
		times(l.z[:n*P], k.inverse, l.r[:n*P], n)
		for i := range n {
			if !l.done[i] {
				l.turn(i)
			}
		}
	}
	return nil
}

// begin starts from x = 0.
func (l *leaving) begin() {
	k, n, P, D := l.k, l.rows.n, l.k.p, l.k.f.D
	clear(l.x)
	for i := range n {
		r := l.r[i*P : (i+1)*P]
		k.gather(r, l.rows.g[i*D:(i+1)*D], l.rows.h[i*k.nf:(i+1)*k.nf], nil, nil)
		floats.Scale(k.problem.data.weight(l.rows.first+i), r)
	}
	times(l.z[:n*P], k.inverse, l.r[:n*P], n)
	copy(l.dir, l.z[:n*P])
	copy(l.hd, l.r[:n*P])
	for i := range n {
		l.slope[i] = floats.Dot(l.r[i*P:(i+1)*P], l.z[i*P:(i+1)*P])
		l.first[i] = l.slope[i]
		l.done[i], l.unstable[i] = !(l.slope[i] > 0), false
	}
}

// step moves x of row i along its direction. Where the other rows do not bend
// the cost upwards along it, x stays, or takes the step that would be right with
// the row.
func (l *leaving) step(i int) {
	P := l.k.p
	at := func(a []float64) []float64 { return a[i*P : (i+1)*P] }
	floats.Sub(at(l.q), at(l.hd)) // now (w H_i - H) dir
	curvature := -floats.Dot(at(l.dir), at(l.q))
	if !(curvature > 0) {
		l.done[i], l.unstable[i] = true, true
		if l.slope[i] == l.first[i] {
			copy(at(l.x), at(l.z))
		}
		return
	}
	length := l.slope[i] / curvature
	floats.AddScaled(at(l.x), length, at(l.dir))
	floats.AddScaled(at(l.r), length, at(l.q))
}

// turn chooses the next direction of row i.
func (l *leaving) turn(i int) {
	P := l.k.p
	at := func(a []float64) []float64 { return a[i*P : (i+1)*P] }
	next := floats.Dot(at(l.r), at(l.z))
	if !(next > leavePrecision*leavePrecision*l.first[i]) {
		l.done[i] = true
		return
	}
	ratio := next / l.slope[i]
	l.slope[i] = next
	floats.AddScaledTo(at(l.dir), at(l.z), ratio, at(l.dir))
	floats.AddScaledTo(at(l.hd), at(l.r), ratio, at(l.hd))
}

// product writes w H_i dir into q for all rows of the batch.
func (l *leaving) product() error {
	k, f, n := l.k, l.k.f, l.rows.n
	P, D, nf := k.p, f.D, k.nf
	for i := range n {
		l.respond(l.dir[i*P:(i+1)*P], i)
		v := l.v[i*D : (i+1)*D]
		clear(v)
		for r, x := range l.de[i*D : (i+1)*D] {
			floats.AddScaled(v, x, k.frame.axis(r))
		}
	}
	if err := k.bend(l.v[:n*D], l.rows.r[:n*D]); err != nil {
		return err
	}
	for i := range n {
		g, h := l.rows.g[i*D:(i+1)*D], l.rows.h[i*nf:(i+1)*nf]
		l.rows.image(l.u, l.s, l.t[i*f.d:(i+1)*f.d], i)
		for r := range D {
			l.u[r] += dot(k.frame.axis(r), l.v[i*D:(i+1)*D])
		}
		q := l.q[i*P : (i+1)*P]
		k.gather(q, l.u, h, g, l.s)
		l.addMove(q, i)
		floats.Scale(k.problem.data.weight(l.rows.first+i), q)
	}
	return nil
}

// addMove adds to q what the second order of the move contributes, as
// [arrow.addMove] does for all rows, for the direction that respond saw last of row i.
func (l *leaving) addMove(q []float64, i int) {
	k, f := l.k, l.k.f
	D, nf, m, d := f.D, k.nf, f.m, f.d
	g, h := l.rows.g[i*D:(i+1)*D], l.rows.h[i*nf:(i+1)*nf]
	z, phi := h[1:1+m], h[1+m:]
	dir := l.m[i*D*nf : (i+1)*D*nf]
	clear(l.near)
	for r := range D {
		row, near := dir[r*nf+1:r*nf+1+m], l.near[r*nf+1:r*nf+1+m]
		gd, zd := dot(g[:m], row), dot(z, row)
		for j := range near {
			near[j] = -(g[j]*zd + z[j]*gd) / 2
		}
	}
	for j := range f.s {
		var bent float64
		for b, v := range phi {
			bent += v * dir[(d+j)*nf+1+m+b]
		}
		for r := range D {
			l.near[r*nf+1+d+j] += g[r] * bent
		}
		for b, v := range phi {
			l.near[(d+j)*nf+1+m+b] += v * l.mg[i*nf+1+d+j]
		}
	}
	for c := range q {
		for _, t := range k.termsOf(c) {
			q[c] += t.sign * l.near[t.row*nf+t.feature]
		}
	}
}
