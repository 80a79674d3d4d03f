package sheet

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// formSteps is the number of angles t that CurvatureBound evaluates for d = 2.
const formSteps = 256

// RunawayCurvature is the curvature bound, times the spread of the rows, above which a fit counts as having no
// minimum. It applies if the test for growing curvature is too expensive.
const RunawayCurvature = 1e4

// CurvatureBound returns A0, or a slight upper bound: the largest curvature of any unit combination of the
// forms,
//
//	A0 = max over |w| = 1 of |sum_k w_k A_k|_2 = max over |u| = 1 of |Theta' phi(u)|.
//
// The paper takes the largest of the |A_k|_2 alone, which is smaller if s >= 2, by up to the factor sqrt(s).
//
// For d = 1 and s = 1 the value is exact. For d = 2, with u at the angle t/2,
//
//	Theta' phi(u) = a + b cos t + c sin t,
//
// and the bound takes the maximum of its square at many t, plus what its second derivative allows between two of
// them. For d >= 3 it is the smaller of two bounds, the root of |sum_k A_k^2|_2 and the norm of Theta as a map of
// symmetric matrices, at sd^3 and qs^2 operations.
func (f *Sheet) CurvatureBound() float64 {
	size := floats.Norm(f.Theta, math.Inf(1))
	if size == 0 {
		return 0
	}
	g := New(f.D, f.Latent, f.S) // in units in which squares neither overflow nor vanish
	for k, v := range f.Theta {
		g.Theta[k] = v / size // 1/size may overflow
	}
	switch {
	case f.Latent == 1:
		return size * floats.Norm(g.Theta, 2)
	case f.Latent == 2:
		return size * g.circleBound()
	case f.S == 1:
		return size * spectralNorm(g.form(0), f.Latent)
	default:
		return size * math.Min(g.squareBound(), g.metricBound())
	}
}

// RootSquareNorm returns the root of the largest eigenvalue of sum_k A_k^2, which no
// rotation of tau or of V changes.
func (f *Sheet) RootSquareNorm() float64 {
	size := floats.Norm(f.Theta, math.Inf(1))
	if size == 0 {
		return 0
	}
	g := New(0, f.Latent, f.S)
	for k, v := range f.Theta {
		g.Theta[k] = v / size // 1/size may overflow
	}
	return size * g.squareBound()
}

// form returns A_k, d x d.
func (f *Sheet) form(k int) []float64 {
	a := make([]float64, f.Latent*f.Latent)
	f.Form(a, k)
	return a
}

// spectralNorm returns the largest magnitude of an eigenvalue of a symmetric matrix.
func spectralNorm(a []float64, d int) float64 {
	var e mat.EigenSym
	e.Factorize(mat.NewSymDense(d, a), false)
	values := e.Values(nil)
	return math.Max(-values[0], values[d-1])
}

func (f *Sheet) circleBound() float64 {
	s := f.S
	a, b, c := make([]float64, s), make([]float64, s), make([]float64, s)
	for k := range s {
		first, cross, second := f.Theta[k], f.Theta[s+k], f.Theta[2*s+k]
		a[k], b[k], c[k] = (first+second)/2, (first-second)/2, cross/2
	}
	at, highest := make([]float64, s), 0.0
	for i := range formSteps {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / formSteps)
		for k := range s {
			at[k] = a[k] + b[k]*cos + c[k]*sin
		}
		highest = math.Max(highest, floats.Dot(at, at))
	}
	slack := 2*math.Abs(floats.Dot(a, b)) + 2*math.Abs(floats.Dot(a, c)) +
		2*math.Abs(floats.Dot(b, b)-floats.Dot(c, c)) + 4*math.Abs(floats.Dot(b, c))
	half := math.Pi / formSteps
	return math.Sqrt(highest + slack*half*half/2)
}

// squareBound is the root of |sum_k A_k^2|_2. It is a bound because |sum_k w_k A_k v| is at most |w| times the root
// of sum_k |A_k v|^2.
func (f *Sheet) squareBound() float64 {
	sum := mat.NewDense(f.Latent, f.Latent, nil)
	for k := range f.S {
		a := mat.NewDense(f.Latent, f.Latent, f.form(k))
		var square mat.Dense
		square.Mul(a, a)
		sum.Add(sum, &square)
	}
	return math.Sqrt(spectralNorm(sum.RawMatrix().Data, f.Latent))
}

// metricBound is the largest |sum_k w_k A_k|_F over |w| = 1.
func (f *Sheet) metricBound() float64 {
	scaled := mat.NewDense(f.Q, f.S, nil)
	for b := range f.Q {
		u := math.Sqrt(VechWeight(f.Latent, b))
		for k := range f.S {
			scaled.Set(b, k, u*f.Theta[b*f.S+k])
		}
	}
	var svd mat.SVD
	svd.Factorize(scaled, mat.SVDNone)
	return floats.Max(svd.Values(nil))
}
