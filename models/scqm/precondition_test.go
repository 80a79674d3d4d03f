package scqm

import (
	"bytes"
	"context"
	"encoding/gob"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// The cost with a quadratic loss is quadratic in c and Q together and in Theta
// alone, and for s = 0 in tau: there the preconditioner is the inverse Hessian,
// whether the loss is known as radial, separable or r'Mr.
func TestPreconditionerInvertsQuadratics(t *testing.T) {
	square, err := losses.Lp(2)
	require.NoError(t, err)
	for name, loss := range map[string]framework.Loss{
		"radial": losses.SquaredL2(), "separable": square,
		"metric": &nearest.DiagonalForm{Values: []float64{1, 2, 0.5, 3, 1, 0.2}, Of: named(t, "mahalanobis", 6)},
	} {
		for _, s := range []int{0, 3} {
			p, x := smallProblem(t, loss, 2, s, true)
			p.Lambda = 0.7
			floats.Scale(5, x[BlockTheta]) // more curvature than the least that is assumed
			_, err := p.BuildPreconditioner(x)
			require.NoError(t, err)
			groups := [][]int{{BlockC, BlockQ}, {BlockTheta}}
			if s == 0 {
				groups = [][]int{{BlockC, BlockQ}, {BlockTau}}
			}
			for _, group := range groups {
				v, hv := gradientChange(t, p, x, group)
				p.Precondition(hv, hv)
				for _, k := range group {
					for i, want := range v[k] {
						if k == BlockTau && p.Data().Weight(i/2) == 0 {
							want = 0
						}
						assert.InDelta(t, want, hv[k][i], 1e-6, "%s, s = %d, block %d", name, s, k)
					}
				}
			}
		}
	}
}

// gradientChange returns a step v in the blocks of a group and what it adds to
// their gradients.
func gradientChange(t *testing.T, p *Problem, x framework.Point, group []int) (v, change framework.Point) {
	v, change = framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
	before, after, moved := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks()), x.Clone()
	for _, k := range group {
		v[k] = gaussians(uint64(k)+5, len(v[k]))
		floats.Add(moved[k], v[k])
	}
	_, err := p.Evaluate(before, x)
	require.NoError(t, err)
	_, err = p.Evaluate(after, moved)
	require.NoError(t, err)
	for _, k := range group {
		floats.SubTo(change[k], after[k], before[k])
	}
	return v, change
}

// For every loss, at a fit with interpolated rows too, the preconditioner is
// symmetric and positive definite.
func TestPreconditionerIsDefinite(t *testing.T) {
	for _, name := range append([]string{"black box"}, allLosses...) {
		for _, shape := range [][2]int{{2, 3}, {1, 0}, {3, 3}} {
			loss := framework.Loss(blackBox{Loss: losses.L2()})
			if name != "black box" {
				loss = named(t, name, 6)
			}
			p, x := smallProblem(t, loss, shape[0], shape[1], true)
			copy(p.Data().Row(3), row(t, p, x, 3))
			_, err := p.BuildPreconditioner(x)
			require.NoError(t, err)
			h := denseHessian(p)
			var skew mat.Dense
			skew.Sub(h, h.T())
			assert.LessOrEqual(t, mat.Norm(&skew, 1), 1e-9*mat.Norm(h, 1), name)
			n, _ := h.Dims()
			sym := mat.NewSymDense(n, h.RawMatrix().Data)
			var eigen mat.EigenSym
			require.True(t, eigen.Factorize(sym, false))
			assert.Positive(t, eigen.Values(nil)[0], "%s, %v", name, shape)
		}
	}
}

// Near a minimum of long rows the preconditioner ties Tau to the other blocks, and keeps the laws.
func TestCoupledPreconditionerKeepsTheLaws(t *testing.T) {
	for _, name := range []string{"lp 3", "lp 4"} {
		truth := randomModel(3, 60, 2, 3, 0.3, losses.SquaredL2())
		rows, err := truth.Reconstruct(context.Background(), gaussians(4, 60), 1)
		require.NoError(t, err)
		floats.AddScaled(rows, 0.1, gaussians(6, len(rows)))
		x := Data{N: 30, D: 60, X: rows}
		fit := learn(t, x, Config{Latent: 2, Loss: named(t, name, 60)})
		p, err := NewProblem(context.Background(), x, named(t, name, 60), 2, 3, 1)
		require.NoError(t, err)
		_, err = p.BuildPreconditioner(fit.Run.Point)
		require.NoError(t, err)
		v := framework.NewPoint(p.Blocks())
		v[BlockTau][0] = 1
		p.Precondition(v, v)
		assert.Positive(t, floats.Norm(v[BlockC], 2), "%s: not coupled", name)
		frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: fit.Run.Point, Seed: 5})
	}
}

// row returns the point of the sheet at the latent coordinates of row i.
func row(t *testing.T, p *Problem, x framework.Point, i int) []float64 {
	t.Helper()
	f := sheet.New(p.Shape().D, p.Shape().Latent, p.Shape().S)
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	z, phi, r := make([]float64, f.M), make([]float64, f.Q), make([]float64, f.D)
	f.Coordinates(z, phi, p.Blocks()[BlockTau].Row(x[BlockTau], i))
	f.Residual(r, z, make([]float64, f.D))
	return r
}

// denseHessian applies the preconditioner to all unit vectors.
func denseHessian(p *Problem) *mat.Dense {
	var size int
	for _, b := range p.Blocks() {
		size += b.Size()
	}
	h := mat.NewDense(size, size, nil)
	column := 0
	for k, b := range p.Blocks() {
		for i := range b.Size() {
			v := framework.NewPoint(p.Blocks())
			v[k][i] = 1
			p.Precondition(v, v)
			at := 0
			for _, block := range v {
				for _, u := range block {
					h.Set(at, column, u)
					at++
				}
			}
			column++
		}
	}
	return h
}

func TestPreconditionerDoesNotDependOnThreads(t *testing.T) {
	x := Data{N: 150, D: 70, X: gaussians(4, 150*70)}
	for _, name := range []string{"l2", "lp 1.5", "mahalanobis"} {
		var first framework.Point
		for _, threads := range []int{1, 2, 3} {
			p, err := NewProblem(context.Background(), x, named(t, name, 70), 2, 3, threads)
			require.NoError(t, err)
			start, _, err := p.flatStart()
			require.NoError(t, err)
			_, err = p.BuildPreconditioner(start)
			require.NoError(t, err)
			v := start.Clone()
			p.Precondition(v, v)
			if first == nil {
				first = v
			}
			assert.True(t, first.Equal(v), "%s, %d threads", name, threads)
		}
	}
}

func TestPreconditionerSavesPasses(t *testing.T) {
	truth := randomModel(3, 12, 2, 3, 0.3, losses.SquaredL2())
	rows, err := truth.Reconstruct(context.Background(), gaussians(4, 120), 1)
	require.NoError(t, err)
	floats.AddScaled(rows, 0.1, gaussians(6, len(rows)))
	// Without it L-BFGS has a scale per block, which is nearly as good where rows weigh
	// nearly the same; under l2 heavy rows would come to lie at kinks.
	equal := Data{N: 60, D: 12, X: rows}
	unlike := equal
	unlike.Weights = make([]float64, 60)
	for i := range unlike.Weights {
		unlike.Weights[i] = math.Pow(10, float64(i%5)/2-1)
	}
	for _, test := range []struct {
		loss   string
		x      Data
		factor float64
	}{
		{"squared_l2", unlike, 1.5},
		{"mahalanobis", unlike, 1.3},
		{"huber", unlike, 1.5},
		{"l2", equal, 1.1},
	} {
		p, start := begin(t, test.x, named(t, test.loss, 12), 2, 3, 1)
		p.Lambda = 1
		o := framework.Options{MinRelativeDecrease: -1}
		with, err := framework.Solve(context.Background(), p, start, solvers.LBFGS{}, o)
		require.NoError(t, err)
		hidden := struct {
			framework.Problem
			framework.Certifier
		}{p, p}
		without, err := framework.Solve(context.Background(), hidden, start, solvers.LBFGS{}, o)
		require.NoError(t, err)
		assert.Equal(t, framework.Converged, with.Status, "%s: %s", test.loss, with.Message)
		assert.Less(t, test.factor*with.Counts.Passes, without.Counts.Passes, test.loss)
	}
}

// A stored run goes on bit for bit, with the preconditioner built anew where it
// was built before.
func TestStoredRunsGoOn(t *testing.T) {
	for name, s := range map[string]framework.Solver{"l2": solvers.LBFGS{}, "l1": solvers.Continuation{}} {
		evaluator := func() (*Problem, *framework.Evaluator) {
			p, err := NewProblem(context.Background(), arc(1, 40, 0.1), named(t, name, 2), 1, 1, 1)
			require.NoError(t, err)
			return p, framework.NewEvaluator(context.Background(), p)
		}
		p, e := evaluator()
		x, _, err := p.flatStart()
		require.NoError(t, err)
		want, err := s.Init(e, x)
		require.NoError(t, err)
		steps(t, s, e, want, 17)
		var buf bytes.Buffer
		require.NoError(t, gob.NewEncoder(&buf).Encode(want))
		got := s.(interface{ NewState() framework.State }).NewState()
		require.NoError(t, gob.NewDecoder(&buf).Decode(got))
		_, fresh := evaluator()
		if v, ok := got.(interface {
			Resume(e *framework.Evaluator) error
		}); ok {
			require.NoError(t, v.Resume(fresh))
		}
		steps(t, s, e, want, 12)
		steps(t, s, fresh, got, 12)
		a, fa := want.Iterate()
		b, fb := got.Iterate()
		assert.Equal(t, fa, fb, name)
		assert.True(t, a.Equal(b), name)
	}
}

func steps(t *testing.T, s framework.Solver, e *framework.Evaluator, state framework.State, n int) {
	t.Helper()
	for range n {
		require.NoError(t, s.Step(e, state))
	}
}

func BenchmarkPreconditioner(b *testing.B) {
	for _, name := range []string{"l2", "l1"} {
		b.Run(name, func(b *testing.B) {
			p, err := NewProblem(context.Background(), Data{N: 100, D: 784, X: gaussians(1, 78400)}, named(b, name, 784), 2, 3, 1)
			require.NoError(b, err)
			x, _, err := p.flatStart()
			require.NoError(b, err)
			_, err = p.BuildPreconditioner(x)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.BuildPreconditioner(x)
			}
		})
	}
}
