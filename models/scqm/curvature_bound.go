package scqm

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// formSteps is the number of directions that formBound tries for d = 2.
const formSteps = 4096

// formBound returns A0, or a little more than it: the largest curvature that the
// forms of the sheet have together,
//
//	A0 = max over |w| = 1 of |sum_k w_k A_k|_2 = max over |u| = 1 of |Theta' phi(u)|.
//
// The largest of the |A_k|_2 alone, which the paper takes, is less where s >= 2,
// by up to the factor sqrt(s).
//
// For d = 1 and s = 1 the value is exact. For d = 2, with u at the angle t/2,
//
//	Theta' phi(u) = a + b cos t + c sin t,
//
// whose square is tried at many t, plus what its second derivative allows
// between two of them. For d >= 3 it is the smaller one of two bounds, of the
// root of |sum_k A_k^2|_2 and of the norm of Theta as a map of symmetric matrices.
func (f *sheet) formBound() float64 {
	size := floats.Norm(f.theta, math.Inf(1))
	if size == 0 {
		return 0
	}
	g := newSheet(f.D, f.d, f.s) // in units in which squares neither overflow nor vanish
	floats.ScaleTo(g.theta, 1/size, f.theta)
	switch {
	case f.d == 1:
		return size * floats.Norm(g.theta, 2)
	case f.d == 2:
		return size * g.circleBound()
	case f.s == 1:
		return size * spectralNorm(g.form(0), f.d)
	default:
		return size * math.Min(g.squareBound(), g.metricBound())
	}
}

// form returns A_k, d x d.
func (f *sheet) form(k int) []float64 {
	a, w := make([]float64, f.d*f.d), make([]float64, f.q)
	for b := range f.q {
		w[b] = f.theta[b*f.s+k] / 2
	}
	f.addCurvature(a, w)
	return a
}

// spectralNorm is the largest magnitude of an eigenvalue of a symmetric matrix.
func spectralNorm(a []float64, d int) float64 {
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(d, a), false)
	values := e.Values(nil)
	return math.Max(-values[0], values[d-1])
}

func (f *sheet) circleBound() float64 {
	s := f.s
	a, b, c := make([]float64, s), make([]float64, s), make([]float64, s)
	for k := range s {
		first, cross, second := f.theta[k], f.theta[s+k], f.theta[2*s+k]
		a[k], b[k], c[k] = (first+second)/2, (first-second)/2, cross/2
	}
	at, most := make([]float64, s), 0.0
	for i := range formSteps {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / formSteps)
		for k := range s {
			at[k] = a[k] + b[k]*cos + c[k]*sin
		}
		most = math.Max(most, floats.Dot(at, at))
	}
	bend := 2*math.Abs(floats.Dot(a, b)) + 2*math.Abs(floats.Dot(a, c)) +
		2*math.Abs(floats.Dot(b, b)-floats.Dot(c, c)) + 4*math.Abs(floats.Dot(b, c))
	half := math.Pi / formSteps
	return math.Sqrt(most + bend*half*half/2)
}

// squareBound is the root of |sum_k A_k^2|_2: |sum_k w_k A_k v| is at most |w|
// times the root of sum_k |A_k v|^2.
func (f *sheet) squareBound() float64 {
	sum := mat.NewDense(f.d, f.d, nil)
	for k := range f.s {
		a := mat.NewDense(f.d, f.d, f.form(k))
		var square mat.Dense
		square.Mul(a, a)
		sum.Add(sum, &square)
	}
	return math.Sqrt(spectralNorm(sum.RawMatrix().Data, f.d))
}

// metricBound is the largest |sum_k w_k A_k|_F over |w| = 1.
func (f *sheet) metricBound() float64 {
	scaled := mat.NewDense(f.q, f.s, nil)
	for b := range f.q {
		u := math.Sqrt(vechWeight(f.d, b))
		for k := range f.s {
			scaled.Set(b, k, u*f.theta[b*f.s+k])
		}
	}
	var svd mat.SVD
	svd.Factorize(scaled, mat.SVDNone)
	return floats.Max(svd.Values(nil))
}
