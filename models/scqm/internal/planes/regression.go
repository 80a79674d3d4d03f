package planes

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
)

// noiseVariance is e, the fraction of the unit variance of a whitened score that counts as noise.
const noiseVariance = 1e-2

// regression is the problem of finding the plane whose scores best predict the other scores in least squares. The m
// whitened scores of a row are y, and t = U'y. C(U) is the residual covariance of the regression of y on 1, t and the
// products of t. The problem minimises
//
//	log det (C(U) + e I),   U'U = I,
//
// which is, up to e, the negative Gaussian log-likelihood. Unlike the sum of squares it does not depend on the spread
// of the rows along each axis. From a quarter to two thirds of random planes, descent reaches the best plane.
type regression struct {
	n, m, d, p int
	y          []float64 // n x m: whitened scores
	w          []float64 // n: weights, of sum 1
	block      []framework.Block

	f, wf, h, g    []float64 // n x p: features, these times weights, products; n x d
	gram, rhs      []float64 // p x p, p x m: coefficients
	left           []float64 // m x m: Cholesky factor of C + e I
	metric, square []float64 // m x p, p x p
}

func newRegression(y, w []float64, m, d int) *regression {
	n, p := len(w), features(d)
	v := func(n int) []float64 { return make([]float64, n) }
	return &regression{
		n: n, m: m, d: d, p: p, y: y, w: w,
		block: []framework.Block{{Name: "U", Manifold: manifolds.NewGrassmann(m, d)}},
		f:     v(n * p), wf: v(n * p), h: v(n * p), g: v(n * d), gram: v(p * p), rhs: v(p * m),
		left: v(m * m), metric: v(m * p), square: v(p * p),
	}
}

// features is the number of regressors: 1, t and the products of t.
func features(d int) int { return 1 + d + d*(d+1)/2 }

// Blocks implements [framework.Problem].
func (s *regression) Blocks() []framework.Block { return s.block }

// Evaluate implements [framework.Problem].
func (s *regression) Evaluate(grad, x framework.Point) (float64, error) {
	s.regress(x[0])
	m, p := s.m, s.p
	clear(s.left)
	for j := range m {
		s.left[j*m+j] = 1 + noiseVariance
	}
	for a := range p {
		row := s.rhs[a*m : (a+1)*m]
		for j, v := range row {
			floats.AddScaled(s.left[j*m:(j+1)*m], -v, row)
		}
	}
	if !dense.FactorCholesky(s.left, m, 0, 0) {
		return math.Inf(1), nil
	}
	cost := -float64(s.d) * math.Log(noiseVariance)
	for j := range m {
		cost += 2 * math.Log(s.left[j*m+j])
	}
	if grad != nil && grad[0] != nil {
		s.gradient(grad[0])
	}
	return cost, nil
}

// regress computes the features at U. It stores the Cholesky factor L of their covariance in gram, and
// L^-1 A in rhs, where A is their cross-covariance with the scores.
func (s *regression) regress(u []float64) {
	n, m, d, p := s.n, s.m, s.d, s.p
	clear(s.g)
	dense.AddRowProduct(s.g, s.y, u, n, m, d)
	for i, w := range s.w {
		f, t := s.f[i*p:(i+1)*p], s.g[i*d:(i+1)*d]
		f[0] = 1
		copy(f[1:], t)
		dense.Vech(f[1+d:], t)
		floats.ScaleTo(s.wf[i*p:(i+1)*p], w, f)
	}
	clear(s.gram)
	clear(s.rhs)
	dense.AddProduct(s.gram, s.wf, s.f, n, p, p)
	dense.AddProduct(s.rhs, s.wf, s.y, n, p, m)
	dense.JitteredCholesky(s.gram, p)
	dense.ForwardCholeskyRows(s.rhs, s.gram, p, m)
}

// gradient writes the gradient with respect to U. By the envelope theorem the coefficients B are constant: it
// is -2 sum_i w_i y_i (dt_i' B P r_i)' with P = (C + e I)^-1 and residuals r.
func (s *regression) gradient(grad []float64) {
	n, m, d, p, b := s.n, s.m, s.d, s.p, s.rhs
	dense.BackwardCholeskyRows(b, s.gram, p, m) // B, p x m
	dense.Transpose(s.metric, b, p, m)
	dense.ForwardCholeskyRows(s.metric, s.left, m, p)
	dense.BackwardCholeskyRows(s.metric, s.left, m, p) // P B'
	clear(s.square)
	for a := range p {
		for j := range m {
			floats.AddScaled(s.square[a*p:(a+1)*p], -b[a*m+j], s.metric[j*p:(j+1)*p])
		}
	}
	clear(s.h)
	dense.AddRowProduct(s.h, s.y, s.metric, n, m, p)
	dense.AddRowProduct(s.h, s.f, s.square, n, p, p)
	for i, w := range s.w {
		h, t, g := s.h[i*p:(i+1)*p], s.f[i*p+1:i*p+1+d], s.g[i*d:(i+1)*d]
		copy(g, h[1:])
		a := 1 + d
		for j := range d {
			for k := j; k < d; k++ {
				g[j] += h[a] * t[k]
				g[k] += h[a] * t[j]
				a++
			}
		}
		floats.Scale(-2*w, g)
	}
	clear(grad)
	dense.AddProduct(grad, s.y, s.g, n, m, d)
}

// sumOfSquares returns the residual sum of squares of the regression at U, of scores with standard deviations
// scale.
func (s *regression) sumOfSquares(u, scale []float64) float64 {
	s.regress(u)
	var sum float64
	for j, v := range scale[:s.m] {
		left := 1.0
		for a := range s.p {
			left -= s.rhs[a*s.m+j] * s.rhs[a*s.m+j]
		}
		sum += v * v * math.Max(left, 0)
	}
	return sum
}
