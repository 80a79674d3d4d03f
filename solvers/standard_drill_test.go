package solvers_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/internal/standard"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
)

// term is a cost on one block, bounded below, with its second derivatives.
type term interface {
	value(g, x []float64) float64 // adds the gradient to g
	hessian(h, x, v []float64)    // adds the product to h
}

// bowl is sum_i d_i x_i^2 / 2 + (w'x)^2 / 2 + b'x.
type bowl struct{ d, w, b []float64 }

func (f bowl) value(g, x []float64) float64 {
	cost, wx := floats.Dot(f.b, x), floats.Dot(f.w, x)
	for i, v := range x {
		cost += f.d[i] * v * v / 2
		g[i] += f.d[i]*v + f.b[i] + wx*f.w[i]
	}
	return cost + wx*wx/2
}

func (f bowl) hessian(h, _, v []float64) {
	wv := floats.Dot(f.w, v)
	for i, u := range v {
		h[i] += f.d[i]*u + wv*f.w[i]
	}
}

// likelihood is tr(AX) - log det X, the negative logarithm of a Gaussian likelihood of
// the precision X.
type likelihood struct{ a *mat.SymDense }

func (f likelihood) inverse(x []float64) (*mat.Dense, float64) {
	n := f.a.SymmetricDim()
	m := mat.NewDense(n, n, x)
	var inverse mat.Dense
	if inverse.Inverse(m) != nil {
		return mat.NewDense(n, n, nil), math.Inf(-1)
	}
	logDet, sign := mat.LogDet(m)
	if sign <= 0 {
		return &inverse, math.Inf(-1)
	}
	return &inverse, logDet
}

func (f likelihood) value(g, x []float64) float64 {
	inverse, logDet := f.inverse(x)
	n := f.a.SymmetricDim()
	cost := -logDet
	for i := range n {
		for j := range n {
			cost += f.a.At(i, j) * x[i*n+j]
			g[i*n+j] += f.a.At(i, j) - (inverse.At(i, j)+inverse.At(j, i))/2
		}
	}
	return cost
}

func (f likelihood) hessian(h, x, v []float64) {
	inverse, _ := f.inverse(x)
	n := f.a.SymmetricDim()
	var product mat.Dense
	product.Mul(inverse, mat.NewDense(n, n, v))
	product.Mul(&product, inverse)
	for i := range n {
		for j := range n {
			h[i*n+j] += (product.At(i, j) + product.At(j, i)) / 2
		}
	}
}

// randomTerm draws a manifold with a cost on it that suits it.
func randomTerm(rng *rand.Rand) (framework.Block, term) {
	n := 2 + rng.IntN(6)
	spread := math.Pow(10, 2*rng.Float64())
	weights := func(size int) []float64 {
		return entries(size, func(int) float64 { return math.Pow(spread, rng.Float64()) })
	}
	random := func(m framework.Manifold, copies int) (framework.Block, term) {
		b := framework.Block{Manifold: m, Copies: copies}
		return b, bowl{weights(b.Size()), gaussians(rng, b.Size()), gaussians(rng, b.Size())}
	}
	switch rng.IntN(7) {
	case 0:
		return random(manifolds.Euclidean(n), 1+rng.IntN(3))
	case 1:
		return random(manifolds.Sphere(n), 1+rng.IntN(3))
	case 2:
		return random(manifolds.NewStiefel(n, 1+rng.IntN(n-1)), 1)
	case 3:
		return random(manifolds.NewRotations(2+rng.IntN(2)), 1+rng.IntN(3))
	case 4: // a trace that does not depend on the basis
		p := 1 + rng.IntN(n-1)
		d := weights(n)
		m := manifolds.NewGrassmann(n, p)
		return framework.Block{Manifold: m}, bowl{entries(n*p, func(i int) float64 { return d[i/p] }), make([]float64, n*p), make([]float64, n*p)}
	case 5:
		n = 1 + rng.IntN(4)
		return framework.Block{Manifold: manifolds.NewSPD(n)}, likelihood{spreadOf(rng, n, spread)}
	default: // the sum of the Lorentz products with points, negated
		m := manifolds.Hyperbolic(n)
		b, point := make([]float64, m.Size()), make([]float64, m.Size())
		for range 3 {
			m.Rand(point, rng)
			floats.Add(b, point)
		}
		floats.Scale(-1, b[1:])
		return framework.Block{Manifold: m}, bowl{make([]float64, m.Size()), make([]float64, m.Size()), b}
	}
}

func spreadOf(rng *rand.Rand, n int, condition float64) *mat.SymDense {
	values := entries(n, func(int) float64 { return math.Pow(condition, rng.Float64()) })
	return mat.NewSymDense(n, standard.Spread(rng, values).RawMatrix().Data)
}

// entries returns f(0), ..., f(n-1).
func entries(n int, f func(i int) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// randomProblem is a sum of such costs on the product of their blocks with a constant.
func randomProblem(rng *rand.Rand) (build func(c float64) *standard.Problem, start framework.Point) {
	var blocks []framework.Block
	var terms []term
	for k := range 1 + rng.IntN(3) {
		b, f := randomTerm(rng)
		b.Name = fmt.Sprint("block", k)
		blocks, terms = append(blocks, b), append(terms, f)
	}
	start = framework.NewPoint(blocks)
	for k, b := range blocks {
		b.Rand(start[k], rng)
	}
	return func(c float64) *standard.Problem {
		return standard.Of(blocks,
			func(grad, x framework.Point) float64 {
				cost := c
				for k, f := range terms {
					clear(grad[k])
					cost += f.value(grad[k], x[k])
				}
				return cost
			},
			func(dst, x, v framework.Point) {
				for k, f := range terms {
					clear(dst[k])
					f.hessian(dst[k], x[k], v[k])
				}
			})
	}, start
}

// TestDrillStandard runs solvers on random costs on random products of manifolds: what
// results say is true, and does not depend on a constant in the cost.
func TestDrillStandard(t *testing.T) {
	list := []framework.Solver{solvers.LBFGS{}, solvers.TrustRegion{}, solvers.ConjugateGradient{}, solvers.RGD{}, nil}
	converged, runs := map[string]int{}, map[string]int{}
	drill.Run(t, "standard", 10, func(c drill.Case) error {
		build, start := randomProblem(c.Rand)
		problem := func(constant float64) framework.Problem {
			if c.Index%2 == 0 {
				return build(constant).Problem()
			}
			return build(constant).FirstOrder()
		}
		var errs []error
		for _, s := range list {
			name := "auto"
			if s == nil {
				s = solvers.Auto(problem(0))
			} else {
				name = s.Name()
			}
			res, err := standardRun(problem, start, s)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
				continue
			}
			runs[name]++
			if res.Status == framework.Converged {
				converged[name]++
			}
		}
		return errors.Join(errs...)
	})
	t.Logf("converged %v of %v", converged, runs)
}

// standardRun solves a problem with the constants 0, 1e3 and 1e6, and compares.
func standardRun(problem func(c float64) framework.Problem, start framework.Point, s framework.Solver) (*framework.Result, error) {
	var first *framework.Result
	for _, c := range []float64{0, 1e3, 1e6} {
		p := problem(c)
		res, err := framework.Solve(context.Background(), p, start, s, framework.Options{MaxIterations: 2000, GradientUnit: 1})
		if err != nil {
			return nil, err
		}
		if err := isTrue(p, res, start); err != nil {
			return nil, fmt.Errorf("cost + %g: %w", c, err)
		}
		if first == nil {
			first = res
			if _, silent := s.(solvers.RGD); silent { // its states do not tell their gradients
				return first, nil
			}
			continue
		}
		if res.Status != first.Status {
			return nil, fmt.Errorf("%v with %g added to the cost (%s), else %v (%s)", res.Status, c, res.Message, first.Status, first.Message)
		}
		for i := range min(5, len(res.History), len(first.History)) {
			want := first.History[i].Cost
			if off := math.Abs(res.History[i].Cost - c - want); !(off <= 1e-5*(1+math.Abs(first.History[0].Cost))) {
				return nil, fmt.Errorf("with %g added the cost of iterate %d is off by %g", c, i, off)
			}
		}
	}
	return first, nil
}

// isTrue recomputes what a result says.
func isTrue(p framework.Problem, res *framework.Result, start framework.Point) error {
	m := framework.Product(p.Blocks())
	grad := framework.NewPoint(m)
	cost, err := p.Evaluate(grad, res.Point)
	before, err2 := p.Evaluate(nil, start)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	m.Gradient(grad, res.Point, grad)
	norm := 0.0
	for k, b := range m {
		norm = math.Max(norm, b.Norm(res.Point[k], grad[k]))
	}
	switch {
	case cost != res.Cost || !res.Point.Finite():
		return fmt.Errorf("the cost is %v, said to be %v", cost, res.Cost)
	case cost > before+1e-12*math.Abs(before):
		return fmt.Errorf("ends at %v, above the start at %v", cost, before)
	case (norm <= framework.DefaultTolerance) != (res.Status == framework.Converged) && res.Status != framework.MaxIterations:
		return fmt.Errorf("%v at a gradient of norm %g: %s", res.Status, norm, res.Message)
	case m.Violation(res.Point) > 1e-10:
		return fmt.Errorf("off the manifold by %g", m.Violation(res.Point))
	}
	return nil
}
