package finitesum_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers"
	"github.com/scqm/scqm/solvers/finitesum"
)

// terms is a sum of n terms; add returns term i and adds its gradient to g where that is not nil.
type terms struct {
	on     framework.Manifold
	n      int
	weight float64
	add    func(i int, g, x []float64) float64
}

func (p terms) Blocks() []framework.Block { return []framework.Block{{Name: "x", Manifold: p.on}} }
func (p terms) Terms() int                { return p.n }

func (p terms) Evaluate(grad, x framework.Point) (float64, error) {
	var g []float64
	if grad != nil && grad[0] != nil {
		g = grad[0]
		clear(g)
	}
	var sum float64
	for i := range p.n {
		sum += p.add(i, g, x[0])
	}
	floats.Scale(p.weight, g)
	return p.weight * sum, nil
}

func (p terms) TermsGradient(grad, x framework.Point, list []int) error {
	clear(grad[0])
	for _, i := range list {
		p.add(i, grad[0], x[0])
	}
	floats.Scale(p.weight, grad[0])
	return nil
}

// components is the mean of |a_i|^2 - |X'a_i|^2 for n rows, principal components on Grassmann.
func components(n, d, p int) (terms, framework.Point) {
	rng := rand.New(rand.NewPCG(1, 1))
	a := make([]float64, n*d)
	for i := range n {
		for j := range d {
			a[i*d+j] = rng.NormFloat64() / math.Sqrt(1+float64(j))
		}
	}
	m := manifolds.NewGrassmann(d, p)
	start := make([]float64, d*p)
	m.Rand(start, rng)
	return terms{m, n, 1 / float64(n), func(i int, g, x []float64) float64 {
		row := a[i*d : (i+1)*d]
		value := floats.Dot(row, row)
		for j := range p {
			var dot float64
			for k, v := range row {
				dot += v * x[k*p+j]
			}
			value -= dot * dot
			if g != nil {
				for k, v := range row {
					g[k*p+j] -= 2 * dot * v
				}
			}
		}
		return value
	}}, framework.Point{start}
}

// completion is the mean of (u_i'v_j - m_ij)^2 over n entries of a matrix of rank r with noise,
// by the factors of a matrix of fixed rank.
func completion(n, rows, r int) (terms, framework.Point) {
	rng := rand.New(rand.NewPCG(2, 1))
	m := manifolds.NewFixedRank(rows, rows, r)
	truth, start := make([]float64, m.Size()), make([]float64, m.Size())
	m.Rand(truth, rng)
	m.Rand(start, rng)
	entry := func(x []float64, i, j int) float64 {
		u, s, v := m.Parts(x)
		var sum float64
		for k := range r {
			for l := range r {
				sum += u[i*r+k] * s[k*r+l] * v[j*r+l]
			}
		}
		return sum
	}
	at, values := make([][2]int, n), make([]float64, n)
	for k := range at {
		at[k] = [2]int{rng.IntN(rows), rng.IntN(rows)}
		values[k] = entry(truth, at[k][0], at[k][1]) + 1e-2/float64(rows)*rng.NormFloat64()
	}
	weight := float64(rows) * float64(rows) / float64(n)
	return terms{m, n, weight, func(k int, g, x []float64) float64 {
		i, j := at[k][0], at[k][1]
		e := entry(x, i, j) - values[k]
		if g != nil {
			u, s, v := m.Parts(x)
			gu, gs, gv := m.Parts(g)
			for p := range r {
				for q := range r {
					gu[i*r+p] += 2 * e * s[p*r+q] * v[j*r+q]
					gs[p*r+q] += 2 * e * u[i*r+p] * v[j*r+q]
					gv[j*r+q] += 2 * e * u[i*r+p] * s[p*r+q]
				}
			}
		}
		return e * e
	}}, framework.Point{start}
}

// size is the number of terms, more where SCQM_TERMS says so.
func size(n int) int {
	if more, err := strconv.Atoi(os.Getenv("SCQM_TERMS")); err == nil {
		return more
	}
	return n
}

// TestTenPasses: within 1e-4 of the minimum, of what the cost falls by, after ten passes.
func TestTenPasses(t *testing.T) {
	for name, make := range map[string]func() (terms, framework.Point){
		"components": func() (terms, framework.Point) { return components(size(20000), 20, 3) },
		"completion": func() (terms, framework.Point) { return completion(size(100000), 60, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			p, start := make()
			best, err := framework.Solve(context.Background(), p, start, solvers.LBFGS{}, framework.Options{})
			require.NoError(t, err)
			first, err := p.Evaluate(nil, start)
			require.NoError(t, err)
			reached := math.Inf(1)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_, err = framework.Solve(ctx, p, start, finitesum.SVRG{}, framework.Options{Observers: []func(framework.Record){func(r framework.Record) {
				t.Logf("%d terms: %.1f passes, %.2e above the minimum, gradient %.1e", p.n, r.Passes, (r.Cost-best.Cost)/(first-best.Cost), r.GradientNorm)
				if r.Passes > 10 {
					cancel()
				} else {
					reached = (r.Cost - best.Cost) / (first - best.Cost)
				}
			}}})
			require.NoError(t, err)
			assert.Less(t, reached, 1e-4)
		})
	}
}

func TestLaws(t *testing.T) {
	rows := func() framework.Problem { p, _ := components(60, 6, 1); p.on = manifolds.Sphere(6); return p }
	_, start := components(60, 6, 1)
	best, err := framework.Solve(context.Background(), rows(), start, solvers.TrustRegion{}, framework.Options{Tolerance: 1e-9})
	require.NoError(t, err)
	frameworktest.TestSolver(t, finitesum.SVRG{}, frameworktest.SolverOptions{Cases: []frameworktest.SolverCase{
		{Name: "component", New: rows, Start: start, Best: best.Cost, Tolerance: 1e-9},
	}})
}
