package sheet

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

// Canonicalize removes the freedom that leaves f unchanged, rotations of the
// latent space and of V, so that equal models compare equal: the columns of
// Theta become orthogonal with non-increasing norms, the covariance of the n
// rows of tau diagonal with non-increasing variances, and the entry of largest
// magnitude in each column of U and of V positive. Where the sheet is flat, the
// mean of tau moves into c. Covariance and mean are weighted, so that a row of
// weight 2 counts as two rows; nil stands for weights of 1. tau is changed in
// place. It takes nd^2 operations for tau, D(s^2 + d^2) for Q and q^2 s for Theta.
func Canonicalize(f *Sheet, tau, weights []float64) {
	n := len(tau) / f.Latent
	w := rows.Shares(weights, n)
	if floats.Norm(f.Theta, math.Inf(1)) == 0 {
		centreFlat(f, tau, w)
	}
	alignCurvature(f)
	alignLatent(f, tau, w)
	for j := range f.Latent {
		if axis := f.Axis(j); axis[dense.MaxAbsIdx(axis)] < 0 {
			flipLatent(f, tau, j)
		}
	}
	for k := f.Latent; k < f.M; k++ {
		if axis := f.Axis(k); axis[dense.MaxAbsIdx(axis)] < 0 {
			floats.Scale(-1, axis)
			for a := range f.Q {
				f.Theta[a*f.S+k-f.Latent] *= -1
			}
		}
	}
}

// centreFlat moves the mean of tau into c, which changes nothing only where
// there is no curvature.
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
	n := len(w)
	if n < 2 || f.Latent < 2 {
		return
	}
	cov := mat.NewSymDense(f.Latent, nil)
	t := mat.NewDense(n, f.Latent, tau)
	stat.CovarianceMatrix(cov, t, w)
	r, ok := descendingEigenvectors(cov)
	if !ok {
		return
	}
	var rotated, u mat.Dense
	rotated.Mul(t, r)
	copy(tau, rotated.RawMatrix().Data)
	u.Mul(r.T(), mat.NewDense(f.Latent, f.D, f.QT[:f.Latent*f.D]))
	copy(f.QT[:f.Latent*f.D], u.RawMatrix().Data)
	for k := range f.S {
		var left, form mat.Dense
		left.Mul(r.T(), FormOf(f, k))
		form.Mul(&left, r)
		SetForm(f, k, &form)
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

// FormOf returns the symmetric matrix A_k.
func FormOf(f *Sheet, k int) *mat.SymDense {
	form := mat.NewSymDense(f.Latent, nil)
	a := 0
	for i := range f.Latent {
		for j := i; j < f.Latent; j++ {
			form.SetSym(i, j, f.Theta[a*f.S+k]*VechWeight(f.Latent, a))
			a++
		}
	}
	return form
}

// SetForm writes A_k back.
func SetForm(f *Sheet, k int, form *mat.Dense) {
	a := 0
	for i := range f.Latent {
		for j := i; j < f.Latent; j++ {
			f.Theta[a*f.S+k] = (form.At(i, j) + form.At(j, i)) / 2 / VechWeight(f.Latent, a)
			a++
		}
	}
}

// flipLatent changes the sign of latent coordinate j everywhere.
func flipLatent(f *Sheet, tau []float64, j int) {
	floats.Scale(-1, f.Axis(j))
	for i := j; i < len(tau); i += f.Latent {
		tau[i] *= -1
	}
	a := 0
	for i := range f.Latent {
		for l := i; l < f.Latent; l++ {
			if (i == j) != (l == j) {
				floats.Scale(-1, f.Theta[a*f.S:(a+1)*f.S])
			}
			a++
		}
	}
}

// Pad returns the sheet with s curvature columns: its own, then any that complete
// the axes orthonormally, with zero columns in Theta.
func (f *Sheet) Pad(s int) *Sheet {
	if s == f.S {
		return f
	}
	g := New(f.D, f.Latent, s)
	copy(g.C, f.C)
	copy(g.QT, f.QT)
	dense.CompleteRows(g.QT, f.M, f.D)
	for a := range f.Q {
		copy(g.Theta[a*s:a*s+f.S], f.Theta[a*f.S:(a+1)*f.S])
	}
	return g
}
