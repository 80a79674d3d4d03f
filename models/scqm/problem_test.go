package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// What tests of this package and of its parts share.
var (
	named, gaussians = problemtest.Named, problemtest.Gaussians
	allLosses        = problemtest.AllLosses
)

type blackBox = problemtest.BlackBox

func smallProblem(t testing.TB, loss framework.Loss, d, s int, weighted bool) (*Problem, framework.Point) {
	t.Helper()
	const n, D = 12, 6
	data := Data{N: n, D: D, X: gaussians(1, n*D)}
	if weighted {
		data.Weights = make([]float64, n)
		for i := range data.Weights {
			data.Weights[i] = float64(i%4) / 2
		}
	}
	p, err := NewProblem(context.Background(), data, loss, d, s, 1)
	require.NoError(t, err)
	x := framework.NewPoint(p.Blocks())
	rng := rand.New(rand.NewPCG(3, 3))
	for k, b := range p.Blocks() {
		require.True(t, b.Rand(x[k], rng))
	}
	floats.Scale(0.4, x[BlockTheta])
	return p, x
}

func TestProblemLaws(t *testing.T) {
	for _, name := range allLosses {
		for _, shape := range [][2]int{{2, 3}, {3, 2}, {1, 1}, {2, 0}} {
			for _, weighted := range []bool{false, true} {
				p, x := smallProblem(t, named(t, name, 6), shape[0], shape[1], weighted)
				p.Lambda = 0.7
				frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: x, Seed: 5})
			}
		}
	}
	for _, name := range []string{"l2", "huber", "lp 4"} {
		p, x := smallProblem(t, blackBox{Loss: named(t, name, 6)}, 2, 3, false)
		frameworktest.TestProblem(t, "black box "+name, p, frameworktest.ProblemOptions{Point: x, Seed: 5})
	}
}

// Gradients are not only of order two or better but exactly of order two
// wherever the cost is not linear or quadratic along the direction.
func TestGradientSlopesAreTwo(t *testing.T) {
	for _, name := range []string{"l2", "squared_l2", "huber", "mahalanobis", "lp 1.5", "lp 3"} {
		p, x := smallProblem(t, named(t, name, 6), 2, 3, false)
		grad := framework.NewPoint(p.Blocks())
		cost, err := p.Evaluate(grad, x)
		require.NoError(t, err)
		for k, b := range p.Blocks() {
			v := gaussians(9, b.Size())
			b.Project(v, x[k], v)
			first := floats.Dot(v, grad[k])
			trial := x.Clone()
			slope, err := frameworktest.TaylorSlope(func(h float64) (float64, float64, error) {
				floats.ScaleTo(trial[k], h, v)
				if err := b.Retract(trial[k], x[k], trial[k]); err != nil {
					return 0, 0, err
				}
				now, err := p.Evaluate(nil, trial)
				return math.Abs(now - cost - h*first), cost, err
			})
			require.NoError(t, err)
			assert.InDelta(t, 2, slope.Slope, 0.05, "%s, block %s", name, b.Name)
		}
	}
}

// reference computes cost and residuals by the formulas as they are written.
func reference(p *Problem, x framework.Point) (float64, *mat.Dense) {
	f := p.Shape()
	q := mat.NewDense(f.D, f.M, x[BlockQ])
	r := mat.NewDense(p.Data().N, f.D, nil)
	var cost float64
	for i := range p.Data().N {
		tau := x[BlockTau][i*f.Latent : (i+1)*f.Latent]
		var phi []float64
		for a := range f.Latent {
			for b := a; b < f.Latent; b++ {
				phi = append(phi, tau[a]*tau[b])
			}
		}
		z := append([]float64(nil), tau...)
		for k := range f.S {
			var v float64
			for a, ph := range phi {
				v += x[BlockTheta][a*f.S+k] * ph
			}
			z = append(z, v)
		}
		var fx mat.VecDense
		fx.MulVec(q, mat.NewVecDense(f.M, z))
		for j := range f.D {
			r.Set(i, j, x[BlockC][j]+fx.AtVec(j)-p.Data().Row(i)[j])
		}
		v := make([]float64, 1)
		if err := p.Loss().Evaluate(v, nil, r.RawRowView(i), f.D); err != nil {
			panic(err)
		}
		cost += p.Data().Weight(i) * v[0]
	}
	return cost, r
}

func TestCostIsTheFormula(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		p, x := smallProblem(t, losses.L2(), 3, 2, weighted)
		want, _ := reference(p, x)
		got, err := p.Evaluate(nil, x)
		require.NoError(t, err)
		assert.InEpsilon(t, want, got, 1e-13)
	}
}

func TestPenaltyIsInvariantUnderRotation(t *testing.T) {
	p, x := smallProblem(t, losses.L2(), 2, 3, false)
	p.Lambda = 1
	var frobenius float64
	f := p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	for k := range f.S {
		n := mat.Norm(formOf(f, k), 2)
		frobenius += n * n
	}
	assert.InEpsilon(t, frobenius, p.Penalty(nil, x[BlockTheta]), 1e-14)
	for k := range f.S {
		r := mat.NewDense(2, 2, []float64{math.Cos(1), -math.Sin(1), math.Sin(1), math.Cos(1)})
		var a mat.Dense
		a.Product(r, formOf(f, k), r.T())
		f.SetForm(k, a.RawMatrix().Data)
	}
	assert.InEpsilon(t, frobenius, p.Penalty(nil, f.Theta), 1e-14)
}

func TestThreadsDoNotChangeBits(t *testing.T) {
	const n, D, d, s = 300, 20, 2, 3
	data := Data{N: n, D: D, X: gaussians(1, n*D)}
	var costs []float64
	var grads []framework.Point
	for _, threads := range []int{1, 2, 3, 8} {
		p, err := NewProblem(context.Background(), data, losses.L1(), d, s, threads)
		require.NoError(t, err)
		x := framework.NewPoint(p.Blocks())
		for k, b := range p.Blocks() {
			b.Rand(x[k], rand.New(rand.NewPCG(2, uint64(k))))
		}
		g := framework.NewPoint(p.Blocks())
		cost, err := p.Evaluate(g, x)
		require.NoError(t, err)
		costs, grads = append(costs, cost), append(grads, g)
	}
	for i := range costs {
		assert.Equal(t, costs[0], costs[i])
		assert.True(t, grads[0].Equal(grads[i]))
	}
}

func TestVech(t *testing.T) {
	phi := make([]float64, 6)
	sheet.Vech(phi, []float64{2, 3, 5})
	assert.Equal(t, []float64{4, 6, 10, 9, 15, 25}, phi, "order (1,1) (1,2) (1,3) (2,2) (2,3) (3,3)")
	for a, want := range []float64{1, 0.5, 0.5, 1, 0.5, 1} {
		assert.Equal(t, want, sheet.VechWeight(3, a))
	}
}

func TestStationarityIsFreeOfScaleAndZeroAtAnInterpolation(t *testing.T) {
	p, x := smallProblem(t, losses.SquaredL2(), 2, 3, false)
	var s, scaled [4]float64
	require.NoError(t, p.Stationarity(s[:], x))
	for _, v := range s {
		assert.Greater(t, v, 0.0)
		assert.LessOrEqual(t, v, 1.0)
	}
	const unit = 1e6
	floats.Scale(unit, p.Data().X)
	floats.Scale(unit, x[BlockC])
	floats.Scale(unit, x[BlockTau])
	floats.Scale(1/unit, x[BlockTheta])
	require.NoError(t, p.Stationarity(scaled[:], x))
	for k := range s {
		// Theta and Tau have terms in units of their own; their ratios agree too.
		assert.InEpsilon(t, s[k], scaled[k], 0.3)
	}
	model := p.model(x)
	rows, err := model.Reconstruct(context.Background(), model.Tau, 1)
	require.NoError(t, err)
	copy(p.Data().X, rows)
	p.SetData(*p.Data()) // the point is the same
	require.NoError(t, p.Stationarity(s[:], x))
	assert.Equal(t, [4]float64{}, s)
}

func TestProblemEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	small, x := smallProblem(t, losses.L2(), 2, 3, false)
	p, err := NewProblem(ctx, *small.Data(), small.Loss(), 2, 3, 1)
	require.NoError(t, err)
	cancel()
	_, err = p.Evaluate(nil, x)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, p.EvaluateRows(make([]float64, 12), nil, x, BlockTau, nil), context.Canceled)
}
