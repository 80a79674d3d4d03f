// Package standard holds test problems for optimizers on manifolds: examples of pymanopt,
// Manopt and ROPTLIB, and others. Gradients and second derivatives are coded by hand. Each
// problem has the size of the literature and a small size for tests.
package standard

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
)

// Size is the size of a problem.
type Size int

// Sizes of problems.
const (
	Small Size = iota // milliseconds, for tests
	Full              // those of the literature
)

// pick returns small or full, by the size.
func (s Size) pick(small, full int) int {
	if s == Full {
		return full
	}
	return small
}

// Problem is a smooth cost with its gradient, a starting point and, for most problems,
// second derivatives.
type Problem struct {
	// Name is what the literature calls the problem.
	Name string
	// Start is the starting point.
	Start framework.Point

	blocks  []framework.Block
	cost    func(grad, x framework.Point) float64
	hessian func(dst, x, v framework.Point)
	grad    framework.Point // gradient at the last evaluated point
}

// Of returns a problem on a product of manifolds. cost returns the cost and writes its
// gradient. hessian writes the second derivative along v, and may be nil.
func Of(blocks []framework.Block, cost func(grad, x framework.Point) float64, hessian func(dst, x, v framework.Point)) *Problem {
	return &Problem{blocks: blocks, cost: cost, hessian: hessian}
}

// Blocks returns the manifolds whose product is the domain.
func (p *Problem) Blocks() []framework.Block { return p.blocks }

// Evaluate returns the cost at x and writes the requested gradients. It computes all
// gradients, and stores them for Resume.
func (p *Problem) Evaluate(grad, x framework.Point) (float64, error) {
	if p.grad == nil {
		p.grad = framework.NewPoint(p.blocks)
	}
	cost := p.cost(p.grad, x)
	return cost, p.Resume(grad)
}

// Resume implements [framework.Problem]. A cost without gradients counts as one pass, as
// in libraries where cost and gradient are separate functions.
func (p *Problem) Resume(grad framework.Point) error {
	for k, g := range grad {
		copy(g, p.grad[k])
	}
	return nil
}

// TwiceDifferentiable reports whether the problem has second derivatives.
func (p *Problem) TwiceDifferentiable() bool { return p.hessian != nil }

// Plus returns the problem with a constant added to its cost.
func (p *Problem) Plus(c float64) *Problem {
	q, cost := *p, p.cost
	q.grad = nil
	q.cost = func(grad, x framework.Point) float64 { return cost(grad, x) + c }
	return &q
}

// FirstOrder returns the problem without its second derivatives.
func (p *Problem) FirstOrder() framework.Problem { return p }

// second is a problem that has second derivatives.
type second struct{ *Problem }

// HessianProduct implements framework.TwiceDifferentiable.
func (p second) HessianProduct(dst, x, v framework.Point) error {
	p.hessian(dst, x, v)
	return nil
}

// Problem returns the problem for solvers, with second derivatives if there are any.
func (p *Problem) Problem() framework.Problem {
	if p.hessian == nil {
		return p
	}
	return second{p}
}

// makers are the functions that build the problems. Each problem has its own random numbers.
var makers = []struct {
	name string
	make func(Size, *rand.Rand) *Problem
}{
	{"eigenvector", eigenvector},
	{"subspace", subspace},
	{"PCA", principal},
	{"rank-k correlation", correlation},
	{"robust PCA", robustPCA},
	{"max-cut", maxCut},
	{"completion", completion},
	{"noisy completion", noisyCompletion},
	{"Brockett", brockett},
	{"Procrustes", procrustes},
	{"mean on the sphere", sphereMean},
	{"mean on SPD", spdMean},
	{"low rank", lowRank},
	{"packing", packing},

	{"ICA", independentComponents},
	{"joint diagonalisation", jointDiagonalisation},
	{"Thomson", thomson},
	{"sparse PCA", sparsePCA},
	{"hyperbolic mean", hyperbolicMean},
	{"phase retrieval", phaseRetrieval},
	{"rotation synchronisation", synchronisation},
	{"Rosenbrock", rosenbrock},
	{"logistic regression", logistic},
	{"ill-conditioned", illConditioned},
	{"unlike blocks", unlikeBlocks},
}

// Names returns the names of the problems.
func Names() []string {
	names := make([]string, len(makers))
	for i, m := range makers {
		names[i] = m.name
	}
	return names
}

// New returns the problem of the given name, or nil if there is none. Its data and its
// start are random with a fixed seed.
func New(name string, size Size) *Problem {
	for i, m := range makers {
		if m.name != name {
			continue
		}
		rng := rand.New(rand.NewPCG(15, uint64(i)))
		p := m.make(size, rng)
		p.Name = name
		if p.Start == nil {
			p.Start = framework.NewPoint(p.blocks)
			for k, b := range p.blocks {
				b.Rand(p.Start[k], rng)
			}
		}
		return p
	}
	return nil
}

// Problems returns all problems.
func Problems(size Size) []*Problem {
	list := make([]*Problem, len(makers))
	for i, m := range makers {
		list[i] = New(m.name, size)
	}
	return list
}

func one(name string, m framework.Manifold, copies int) []framework.Block {
	return []framework.Block{{Name: name, Manifold: m, Copies: copies}}
}

func gaussian(rng *rand.Rand, r, c int) *mat.Dense {
	data := make([]float64, r*c)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	return mat.NewDense(r, c, data)
}

func steps(n int, f func(i int) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// symmetric returns (A + A')/2.
func symmetric(a *mat.Dense) *mat.Dense {
	var s mat.Dense
	s.Add(a, a.T())
	s.Scale(0.5, &s)
	return &s
}

// Spread returns a random symmetric matrix with the given eigenvalues.
func Spread(rng *rand.Rand, values []float64) *mat.Dense {
	n := len(values)
	var qr mat.QR
	qr.Factorize(gaussian(rng, n, n))
	var q, scaled mat.Dense
	qr.QTo(&q)
	scaled.Mul(&q, mat.NewDiagDense(n, values))
	scaled.Mul(&scaled, q.T())
	return symmetric(&scaled)
}

func dot(a, b *mat.Dense) float64 { return floats.Dot(a.RawMatrix().Data, b.RawMatrix().Data) }
