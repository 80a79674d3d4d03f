package solvers_test

import (
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"gonum.org/v1/gonum/mat"
)

// smooth is a problem of one or several blocks made of functions. hessian may be nil.
type smooth struct {
	blocks  []framework.Block
	cost    func(grad, x framework.Point) float64
	hessian func(dst, x, v framework.Point)
}

func (p *smooth) Blocks() []framework.Block { return p.blocks }

func (p *smooth) Evaluate(grad, x framework.Point) (float64, error) {
	g := make(framework.Point, len(x))
	for k := range g {
		if g[k] = make([]float64, len(x[k])); grad != nil && grad[k] != nil {
			g[k] = grad[k]
		}
	}
	return p.cost(g, x), nil
}

// second is smooth with its second derivatives.
type second struct{ *smooth }

func (p second) HessianProduct(dst, x, v framework.Point) error {
	p.hessian(dst, x, v)
	return nil
}

func gaussian(rng *rand.Rand, r, c int) *mat.Dense { return mat.NewDense(r, c, gaussians(rng, r*c)) }

// spread returns a symmetric matrix with the eigenvalues given.
func spread(rng *rand.Rand, values []float64) *mat.SymDense {
	n := len(values)
	var qr mat.QR
	qr.Factorize(gaussian(rng, n, n))
	var q, scaled mat.Dense
	qr.QTo(&q)
	scaled.Mul(&q, mat.NewDiagDense(n, values))
	scaled.Mul(&scaled, q.T())
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, (scaled.At(i, j)+scaled.At(j, i))/2)
		}
	}
	return s
}

func steps(n int, f func(i int) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}
