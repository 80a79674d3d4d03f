package constrained_test

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers/constrained"
)

// known is a problem with its answer.
type known struct {
	name  string
	p     constrained.Problem
	start framework.Point
	best  float64
}

// functions is a problem of one block whose derivatives are given with its values.
type functions struct {
	on           framework.Manifold
	copies       int
	lower, upper []float64
	// cost adds its gradient to g, constraint that of constraint i times w, where g is not nil.
	cost       func(g, x []float64) float64
	constraint func(i int, g, x []float64, w float64) float64
}

func (p functions) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: p.on, Copies: p.copies}}
}

func (p functions) Evaluate(grad, x framework.Point) (float64, error) {
	if grad == nil || grad[0] == nil {
		return p.cost(nil, x[0]), nil
	}
	clear(grad[0])
	return p.cost(grad[0], x[0]), nil
}

func (p functions) Bounds() (lower, upper []float64) { return p.lower, p.upper }

func (p functions) Constraints(c []float64, x framework.Point) error {
	for i := range c {
		c[i] = p.constraint(i, nil, x[0], 0)
	}
	return nil
}

func (p functions) AddTransposedProduct(grad, x framework.Point, w []float64) error {
	for i, wi := range w {
		p.constraint(i, grad[0], x[0], wi)
	}
	return nil
}

// polynomial is a sum of coefficients times products of powers.
type polynomial []struct {
	c      float64
	powers map[int]float64
}

func (p polynomial) add(g, x []float64, w float64) float64 {
	var sum float64
	for _, term := range p {
		value := term.c
		for i, e := range term.powers {
			value *= math.Pow(x[i], e)
		}
		sum += value
		for i, e := range term.powers {
			if g == nil {
				break
			}
			d := w * term.c * e * math.Pow(x[i], e-1)
			for j, f := range term.powers {
				if j != i {
					d *= math.Pow(x[j], f)
				}
			}
			g[i] += d
		}
	}
	return sum
}

var infinity = math.Inf(1)

// hockSchittkowski are problems of W. Hock, K. Schittkowski, Test Examples for Nonlinear
// Programming Codes, Springer 1981, under their numbers.
func hockSchittkowski() []known {
	type term = struct {
		c      float64
		powers map[int]float64
	}
	type powers = map[int]float64
	polynomials := func(n int, lower, upper []float64, cost polynomial, constraints ...polynomial) functions {
		return functions{
			on: manifolds.Euclidean(n), lower: lower, upper: upper,
			cost: func(g, x []float64) float64 { return cost.add(g, x, 1) },
			constraint: func(i int, g, x []float64, w float64) float64 {
				return constraints[i].add(g, x, w)
			},
		}
	}
	hs6 := polynomials(2, []float64{0}, []float64{0}, polynomial{{1, nil}, {-2, powers{0: 1}}, {1, powers{0: 2}}},
		polynomial{{10, powers{1: 1}}, {-10, powers{0: 2}}})
	hs7 := polynomials(2, []float64{4}, []float64{4}, nil,
		polynomial{{1, nil}, {2, powers{0: 2}}, {1, powers{0: 4}}, {1, powers{1: 2}}})
	hs7.cost = func(g, x []float64) float64 {
		if g != nil {
			g[0] += 2 * x[0] / (1 + x[0]*x[0])
			g[1]--
		}
		return math.Log1p(x[0]*x[0]) - x[1]
	}
	hs35 := polynomials(3, []float64{-infinity}, []float64{3},
		polynomial{
			{9, nil}, {-8, powers{0: 1}}, {-6, powers{1: 1}}, {-4, powers{2: 1}}, {2, powers{0: 2}}, {2, powers{1: 2}}, {1, powers{2: 2}},
			{2, powers{0: 1, 1: 1}}, {2, powers{0: 1, 2: 1}},
		}, polynomial{{1, powers{0: 1}}, {1, powers{1: 1}}, {2, powers{2: 1}}})
	hs39 := polynomials(4, []float64{0, 0}, []float64{0, 0}, polynomial{{-1, powers{0: 1}}},
		polynomial{{1, powers{1: 1}}, {-1, powers{0: 3}}, {-1, powers{2: 2}}},
		polynomial{{1, powers{0: 2}}, {-1, powers{1: 1}}, {-1, powers{3: 2}}})
	hs43 := polynomials(4, []float64{-infinity, -infinity, -infinity}, []float64{8, 10, 5},
		polynomial{
			{1, powers{0: 2}}, {1, powers{1: 2}}, {2, powers{2: 2}}, {1, powers{3: 2}},
			{-5, powers{0: 1}}, {-5, powers{1: 1}}, {-21, powers{2: 1}}, {7, powers{3: 1}},
		},
		polynomial{
			{1, powers{0: 2}}, {1, powers{1: 2}}, {1, powers{2: 2}}, {1, powers{3: 2}},
			{1, powers{0: 1}}, {-1, powers{1: 1}}, {1, powers{2: 1}}, {-1, powers{3: 1}},
		},
		polynomial{
			{1, powers{0: 2}}, {2, powers{1: 2}}, {1, powers{2: 2}}, {2, powers{3: 2}}, {-1, powers{0: 1}}, {-1, powers{3: 1}},
		},
		polynomial{
			{2, powers{0: 2}}, {1, powers{1: 2}}, {1, powers{2: 2}}, {2, powers{0: 1}}, {-1, powers{1: 1}}, {-1, powers{3: 1}},
		})
	product := powers{0: 1, 1: 1, 2: 1, 3: 1}
	hs71 := polynomials(4, []float64{25, 40}, []float64{infinity, 40},
		polynomial{{1, powers{0: 2, 3: 1}}, {1, powers{0: 1, 1: 1, 3: 1}}, {1, powers{0: 1, 2: 1, 3: 1}}, {1, powers{2: 1}}},
		polynomial{term{1, product}}, polynomial{{1, powers{0: 2}}, {1, powers{1: 2}}, {1, powers{2: 2}}, {1, powers{3: 2}}})
	from := func(x ...float64) framework.Point { return framework.Point{x} }
	return []known{
		{"HS 6", hs6, from(-1.2, 1), 0},
		{"HS 7", hs7, from(2, 2), -math.Sqrt(3)},
		{"HS 35", constrained.Box{Problem: hs35, Lower: from(0, 0, 0)}, from(.5, .5, .5), 1. / 9},
		{"HS 39", hs39, from(2, 2, 2, 2), -1},
		{"HS 43", hs43, from(0, 0, 0, 0), -44},
		{"HS 71", constrained.Box{Problem: hs71, Lower: from(1, 1, 1, 1), Upper: from(5, 5, 5, 5)}, from(1, 5, 5, 1), 17.0140172891563},
	}
}

// nonnegativePCA maximises x'Ax over the x >= 0 of the unit sphere. The answer is found among
// the eigenvectors of the parts of A that belong to sets of positive entries.
func nonnegativePCA() known {
	const n = 6
	a, rng := make([]float64, n*n), rand.New(rand.NewPCG(7, 1))
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] = rng.NormFloat64()
			a[j*n+i] = a[i*n+j]
		}
	}
	p := functions{on: manifolds.Sphere(n), cost: func(g, x []float64) float64 {
		var sum float64
		for i, xi := range x {
			ax := floats.Dot(a[i*n:(i+1)*n], x)
			sum -= xi * ax
			if g != nil {
				g[i] -= 2 * ax
			}
		}
		return sum
	}}
	start := make([]float64, n)
	for i := range start {
		start[i] = 1 / math.Sqrt(n)
	}
	return known{"nonnegative PCA", constrained.Box{Problem: p, Lower: framework.Point{make([]float64, n)}}, framework.Point{start}, -largestPositive(a, n)}
}

// largestPositive is the largest eigenvalue, over all sets of rows and columns, that has an eigenvector of
// positive entries.
func largestPositive(a []float64, n int) float64 {
	best := math.Inf(-1)
	for set := 1; set < 1<<n; set++ {
		var rows []int
		for i := range n {
			if set>>i&1 == 1 {
				rows = append(rows, i)
			}
		}
		m := len(rows)
		part := mat.NewSymDense(m, nil)
		for i, ri := range rows {
			for j, rj := range rows {
				part.SetSym(i, j, a[ri*n+rj])
			}
		}
		var e mat.EigenSym
		var vectors mat.Dense
		e.Factorize(part, true)
		e.VectorsTo(&vectors)
		for j, value := range e.Values(nil) {
			column := mat.Col(nil, j, &vectors)
			if floats.Min(column) > 0 || floats.Max(column) < 0 {
				best = math.Max(best, value)
			}
		}
	}
	return best
}

// sparsePCA maximises (v'x)^2 over the x of the unit sphere with |x|_1 <= s: the answer is the
// threshold of v for which |x|_1 = s. Witten, Tibshirani and Hastie, Biostatistics 10 (2009).
func sparsePCA() known {
	v, s := []float64{3, -2, 1.5, 1, .5, .1}, 1.6
	n := len(v)
	threshold := func(d float64) []float64 {
		x := make([]float64, n)
		for i, vi := range v {
			x[i] = math.Copysign(math.Max(math.Abs(vi)-d, 0), vi)
		}
		floats.Scale(1/floats.Norm(x, 2), x)
		return x
	}
	low, high := 0., 2.9
	for range 100 {
		if mid := (low + high) / 2; floats.Norm(threshold(mid), 1) > s {
			low = mid
		} else {
			high = mid
		}
	}
	best := floats.Dot(v, threshold(low))
	domain := manifolds.NewProduct(framework.Block{Name: "x", Manifold: manifolds.Sphere(n)}, framework.Block{Name: "t", Manifold: manifolds.Euclidean(n)})
	p := functions{on: domain, lower: make([]float64, 2*n+1), upper: make([]float64, 2*n+1)}
	for i := range 2 * n {
		p.upper[i] = infinity
	}
	p.lower[2*n], p.upper[2*n] = -infinity, s
	p.cost = func(g, x []float64) float64 {
		c := floats.Dot(v, x[:n])
		if g != nil {
			floats.AddScaled(g[:n], -2*c, v)
		}
		return -c * c
	}
	p.constraint = func(i int, g, x []float64, w float64) float64 {
		if i == 2*n {
			if g != nil {
				floats.AddConst(w, g[n:])
			}
			return floats.Sum(x[n:])
		}
		sign, k := 1., i
		if i >= n {
			sign, k = -1, i-n
		}
		if g != nil { // t_k +- x_k >= 0
			g[n+k] += w
			g[k] += sign * w
		}
		return x[n+k] + sign*x[k]
	}
	start := make([]float64, 2*n)
	copy(start, v)
	floats.Scale(1/floats.Norm(v, 2), start[:n])
	return known{"sparse PCA", p, framework.Point{start}, -best * best}
}

// kMeans is the semidefinite relaxation of Peng and Wei, SIAM J. Optim. 18 (2007), by factors:
// minimise trace(DX) for X = kYY', Y of length 1, X1 = 1 and X >= 0. It is exact for clusters that
// are far apart: half of the answer is the sum of squares within them.
func kMeans() known {
	const n, k, r = 9, 3, 4
	rng := rand.New(rand.NewPCG(3, 3))
	var at [n][2]float64
	for i := range n {
		at[i] = [2]float64{8*float64(i%k) + rng.NormFloat64()/2, 5*float64((i%k)*(i%k)) + rng.NormFloat64()/2}
	}
	d := func(i, j int) float64 {
		return (at[i][0]-at[j][0])*(at[i][0]-at[j][0]) + (at[i][1]-at[j][1])*(at[i][1]-at[j][1])
	}
	best := 0.
	for i := range n {
		for j := i % k; j < n; j += k {
			best += d(i, j) * k / n
		}
	}
	entry := func(i, j int, g, x []float64, w float64) float64 {
		yi, yj := x[i*r:(i+1)*r], x[j*r:(j+1)*r]
		if g != nil {
			floats.AddScaled(g[i*r:(i+1)*r], k*w, yj)
			floats.AddScaled(g[j*r:(j+1)*r], k*w, yi)
		}
		return k * floats.Dot(yi, yj)
	}
	p := functions{on: manifolds.Sphere(n * r)}
	p.cost = func(g, x []float64) float64 {
		var sum float64
		for i := range n {
			for j := range n {
				sum += d(i, j) * entry(i, j, g, x, d(i, j))
			}
		}
		return sum
	}
	var pairs [][2]int
	for i := range n {
		p.lower, p.upper = append(p.lower, 1), append(p.upper, 1)
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	for range pairs {
		p.lower, p.upper = append(p.lower, 0), append(p.upper, infinity)
	}
	p.constraint = func(i int, g, x []float64, w float64) float64 {
		if i >= n {
			return entry(pairs[i-n][0], pairs[i-n][1], g, x, w)
		}
		var sum float64
		for j := range n {
			sum += entry(i, j, g, x, w)
		}
		return sum
	}
	start := make([]float64, n*r)
	manifolds.Sphere(n*r).Rand(start, rng)
	return known{"k-means", p, framework.Point{start}, best}
}

// enclosingCap is the least t with |x - p_i|^2 <= t for an x of the sphere: the points are at the same
// distance from their middle, so that it is the answer.
func enclosingCap() known {
	domain := manifolds.NewProduct(framework.Block{Name: "x", Manifold: manifolds.Sphere(3)}, framework.Block{Name: "t", Manifold: manifolds.Euclidean(1)})
	sin, cos := math.Sincos(.7)
	var points [][]float64
	for _, a := range []float64{0, 2, 4.5} {
		points = append(points, []float64{sin * math.Cos(a), sin * math.Sin(a), cos})
	}
	points = append(points, []float64{0, 0, 1})
	p := functions{on: domain, lower: make([]float64, 4), upper: make([]float64, 4)}
	for i := range p.lower {
		p.lower[i] = -infinity
	}
	p.cost = func(g, x []float64) float64 {
		if g != nil {
			g[3]++
		}
		return x[3]
	}
	p.constraint = func(i int, g, x []float64, w float64) float64 {
		if g != nil {
			floats.AddScaled(g[:3], -2*w, points[i])
			g[3] -= w
		}
		return 2 - 2*floats.Dot(points[i], x[:3]) - x[3]
	}
	return known{"enclosing cap", p, framework.Point{{1, 0, 0, 0}}, 2 - 2*cos}
}

// robotArm has two links of length 1, poses of SE(3), whose end has to reach a target at the distance 2 cos(a)
// from the base and at the angle b from the first axis. The elbow bends by 2a; the base turns by b - a.
func robotArm() known {
	const a, b = .5, 1.2
	link := manifolds.NewSE(3)
	reach := 2 * math.Cos(a)
	target := []float64{reach * math.Cos(b), 0, reach * math.Sin(b)}
	const size = 12
	p := functions{on: link, copies: 2}
	p.cost = func(g, x []float64) float64 { // |R_1 - I|^2 + |R_1 - R_2|^2
		var sum float64
		for i := range 9 {
			e := 0.
			if i%4 == 0 {
				e = 1
			}
			first, second := x[i]-e, x[size+i]-x[i]
			sum += first*first + second*second
			if g != nil {
				g[i] += 2 * (first - second)
				g[size+i] += 2 * second
			}
		}
		return sum
	}
	p.lower = append(make([]float64, 6), target...)
	p.upper = p.lower
	p.constraint = func(i int, g, x []float64, w float64) float64 {
		k := i % 3
		add := func(at int, sign float64) float64 {
			if g != nil {
				g[at] += sign * w
			}
			return sign * x[at]
		}
		switch i / 3 {
		case 0: // t_1 = R_1 e_1
			return add(9+k, 1) + add(3*k, -1)
		case 1: // t_2 = t_1 + R_2 e_1
			return add(size+9+k, 1) + add(9+k, -1) + add(size+3*k, -1)
		default:
			return add(size+9+k, 1)
		}
	}
	start := make([]float64, 2*size)
	for c := range 2 {
		for i := range 3 {
			start[c*size+4*i] = 1
		}
	}
	return known{"robot arm", p, framework.Point{start}, 4*(1-math.Cos(b-a)) + 4*(1-math.Cos(2*a))}
}
