package sheet

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// Canonicalize removes the freedom that leaves f unchanged, rotations of the latent space and of V, so that equal
// models compare equal. The columns of Theta become orthogonal with non-increasing norms. The covariance of the n
// rows of tau becomes diagonal with non-increasing variances. The entry of largest magnitude in each column of U and
// of V becomes positive. If the sheet is flat, the mean of tau moves into c. Covariance and mean are weighted, so
// that a row of weight 2 counts as two rows; nil stands for weights of 1. tau is changed in place. Canonicalize takes
// nd^2 operations for tau, D(s^2 + d^2) for Q and q^2 s for Theta.
func Canonicalize(f *Sheet, tau, weights []float64) {
	n := len(tau) / f.Latent
	w := rows.Shares(weights, n)
	if floats.Norm(f.Theta, math.Inf(1)) == 0 {
		centreFlat(f, tau, w)
	}
	alignCurvature(f)
	alignLatent(f, tau, w)
	signs := make([]float64, f.Latent*f.Latent)
	for j := range f.Latent {
		axis := f.Axis(j)
		signs[j*f.Latent+j] = math.Copysign(1, axis[dense.MaxAbsIdx(axis)])
	}
	f.TurnLatent(tau, signs, make([]float64, f.Latent*f.Latent+2*f.Latent))
	for k := f.Latent; k < f.M; k++ {
		if axis := f.Axis(k); axis[dense.MaxAbsIdx(axis)] < 0 {
			floats.Scale(-1, axis)
			for a := range f.Q {
				f.Theta[a*f.S+k-f.Latent] *= -1
			}
		}
	}
}

// centreFlat moves the mean of tau into c. This leaves f unchanged only if there is no curvature.
func centreFlat(f *Sheet, tau, w []float64) {
	for j := range f.Latent {
		var mean float64
		for i, v := range w {
			mean += v * tau[i*f.Latent+j] / float64(len(w))
		}
		for i := range w {
			tau[i*f.Latent+j] -= mean
		}
		floats.AddScaled(f.C, mean, f.Axis(j))
	}
}

// alignCurvature rotates V by the eigenvectors of Theta' W Theta, where W
// weighs the entries of vech so that this is the Gram matrix of the A_k.
func alignCurvature(f *Sheet) {
	if f.S < 2 {
		return // one column has nothing to turn into
	}
	g := mat.NewSymDense(f.S, nil)
	for a := range f.Q {
		g.SymRankOne(g, VechWeight(f.Latent, a), mat.NewVecDense(f.S, f.Theta[a*f.S:(a+1)*f.S]))
	}
	b, ok := descendingEigenvectors(g)
	if !ok {
		return
	}
	var theta, v mat.Dense
	theta.Mul(mat.NewDense(f.Q, f.S, f.Theta), b)
	v.Mul(b.T(), mat.NewDense(f.S, f.D, f.QT[f.Latent*f.D:]))
	copy(f.Theta, theta.RawMatrix().Data)
	copy(f.QT[f.Latent*f.D:], v.RawMatrix().Data)
}

// alignLatent rotates tau to the eigenvectors of its covariance.
func alignLatent(f *Sheet, tau, w []float64) {
	n, d := len(w), f.Latent
	if n < 2 || d < 2 {
		return
	}
	memory := make([]float64, 4*d*d+2*d)
	covariance, vectors, turn, memory := memory[:d*d], memory[d*d:2*d*d], memory[2*d*d:3*d*d], memory[3*d*d:]
	addCovariance(covariance, memory[:2*d], tau, w)
	dense.JacobiEigen(covariance, vectors, d)
	for j := range d { // by descending eigenvalue
		most := -1
		for i := range d {
			if v := covariance[i*d+i]; v == v && (most < 0 || v > covariance[most*d+most]) {
				most = i
			}
		}
		if most < 0 {
			return // not finite
		}
		copy(turn[j*d:(j+1)*d], vectors[most*d:(most+1)*d])
		covariance[most*d+most] = math.NaN() // taken
	}
	f.TurnLatent(tau, turn, memory)
}

// addCovariance adds the weighted covariance of the rows of tau, up to a factor, to sum. It takes memory for two
// rows.
func addCovariance(sum, memory, tau, w []float64) {
	d := len(memory) / 2
	mean, far, total := memory[:d], memory[d:], floats.Sum(w)
	for i, v := range w {
		floats.AddScaled(mean, v/total, tau[i*d:(i+1)*d])
	}
	for i, v := range w {
		floats.SubTo(far, tau[i*d:(i+1)*d], mean)
		dense.AddOuterProduct(sum, far, v/total)
	}
	for i := range d {
		for j := range i {
			sum[i*d+j] = sum[j*d+i]
		}
	}
}

// TurnLatent changes tau, U and the forms to coordinates along the rows of turn, an orthonormal d x d matrix. It
// takes memory for d x d and 2d numbers.
func (f *Sheet) TurnLatent(tau, turn, memory []float64) {
	d := f.Latent
	old, form := memory[:d], memory[2*d:2*d+d*d]
	turned := func(row []float64) {
		copy(old, row)
		for j := range row {
			row[j] = floats.Dot(turn[j*d:(j+1)*d], old)
		}
	}
	for i := 0; i < len(tau); i += d {
		turned(tau[i : i+d])
	}
	column := memory[d : 2*d]
	for k := range f.D {
		for j := range d {
			column[j] = f.QT[j*f.D+k]
		}
		turned(column)
		for j := range d {
			f.QT[j*f.D+k] = column[j]
		}
	}
	for k := range f.S {
		f.Form(form, k)
		for range 2 { // R'A, whose transpose is AR
			for i := range d {
				turned(form[i*d : (i+1)*d])
			}
			for i := range d {
				for j := range i {
					form[i*d+j], form[j*d+i] = form[j*d+i], form[i*d+j]
				}
			}
		}
		f.SetForm(k, form)
	}
}

// Form writes A_k into a, d x d.
func (f *Sheet) Form(a []float64, k int) {
	d, at := f.Latent, 0
	for i := range d {
		for j := i; j < d; j++ {
			v := f.Theta[at*f.S+k] * VechWeight(d, at)
			a[i*d+j], a[j*d+i] = v, v
			at++
		}
	}
}

// SetForm sets A_k to a, d x d.
func (f *Sheet) SetForm(k int, a []float64) {
	d, at := f.Latent, 0
	for i := range d {
		for j := i; j < d; j++ {
			f.Theta[at*f.S+k] = (a[i*d+j] + a[j*d+i]) / 2 / VechWeight(d, at)
			at++
		}
	}
}

// descendingEigenvectors returns the eigenvectors of a in its columns, by
// descending eigenvalue.
func descendingEigenvectors(a *mat.SymDense) (*mat.Dense, bool) {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, false
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	n, _ := v.Dims()
	out := mat.NewDense(n, n, nil)
	for j := range n {
		out.SetCol(j, mat.Col(nil, n-1-j, &v))
	}
	return out, true
}
