package manifolds

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// turn is scratch space for matrix functions of rotations of order n.
type turn struct {
	n                  int
	a, b, u, z         blas64.General
	sigma, tau, re, im []float64
	work               []float64
	pivots             []int
	orthogonal         *frame
}

// schur provides the Schur factorizations that lapack64 lacks.
var schur gonum.Implementation

func newTurn(n int) *turn {
	t := &turn{
		n: n, a: zeros(n, n), b: zeros(n, n), u: zeros(n, n), z: zeros(n, n),
		sigma: make([]float64, n), tau: make([]float64, n-1), re: make([]float64, n), im: make([]float64, n),
		pivots: make([]int, n), orthogonal: newFrame(n, n),
	}
	var size [1]float64
	var longest float64
	for _, ask := range []func(){
		func() { lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, t.a, t.u, t.z, t.sigma, size[:], -1) },
		func() { schur.Dgehrd(n, 0, n-1, t.a.Data, n, t.tau, size[:], -1) },
		func() { schur.Dorghr(n, 0, n-1, t.z.Data, n, t.tau, size[:], -1) },
		func() {
			schur.Dhseqr(lapack.EigenvaluesAndSchur, lapack.SchurOrig, n, 0, n-1, t.a.Data, n, t.re, t.im, t.z.Data, n, size[:], -1)
		},
	} {
		ask()
		longest = math.Max(longest, size[0])
	}
	t.work = make([]float64, int(longest))
	return t
}

// determinantSign is the sign of det X, 0 for singular matrices.
func (t *turn) determinantSign(x []float64) int {
	copy(t.b.Data, x)
	if !lapack64.Getrf(t.b, t.pivots) {
		return 0
	}
	sign := 1
	for i, p := range t.pivots {
		if p != i {
			sign = -sign
		}
		if t.b.Data[i*t.n+i] < 0 {
			sign = -sign
		}
	}
	return sign
}

// nearest writes the rotation nearest to A into B, and overwrites A. It fails if it is not unique: if
// the two least singular values are zero, or if they are equal and the determinant is negative.
func (t *turn) nearest() error {
	if err := checkFinite(t.a.Data); err != nil {
		return err
	}
	if !lapack64.Gesvd(lapack.SVDAll, lapack.SVDAll, t.a, t.u, t.z, t.sigma, t.work, len(t.work)) {
		return errors.New("the singular values did not converge")
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, t.u, t.z, 0, t.a)
	least := t.sigma[t.n-1]
	if t.determinantSign(t.a.Data) < 0 {
		// Reversing the direction of the least singular value costs the least.
		floats.Scale(-1, row(t.z, t.n-1))
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, t.u, t.z, 0, t.a)
		least = -least
	}
	if t.n > 1 && !(t.sigma[t.n-2]+least > leastSingular*t.sigma[0]) {
		return errNoNearest
	}
	copy(t.b.Data, t.a.Data)
	return nil
}

// decompose overwrites the normal matrix A by its real Schur form, which is block diagonal
// up to rounding, and Z by the Schur vectors. It returns false if the eigenvalue iteration
// fails.
func (t *turn) decompose() bool {
	n := t.n
	schur.Dgehrd(n, 0, n-1, t.a.Data, n, t.tau, t.work, len(t.work))
	copy(t.z.Data, t.a.Data)
	schur.Dorghr(n, 0, n-1, t.z.Data, n, t.tau, t.work, len(t.work))
	for i := 2; i < n; i++ {
		clear(row(t.a, i)[:i-1])
	}
	return schur.Dhseqr(lapack.EigenvaluesAndSchur, lapack.SchurOrig, n, 0, n-1, t.a.Data, n, t.re, t.im,
		t.z.Data, n, t.work, len(t.work)) == 0
}

// compose writes Z B Z' into A.
func (t *turn) compose() {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, t.z, t.b, 0, t.u)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, t.u, t.z, 0, t.a)
}

// plane returns entries c and s of the block [c -s; s c] that begins at row i of the Schur
// form, and whether the block has two rows.
func (t *turn) plane(i int) (c, s float64, two bool) {
	c = t.a.Data[i*t.n+i]
	if i+1 == t.n || t.a.Data[(i+1)*t.n+i] == 0 {
		return c, 0, false
	}
	return c, (t.a.Data[(i+1)*t.n+i] - t.a.Data[i*t.n+i+1]) / 2, true
}

// exp replaces the skew-symmetric matrix A by its exponential.
func (t *turn) exp() error {
	switch t.n {
	case 2:
		expPlane(t.a.Data)
		return nil
	case 3:
		expSpace(t.a.Data)
		return nil
	}
	if !t.decompose() {
		return errors.New("the eigenvalues did not converge")
	}
	clear(t.b.Data)
	for i := 0; i < t.n; i++ {
		_, angle, two := t.plane(i)
		if !two {
			t.b.Data[i*t.n+i] = 1
			continue
		}
		sin, cos := math.Sincos(angle)
		t.b.Data[i*t.n+i], t.b.Data[(i+1)*t.n+i+1] = cos, cos
		t.b.Data[(i+1)*t.n+i], t.b.Data[i*t.n+i+1] = sin, -sin
		i++
	}
	t.compose()
	return nil
}

// log replaces the rotation A by its logarithm. A pair of eigenvalues -1 counts as a
// rotation by pi in a plane.
func (t *turn) log() error {
	if !(floats.Norm(t.a.Data, math.Inf(1)) <= 2) || nonFinite(t.a.Data) >= 0 {
		return errNoRotation
	}
	var ok bool
	switch t.n {
	case 2:
		ok = logPlane(t.a.Data)
	case 3:
		ok = logSpace(t.a.Data)
	default:
		ok = t.decompose() && t.logAngles()
	}
	if !ok {
		return errNoRotation
	}
	return nil
}

// logAngles computes the rotation angles from the Schur form. It returns false if A is not
// a rotation.
func (t *turn) logAngles() bool {
	clear(t.b.Data)
	reversed := -1 // the row of an eigenvalue of -1 that waits for another
	for i := 0; i < t.n; i++ {
		cos, sin, two := t.plane(i)
		if !(math.Abs(math.Hypot(cos, sin)-1) < looseRotation) {
			return false
		}
		switch {
		case two:
			angle := math.Atan2(sin, cos)
			t.b.Data[(i+1)*t.n+i], t.b.Data[i*t.n+i+1] = angle, -angle
			i++
		case cos < 0 && reversed < 0:
			reversed = i
		case cos < 0:
			t.b.Data[i*t.n+reversed], t.b.Data[reversed*t.n+i] = math.Pi, -math.Pi
			reversed = -1
		}
	}
	if reversed >= 0 {
		return false
	}
	t.compose()
	skew(t.a)
	return true
}

// errNoNearest says that a matrix has no nearest rotation.
var errNoNearest = errors.New("no rotation is nearer than all others")
