package solvers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
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

func one(name string, m framework.Manifold, copies int) []framework.Block {
	return []framework.Block{{Name: name, Manifold: m, Copies: copies}}
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

// quadratic is tr(N X'AX)/2 for a weight per column of X.
func quadratic(m framework.Manifold, a mat.Symmetric, weights []float64) *smooth {
	n, p := a.SymmetricDim(), len(weights)
	apply := func(dst, x []float64) {
		d := mat.NewDense(n, p, dst)
		d.Mul(a, mat.NewDense(n, p, x))
		for i := range n {
			floats.Mul(dst[i*p:(i+1)*p], weights)
		}
	}
	return &smooth{
		one("X", m, 1),
		func(grad, x framework.Point) float64 {
			apply(grad[0], x[0])
			return floats.Dot(grad[0], x[0]) / 2
		},
		func(dst, _, v framework.Point) { apply(dst[0], v[0]) },
	}
}

func negated(s *mat.SymDense) *mat.SymDense {
	s.ScaleSym(-1, s)
	return s
}

// stiffProcrustes is |AXB - C|^2/2.
func stiffProcrustes(rng *rand.Rand) *smooth {
	const n, p = 60, 6
	a := mat.NewDiagDense(n, steps(n, func(i int) float64 { return math.Pow(10, -float64(i)/n) }))
	c := gaussian(rng, n, p)
	var ac, aa mat.Dense
	ac.Mul(a, c)
	aa.Mul(a, a)
	b := steps(p, func(i int) float64 { return math.Pow(10, -float64(i)/p) })
	q := quadratic(manifolds.NewStiefel(n, p), symmetric(&aa), steps(p, func(i int) float64 { return b[i] * b[i] }))
	cost := q.cost
	linear := ac.RawMatrix().Data
	for i := range n {
		floats.Mul(linear[i*p:(i+1)*p], b)
	}
	q.cost = func(grad, x framework.Point) float64 {
		f := cost(grad, x) - floats.Dot(linear, x[0])
		floats.Sub(grad[0], linear)
		return f
	}
	return q
}

func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	return s
}

// gram is sum_ij w_ij (<x_i,x_j> - c_ij)^2 / 4 over rows of spheres or, with linear,
// sum_ij c_ij <x_i,x_j> / 4.
func gram(m framework.Manifold, c *mat.SymDense, p int, linear bool) *smooth {
	n := c.SymmetricDim()
	residual := func(x []float64) *mat.Dense {
		var r mat.Dense
		if linear {
			r.CloneFrom(c)
			return &r
		}
		m := mat.NewDense(n, p, x)
		r.Mul(m, m.T())
		r.Sub(&r, c)
		return &r
	}
	return &smooth{
		one("rows", m, n),
		func(grad, x framework.Point) float64 {
			r := residual(x[0])
			mat.NewDense(n, p, grad[0]).Mul(r, mat.NewDense(n, p, x[0]))
			if linear {
				return floats.Dot(grad[0], x[0]) / 2
			}
			return floats.Dot(r.RawMatrix().Data, r.RawMatrix().Data) / 4
		},
		func(dst, x, v framework.Point) {
			vm, xm := mat.NewDense(n, p, v[0]), mat.NewDense(n, p, x[0])
			d := mat.NewDense(n, p, dst[0])
			d.Mul(residual(x[0]), vm)
			if linear {
				return
			}
			var cross, more mat.Dense
			cross.Mul(vm, xm.T())
			more.Mul(xm, vm.T())
			cross.Add(&cross, &more)
			more.Reset()
			more.Mul(&cross, xm)
			d.Add(d, &more)
		},
	}
}

// completion is the sum of squares of (LR' - A)_ij over the entries seen.
func completion(rng *rand.Rand) *smooth {
	const n, r = 60, 3
	var truth mat.Dense
	truth.Mul(gaussian(rng, n, r), gaussian(rng, n, r).T())
	seen := steps(n*n, func(int) float64 { return math.Floor(rng.Float64() + 0.4) })
	masked := func(l, q []float64) *mat.Dense {
		var e mat.Dense
		e.Mul(mat.NewDense(n, r, l), mat.NewDense(n, r, q).T())
		floats.Mul(e.RawMatrix().Data, seen)
		return &e
	}
	floats.Mul(truth.RawMatrix().Data, seen)
	return &smooth{
		[]framework.Block{{Name: "L", Manifold: manifolds.Euclidean(r), Copies: n}, {Name: "R", Manifold: manifolds.Euclidean(r), Copies: n}},
		func(grad, x framework.Point) float64 {
			e := masked(x[0], x[1])
			e.Sub(e, &truth)
			mat.NewDense(n, r, grad[0]).Mul(e, mat.NewDense(n, r, x[1]))
			mat.NewDense(n, r, grad[1]).Mul(e.T(), mat.NewDense(n, r, x[0]))
			return floats.Dot(e.RawMatrix().Data, e.RawMatrix().Data) / 2
		},
		func(dst, x, v framework.Point) {
			e, d := masked(x[0], x[1]), masked(v[0], x[1])
			e.Sub(e, &truth)
			d.Add(d, masked(x[0], v[1]))
			var more mat.Dense
			for k, m := range []struct{ e, d mat.Matrix }{{e, d}, {e.T(), d.T()}} {
				t := mat.NewDense(n, r, dst[k])
				t.Mul(m.e, mat.NewDense(n, r, v[1-k]))
				more.Mul(m.d, mat.NewDense(n, r, x[1-k]))
				t.Add(t, &more)
			}
		},
	}
}

// distancesOnSphere is half the sum of squared angles to points around a pole.
func distancesOnSphere(rng *rand.Rand, n, count int) *smooth {
	points := gaussian(rng, count, n)
	for i := range count {
		row := points.RawRowView(i)
		row[0] += 2 * math.Sqrt(float64(n))
		floats.Scale(1/floats.Norm(row, 2), row)
	}
	return &smooth{
		one("x", manifolds.Sphere(n), 1),
		func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			for i := range count {
				c := math.Min(1, floats.Dot(points.RawRowView(i), x[0]))
				angle := math.Acos(c)
				cost += angle * angle / 2
				floats.AddScaled(grad[0], -angle/math.Sqrt(1-c*c), points.RawRowView(i))
			}
			return cost
		},
		nil,
	}
}

// robustDistances is sum_i sqrt(|y_i - X X'y_i|^2 + eps^2) over frames X.
func robustDistances(rng *rand.Rand) *smooth {
	const n, p, count, eps = 30, 3, 100, 0.1
	y := gaussian(rng, count, n)
	for i := range count {
		for j := range n {
			if j < p {
				y.Set(i, j, 4*y.At(i, j))
			} else if i%5 > 0 {
				y.Set(i, j, 0.1*y.At(i, j))
			}
		}
	}
	return &smooth{
		one("X", manifolds.NewStiefel(n, p), 1),
		func(grad, x framework.Point) float64 {
			xm := mat.NewDense(n, p, x[0])
			var t mat.Dense
			t.Mul(y, xm)
			cost := 0.
			weighted := mat.DenseCopyOf(&t)
			for i := range count {
				row, part := y.RawRowView(i), t.RawRowView(i)
				d := math.Sqrt(floats.Dot(row, row) - floats.Dot(part, part) + eps*eps)
				cost += d
				floats.Scale(-1/d, weighted.RawRowView(i))
			}
			mat.NewDense(n, p, grad[0]).Mul(y.T(), weighted)
			return cost
		},
		nil,
	}
}

// thomson is the sum of 1/|x_i - x_j| for points on the sphere.
func thomson(n int) *smooth {
	return &smooth{
		one("points", manifolds.Sphere(3), n),
		func(grad, x framework.Point) float64 {
			clear(grad[0])
			cost := 0.
			for i := range n {
				for j := range i {
					a, b := x[0][3*i:3*i+3], x[0][3*j:3*j+3]
					d := floats.Distance(a, b, 2)
					cost += 1 / d
					for k := range 3 {
						f := (a[k] - b[k]) / (d * d * d)
						grad[0][3*i+k] -= f
						grad[0][3*j+k] += f
					}
				}
			}
			return cost
		},
		nil,
	}
}

// ill is a quadratic of condition 100 with a constant.
func ill(c float64) *smooth {
	weights := steps(20, func(i int) float64 { return math.Pow(100, float64(i)/19) })
	return &smooth{
		one("x", manifolds.Euclidean(20), 1),
		func(grad, x framework.Point) float64 {
			cost := c
			for i, w := range weights {
				d := x[0][i] - 1
				grad[0][i] = w * d
				cost += w * d * d / 2
			}
			return cost
		},
		func(dst, _, v framework.Point) { floats.MulTo(dst[0], weights, v[0]) },
	}
}

// unlikeBlocks is a small Rayleigh quotient beside a stiff quadratic.
func unlikeBlocks(rng *rand.Rand) *smooth {
	weights := steps(30, func(i int) float64 { return 1e4 * (1 + float64(i)/10) })
	a := spread(rng, steps(50, func(i int) float64 { return 1e-1 * float64(i+1) }))
	apply := func(dst, x []float64) {
		mat.NewVecDense(50, dst).MulVec(a, mat.NewVecDense(50, x))
	}
	return &smooth{
		[]framework.Block{{Name: "flat", Manifold: manifolds.Euclidean(30)}, {Name: "direction", Manifold: manifolds.Sphere(50)}},
		func(grad, x framework.Point) float64 {
			apply(grad[1], x[1])
			cost := floats.Dot(grad[1], x[1]) / 2
			for i, w := range weights {
				d := x[0][i] - x[1][i]
				cost += w * d * d / 2
				grad[0][i] = w * d
				grad[1][i] -= w * d
			}
			return cost
		},
		func(dst, _, v framework.Point) {
			apply(dst[1], v[1])
			for i, w := range weights {
				d := v[0][i] - v[1][i]
				dst[0][i] = w * d
				dst[1][i] -= w * d
			}
		},
	}
}

func curvedValley(n int) *smooth {
	return &smooth{
		one("x", manifolds.Euclidean(n), 1),
		func(grad, x framework.Point) float64 {
			cost, _ := rosenbrock(n).Evaluate(grad, x)
			return cost
		},
		func(dst, x, v framework.Point) {
			clear(dst[0])
			for i := range n - 1 {
				u := x[0][i]
				cross := -400 * u
				dst[0][i] += (1200*u*u-400*x[0][i+1]+2)*v[0][i] + cross*v[0][i+1]
				dst[0][i+1] += cross*v[0][i] + 200*v[0][i+1]
			}
		},
	}
}

// standardProblem is a problem of the field with a start.
type standardProblem struct {
	name  string
	p     *smooth
	start framework.Point
}

// standardProblems are examples of pymanopt, Manopt and ROPTLIB, and others.
func standardProblems() []standardProblem {
	rng := rand.New(rand.NewPCG(15, 1))
	correlation := gram(manifolds.Sphere(5), spread(rng, steps(40, func(i int) float64 { return 40 * math.Pow(0.7, float64(i)) * 0.3 })), 5, false)
	laplacian := spread(rng, steps(100, func(i int) float64 { return -float64(i) / 100 }))
	list := []standardProblem{
		{"eigenvector", quadratic(manifolds.Sphere(300), negated(spread(rng, steps(300, func(i int) float64 { return math.Sqrt(float64(i)) }))), []float64{1}), nil},
		{"subspace", quadratic(manifolds.NewStiefel(128, 3), negated(spread(rng, steps(128, func(i int) float64 { return math.Pow(0.9, float64(i)) }))), []float64{1, 1, 1}), nil},
		{"PCA", quadratic(manifolds.NewStiefel(50, 2), negated(spread(rng, steps(50, func(i int) float64 { return 1 / float64(1+i) }))), []float64{1, 1}), nil},
		{"rank-k correlation", correlation, nil},
		{"robust PCA", robustDistances(rng), nil},
		{"max-cut", gram(manifolds.Sphere(10), laplacian, 10, true), nil},
		{"completion", completion(rng), nil},
		{"Brockett", quadratic(manifolds.NewStiefel(100, 5), spread(rng, steps(100, func(i int) float64 { return float64(i + 1) })), []float64{5, 4, 3, 2, 1}), nil},
		{"Procrustes", stiffProcrustes(rng), nil},
		{"Karcher mean", distancesOnSphere(rng, 100, 30), nil},
		{"Thomson", thomson(12), nil},
		{"Rosenbrock", curvedValley(50), nil},
		{"ill-conditioned + 1e6", ill(1e6), nil},
		{"unlike blocks", unlikeBlocks(rng), nil},
	}
	for i := range list {
		list[i].start = framework.NewPoint(list[i].p.blocks)
		for k, b := range list[i].p.blocks {
			b.Rand(list[i].start[k], rng)
		}
	}
	pole := list[9].start[0]
	clear(pole)
	pole[1] = 1
	return list
}

func (p standardProblem) problem() framework.Problem {
	if p.p.hessian == nil {
		return p.p
	}
	return second{p.p}
}

func TestStandardProblemsAreSound(t *testing.T) {
	for _, p := range standardProblems() {
		frameworktest.TestProblem(t, p.name, p.problem(), frameworktest.ProblemOptions{Seed: 1})
	}
}

// TestStandardProblems runs every solver to gradients of 1e-6 and 1e-8 and logs the
// passes. Trust regions reach both everywhere; the blocks of the last problem, of
// condition 1e6, take all others more than 3000 iterations.
func TestStandardProblems(t *testing.T) {
	list := []framework.Solver{solvers.LBFGS{}, solvers.TrustRegion{}, solvers.ConjugateGradient{}}
	if !testing.Short() {
		list = append(list, solvers.RGD{})
	}
	reached := map[string][2]int{}
	for _, p := range standardProblems() {
		line := fmt.Sprintf("%-22s", p.name)
		for _, s := range list {
			most := 3000
			res := run(t, p.problem(), p.start, s, framework.Options{MaxIterations: most, Tolerance: 1e-8, MinRelativeDecrease: -1})
			g := 0.
			for _, v := range res.Stationarity {
				g = math.Max(g, v)
			}
			n := reached[s.Name()]
			if g <= 1e-6 {
				n[0]++
			}
			if g <= 1e-8 {
				n[1]++
			}
			reached[s.Name()] = n
			line += fmt.Sprintf(" | %s %6.0f (%d Hv) %.0e %v", s.Name(), res.Counts.Passes, res.Counts.Hessians, g, res.Status)
		}
		t.Log(line)
	}
	t.Log(reached)
	assert.Equal(t, [2]int{14, 14}, reached["trust_region"])
	assert.Equal(t, [2]int{13, 13}, reached["lbfgs"])
	assert.GreaterOrEqual(t, reached["cg"][1], 13)
}

// Auto takes what the problem offers, and only that.
func TestAutoChoosesByCapabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 2))
	products := unlikeBlocks(rng)
	for name, c := range map[string]struct {
		p    framework.Problem
		want string
	}{
		"arrowhead":                      {lineCase().New(), "newton"},
		"sweeps":                         {&leash{}, "alternating"},
		"gradients":                      {products, "lbfgs"},
		"Hessian of unlike blocks":       {second{products}, "trust_region"},
		"Hessian of one block":           {second{ill(0)}, "lbfgs"},
		"Hessian of blocks of one kind":  {second{completion(rng)}, "lbfgs"},
		"Hessian without its manifold's": {second{&smooth{blocks: append(one("z", unconverted{manifolds.Sphere(3)}, 1), products.blocks...)}}, "lbfgs"},
	} {
		assert.Equal(t, c.want, solvers.Auto(c.p).Name(), name)
		assert.Contains(t, solvers.Serving(c.p), c.want, name)
	}
}

// unconverted hides all but the methods of a manifold.
type unconverted struct{ framework.Manifold }
