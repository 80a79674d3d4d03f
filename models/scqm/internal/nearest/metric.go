package nearest

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// metric is the inner product of a loss r'Mr on the frame of a sheet. With A = Q'MQ and A y = Q'M(x-c)
//
//	(f(tau) - x)'M(f(tau) - x) = (z(tau) - y)'A(z(tau) - y) + a constant,
//
// so that D no longer occurs once y is known. A_U, A_UV and A_V are the blocks of A for tau and for Theta' phi. At a
// stationary point tau, with e = z - y, B = sum_k (Ae)_(d+k) A_k and N = 2 (A_k tau)_k,
//
//	h(tau + t) = h(tau) + t'(S + 2B)t + |(N + A_V^-1 A_VU)t + q(t)|^2 in A_V,
//	S = A_U - A_UV A_V^-1 A_VU,
//
// as in global.go, with S in place of I.
type metric struct {
	m     framework.Quadratic
	frame []float64 // m x D: A^-1 Q'M
	whole []float64 // m x m: A
	// schur is S, d x d, and cross A_UV, d x s.
	schur, cross []float64
	factor       []float64 // m x m: Cholesky's, of A, then of A_V
	solved       []float64 // s x d: A_V^-1 A_VU
	weighed      []float64 // q x s: Theta A_V
}

// newMetric returns the metric of a loss r'Mr, nil for other losses.
func newMetric(f *sheet.Sheet, loss framework.Loss) *metric {
	l, ok := loss.(framework.Quadratic)
	if !ok {
		return nil
	}
	p := newFrameMetric(f)
	p.m, p.frame = l, make([]float64, f.M*f.D)
	return p
}

// newFrameMetric returns a metric whose matrix A the caller sets.
func newFrameMetric(f *sheet.Sheet) *metric {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &metric{
		whole: vec(f.M * f.M), schur: vec(f.Latent * f.Latent), cross: vec(f.Latent * f.S),
		factor: vec(f.M * f.M), solved: vec(f.S * f.Latent), weighed: vec(f.Q * f.S),
	}
}

// load computes the metric on the frame of the sheet f.
func (p *metric) load(f *sheet.Sheet) {
	m := f.M
	axes := general(f.QT, m, f.D)
	if l, ok := p.m.(*DiagonalForm); ok {
		for k := range m {
			floats.MulTo(p.frame[k*f.D:(k+1)*f.D], l.Values, f.Axis(k))
		}
	} else {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, axes, general(p.m.Matrix(), f.D, f.D), 0, general(p.frame, m, f.D))
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, general(p.frame, m, f.D), axes, 0, general(p.whole, m, m))
	for i := range m {
		for j := range i {
			v := (p.whole[i*m+j] + p.whole[j*m+i]) / 2
			p.whole[i*m+j], p.whole[j*m+i] = v, v
		}
	}
	copy(p.factor, p.whole)
	factor(p.factor, m)
	dense.SolveCholeskyRows(p.frame, p.factor, m, f.D)
	p.eliminate(f)
}

// eliminate computes the quantities that depend on A and Theta.
func (p *metric) eliminate(f *sheet.Sheet) {
	d, m, s := f.Latent, f.M, f.S
	normal := p.factor[:s*s]
	for k := range s {
		copy(normal[k*s:(k+1)*s], p.whole[(d+k)*m+d:(d+k+1)*m])
		copy(p.solved[k*d:(k+1)*d], p.whole[(d+k)*m:])
	}
	if s > 0 {
		factor(normal, s)
		dense.SolveCholeskyRows(p.solved, normal, s, d)
	}
	for i := range d {
		copy(p.cross[i*s:(i+1)*s], p.whole[i*m+d:(i+1)*m])
		for j := range d {
			p.schur[i*d+j] = p.whole[i*m+j]
			for k := range s {
				p.schur[i*d+j] -= p.cross[i*s+k] * p.solved[k*d+j]
			}
		}
	}
	for a := range f.Q {
		row := p.weighed[a*s : (a+1)*s]
		clear(row)
		for k, t := range f.Theta[a*s : (a+1)*s] {
			floats.AddScaled(row, t, p.whole[(d+k)*m+d:(d+k+1)*m])
		}
	}
}

// factor replaces a positive definite n x n matrix by its Cholesky factor.
func factor(a []float64, n int) {
	if !dense.Cholesky(a, n, 0) {
		dense.JitteredCholesky(a, n)
	}
}

func general(x []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: x}
}

// toFrame writes y for diff = x - c.
func (p *metric) toFrame(y, diff []float64) {
	for k := range y {
		y[k] = dense.Dot(p.frame[k*len(diff):(k+1)*len(diff)], diff)
	}
}

// addCross adds u'A_UV q(u), a form of degree 3, to that of N'A_V q.
func (p *metric) addCross(cross *[4]float64, f *sheet.Sheet) {
	for i := range 2 {
		for a := range 3 {
			var v float64
			for k := range f.S {
				v += p.cross[i*f.S+k] * f.Theta[a*f.S+k]
			}
			cross[i+a] += v
		}
	}
}
