package scqm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// canonicalize removes the freedom that leaves f unchanged, rotations of the
// latent space and of V, so that equal models compare equal: the columns of
// Theta become orthogonal with non-increasing norms, the covariance of the n
// rows of tau diagonal with non-increasing variances, and the entry of largest
// magnitude in each column of U and of V positive. Where the sheet is flat, the
// mean of tau moves into c. Covariance and mean are weighted, so that a row of
// weight 2 counts as two rows; nil stands for weights of 1. tau is changed in
// place.
func canonicalize(f *sheet, tau, weights []float64) {
	n := len(tau) / f.d
	w := rows.Shares(weights, n)
	if floats.Norm(f.theta, math.Inf(1)) == 0 {
		centreFlat(f, tau, w)
	}
	alignCurvature(f)
	alignLatent(f, tau, w)
	for j := range f.d {
		if axis := f.axis(j); axis[dense.MaxAbsIdx(axis)] < 0 {
			flipLatent(f, tau, j)
		}
	}
	for k := f.d; k < f.m; k++ {
		if axis := f.axis(k); axis[dense.MaxAbsIdx(axis)] < 0 {
			floats.Scale(-1, axis)
			for a := range f.q {
				f.theta[a*f.s+k-f.d] *= -1
			}
		}
	}
}

// centreFlat moves the mean of tau into c, which changes nothing only where
// there is no curvature.
func centreFlat(f *sheet, tau, w []float64) {
	for j := range f.d {
		var mean float64
		for i, v := range w {
			mean += v * tau[i*f.d+j] / float64(len(w))
		}
		for i := range w {
			tau[i*f.d+j] -= mean
		}
		floats.AddScaled(f.c, mean, f.axis(j))
	}
}

// alignCurvature rotates V by the eigenvectors of Theta' W Theta, where W
// weighs the entries of vech so that this is the Gram matrix of the A_k.
func alignCurvature(f *sheet) {
	if f.s == 0 {
		return
	}
	g := mat.NewSymDense(f.s, nil)
	for a := range f.q {
		g.SymRankOne(g, vechWeight(f.d, a), mat.NewVecDense(f.s, f.theta[a*f.s:(a+1)*f.s]))
	}
	b, ok := descendingEigenvectors(g)
	if !ok {
		return
	}
	var theta, v mat.Dense
	theta.Mul(mat.NewDense(f.q, f.s, f.theta), b)
	v.Mul(b.T(), mat.NewDense(f.s, f.D, f.qt[f.d*f.D:]))
	copy(f.theta, theta.RawMatrix().Data)
	copy(f.qt[f.d*f.D:], v.RawMatrix().Data)
}

// alignLatent rotates tau to the eigenvectors of its covariance.
func alignLatent(f *sheet, tau, w []float64) {
	n := len(w)
	if n < 2 || f.d < 2 {
		return
	}
	cov := mat.NewSymDense(f.d, nil)
	t := mat.NewDense(n, f.d, tau)
	stat.CovarianceMatrix(cov, t, w)
	r, ok := descendingEigenvectors(cov)
	if !ok {
		return
	}
	var rotated, u mat.Dense
	rotated.Mul(t, r)
	copy(tau, rotated.RawMatrix().Data)
	u.Mul(r.T(), mat.NewDense(f.d, f.D, f.qt[:f.d*f.D]))
	copy(f.qt[:f.d*f.D], u.RawMatrix().Data)
	for k := range f.s {
		var left, form mat.Dense
		left.Mul(r.T(), formOf(f, k))
		form.Mul(&left, r)
		setForm(f, k, &form)
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

// formOf returns the symmetric matrix A_k.
func formOf(f *sheet, k int) *mat.SymDense {
	form := mat.NewSymDense(f.d, nil)
	a := 0
	for i := range f.d {
		for j := i; j < f.d; j++ {
			form.SetSym(i, j, f.theta[a*f.s+k]*vechWeight(f.d, a))
			a++
		}
	}
	return form
}

// setForm writes A_k back.
func setForm(f *sheet, k int, form *mat.Dense) {
	a := 0
	for i := range f.d {
		for j := i; j < f.d; j++ {
			f.theta[a*f.s+k] = (form.At(i, j) + form.At(j, i)) / 2 / vechWeight(f.d, a)
			a++
		}
	}
}

// flipLatent changes the sign of latent coordinate j everywhere.
func flipLatent(f *sheet, tau []float64, j int) {
	floats.Scale(-1, f.axis(j))
	for i := j; i < len(tau); i += f.d {
		tau[i] *= -1
	}
	a := 0
	for i := range f.d {
		for l := i; l < f.d; l++ {
			if (i == j) != (l == j) {
				floats.Scale(-1, f.theta[a*f.s:(a+1)*f.s])
			}
			a++
		}
	}
}

// pad returns f with s curvature columns: those of f, then any that complete
// the axes orthonormally, with zero columns in Theta.
func pad(f *sheet, s int) *sheet {
	if s == f.s {
		return f
	}
	g := newSheet(f.D, f.d, s)
	copy(g.c, f.c)
	copy(g.qt, f.qt)
	dense.CompleteRows(g.qt, f.m, f.D)
	for a := range f.q {
		copy(g.theta[a*s:a*s+f.s], f.theta[a*f.s:(a+1)*f.s])
	}
	return g
}
