package proximal_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/solvers/proximal"
)

// squares is |Ax - b|^2 / 2.
type squares struct {
	a    []float64
	b    []float64
	n, p int
}

func newSquares(n, p int, seed uint64) squares {
	rng := rand.New(rand.NewPCG(seed, 2))
	s := squares{a: make([]float64, n*p), b: make([]float64, n), n: n, p: p}
	for i := range s.a {
		s.a[i] = rng.NormFloat64() * math.Pow(10, -float64(i%p)/float64(p))
	}
	for i := range s.b {
		s.b[i] = 3*s.a[i*p] - 2*s.a[i*p+1] + s.a[i*p+p-1] + rng.NormFloat64()/10
	}
	return s
}

func (s squares) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(s.p)}}
}

func (s squares) Evaluate(grad, x framework.Point) (float64, error) {
	var sum float64
	if grad != nil && grad[0] != nil {
		clear(grad[0])
	}
	for i := range s.n {
		row := s.a[i*s.p : (i+1)*s.p]
		r := floats.Dot(row, x[0]) - s.b[i]
		sum += r * r / 2
		if grad != nil && grad[0] != nil {
			floats.AddScaled(grad[0], r, row)
		}
	}
	return sum, nil
}

// descend is the lasso by coordinate descent, an independent answer.
func (s squares) descend(weight float64) []float64 {
	x, r := make([]float64, s.p), append([]float64(nil), s.b...)
	for range 5000 {
		for j := range x {
			var dot, square float64
			for i := range s.n {
				dot, square = dot+s.a[i*s.p+j]*r[i], square+s.a[i*s.p+j]*s.a[i*s.p+j]
			}
			c := dot + square*x[j]
			next := math.Copysign(math.Max(math.Abs(c)-weight, 0), c) / square
			for i := range s.n {
				r[i] -= s.a[i*s.p+j] * (next - x[j])
			}
			x[j] = next
		}
	}
	return x
}

// variance is -trace(X'SX)/2 on Stiefel or the sphere, for the S = sum of c_k v_k v_k'.
type variance struct {
	on   framework.Manifold
	v    [][]float64
	cols int
}

func (m variance) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: m.on}}
}

func (m variance) Evaluate(grad, x framework.Point) (float64, error) {
	var sum float64
	if grad != nil && grad[0] != nil {
		clear(grad[0])
	}
	for _, v := range m.v {
		for j := range m.cols {
			var dot float64
			for i, vi := range v {
				dot += vi * x[0][i*m.cols+j]
			}
			sum -= dot * dot / 2
			for i, vi := range v {
				if grad != nil && grad[0] != nil {
					grad[0][i*m.cols+j] -= dot * vi
				}
			}
		}
	}
	return sum, nil
}

// sparse is the minimum of -(v'x)^2/2 + w|x|_1 on the sphere: x is v with all entries moved
// towards 0 by one number, normalised.
func sparse(v []float64, w float64) float64 {
	best, n := math.Inf(1), 200000
	largest := floats.Norm(v, math.Inf(1))
	for k := range n {
		d := largest * float64(k) / float64(n)
		var dot, one, two float64
		for _, vi := range v {
			x := math.Max(math.Abs(vi)-d, 0)
			dot, one, two = dot+x*math.Abs(vi), one+x, two+x*x
		}
		two = math.Sqrt(two)
		best = math.Min(best, -dot*dot/(two*two)/2+w*one/two)
	}
	return best
}

var firsts, seconds = []float64{4, -3, 2, 1, .4, .2, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0, 0, 2, -1.5, 1, .3}

func cases() []frameworktest.SolverCase {
	const weight = .7
	lasso := func() framework.Problem {
		return proximal.Sum{Problem: newSquares(30, 12, 1), Penalty: proximal.L1{Weight: weight}}
	}
	at := newSquares(30, 12, 1).descend(weight)
	best, _ := lasso().Evaluate(nil, framework.Point{at})
	ball := make([]float64, 10)
	for i := range ball {
		ball[i] = math.Sqrt(.1)
	}
	frame := make([]float64, 20)
	manifolds.NewPolarStiefel(10, 2).Rand(frame, rand.New(rand.NewPCG(5, 5)))
	return []frameworktest.SolverCase{
		{Name: "lasso", New: lasso, Start: framework.Point{make([]float64, 12)}, Best: best, Tolerance: 1e-9},
		{
			Name: "sparse component", New: func() framework.Problem {
				return proximal.Sum{Problem: variance{manifolds.Sphere(10), [][]float64{firsts}, 1}, Penalty: proximal.L1{Weight: weight}}
			}, Start: framework.Point{ball}, Best: sparse(firsts, weight), Tolerance: 1e-6,
		},
		{
			Name: "sparse components", New: func() framework.Problem {
				return proximal.Sum{Problem: variance{manifolds.NewPolarStiefel(10, 2), [][]float64{firsts, seconds}, 2}, Penalty: proximal.L1{Weight: weight}}
			}, Start: framework.Point{frame}, Best: sparse(firsts, weight) + sparse(seconds, weight), Tolerance: 1e-6,
		},
	}
}

func TestKnownAnswers(t *testing.T) {
	for _, c := range cases() {
		res, err := framework.Solve(context.Background(), c.New(), c.Start, proximal.Gradient{}, framework.Options{})
		require.NoError(t, err)
		t.Logf("%s: %v, off by %.1e, %d iterations, %d evaluations, %s", c.Name, res.Status, res.Cost-c.Best, res.Iterations, res.Counts.Evaluations, res.Message)
		assert.Equal(t, framework.Converged, res.Status, c.Name)
		assert.InDelta(t, c.Best, res.Cost, c.Tolerance, c.Name)
		zeros := 0
		for _, v := range res.Point[0] {
			if math.Abs(v) < 1e-6 { // a retraction mixes columns
				zeros++
			}
		}
		assert.Greater(t, zeros, 2, c.Name)
	}
}

func TestLaws(t *testing.T) {
	frameworktest.TestSolver(t, proximal.Gradient{}, frameworktest.SolverOptions{Cases: cases()})
}
