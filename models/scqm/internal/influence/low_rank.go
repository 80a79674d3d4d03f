package influence

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// lowRank adds the low-rank contributions of rows to the Hessian, -w B C^-1 B' and for radial losses 4 w rho″
// J'ee'J, and to the moves
//
//   - w (Y (BC^-1)' + BC^-1 Y'),   Y = J'E - BC^-1 E'E / 2,
//
// which with w J'J is the square of J v - E C^-1 B'v, the change of f(tau_i) with tau_i at its minimum. Factors
// are stored as rows and added in batches, at P^2 d operations for a row.
type lowRank struct {
	k             *Jackknife
	hessian       factors
	moves         factors
	u, s, t, y, b []float64
	square        []float64 // d x d: E'E
	u2, one, two  []float64
}

// factors are rows of P numbers: left'right is a symmetric matrix.
type factors struct{ left, right []float64 }

func newLowRank(k *Jackknife, batch int) *lowRank {
	f := k.F
	vec := func(n int) []float64 { return make([]float64, n) }
	return &lowRank{
		k: k, u: vec(f.D), s: vec(k.Nf), t: vec(f.Latent), y: vec(k.P), b: vec(f.Latent * k.P), square: vec(f.Latent * f.Latent),
		u2: vec(batch), one: vec(batch), two: vec(batch),
	}
}

// add adds a batch of rows with their weights.
func (l *lowRank) add(rows *rowDerivatives, hessian, moves []float64) {
	k, D := l.k, l.k.F.D
	for _, f := range []*factors{&l.hessian, &l.moves} {
		f.left, f.right = f.left[:0], f.right[:0]
	}
	radial, ok := k.problem.Loss().(framework.Radial)
	if ok {
		for i := range rows.n {
			e := rows.e[i*D : (i+1)*D]
			l.u2[i] = dense.Dot(e, e)
		}
		radial.Rho(nil, l.one[:rows.n], l.two[:rows.n], l.u2[:rows.n])
	}
	for i := range rows.n {
		weight := k.problem.Data().Weight(rows.first + i)
		if weight == 0 {
			continue
		}
		if second := 4 * weight * l.two[i]; ok && second != 0 {
			k.gather(l.y, rows.e[i*D:(i+1)*D], rows.h[i*k.Nf:(i+1)*k.Nf], nil, nil)
			l.hessian.add(second, l.y, l.y)
		}
		l.addRow(rows, i, weight)
	}
	l.hessian.addTo(hessian, k.P)
	l.moves.addTo(moves, k.P)
}

// addRow adds B C^-1 B' and the moves of row i.
func (l *lowRank) addRow(rows *rowDerivatives, i int, weight float64) {
	k, f := l.k, l.k.F
	d, P := f.Latent, k.P
	h, g, dh := rows.h[i*k.Nf:(i+1)*k.Nf], rows.g[i*f.D:(i+1)*f.D], rows.jacobian(i)
	dense.Gram(l.square, dh[d:(1+f.M)*d], f.M, d, 1)
	// In the axes a_j of C: b_j = B a_j, and BC^-1 = sum_j b_j a_j' / c_j.
	for j, c := range rows.spectrum[i*d : (i+1)*d] {
		axis, b := rows.axes[(i*d+j)*d:(i*d+j+1)*d], l.b[j*P:(j+1)*P]
		clear(b)
		if !(c > 0) {
			continue
		}
		rows.image(l.u, l.s, axis, i)
		k.gather(b, l.u, h, g, l.s)
		l.hessian.add(-weight/c, b, b)
		floats.Scale(1/c, b)
	}
	for j := range d {
		axis, b := rows.axes[(i*d+j)*d:(i*d+j+1)*d], l.b[j*P:(j+1)*P]
		clear(l.u)
		for r := range f.M {
			l.u[r] = dense.Dot(dh[(1+r)*d:(2+r)*d], axis)
		}
		k.gather(l.y, l.u, h, nil, nil)
		for a := range d {
			l.t[a] = dense.Dot(l.square[a*d:(a+1)*d], axis)
		}
		for a := range d {
			floats.AddScaled(l.y, -dense.Dot(rows.axes[(i*d+a)*d:(i*d+a+1)*d], l.t)/2, l.b[a*P:(a+1)*P])
		}
		l.moves.add(-weight, l.y, b)
		l.moves.add(-weight, b, l.y)
	}
}

// rankBlock is the number of rows of the triangle updated at a time.
const rankBlock = 256

// add adds a multiple of left'right.
func (f *factors) add(by float64, left, right []float64) {
	at := len(f.left)
	f.left, f.right = append(f.left, left...), append(f.right, right...)
	floats.Scale(by, f.left[at:])
}

// addTo adds left'right to the upper triangle of dst, P x P.
func (f *factors) addTo(dst []float64, P int) {
	n := len(f.left) / P
	for lo := 0; lo < P && n > 0; lo += rankBlock {
		rows := min(rankBlock, P-lo)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1,
			blas64.General{Rows: n, Cols: rows, Stride: P, Data: f.left[lo:]},
			blas64.General{Rows: n, Cols: P - lo, Stride: P, Data: f.right[lo:]},
			1, blas64.General{Rows: rows, Cols: P - lo, Stride: P, Data: dst[lo*P+lo:]})
	}
}
