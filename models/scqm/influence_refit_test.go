package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// refitted is how far the sheet moves when it is fitted anew without row i, from
// where it is.
func refitted(t testing.TB, fit *settledFit, i int, solver framework.Solver) float64 {
	t.Helper()
	p := fit.problem
	f, data := p.sheet, p.data
	rest := Data{N: data.N - 1, D: data.D, X: slices.Delete(slices.Clone(data.X), i*data.D, (i+1)*data.D)}
	small, err := NewProblem(context.Background(), rest, p.loss, f.d, f.s, 1)
	require.NoError(t, err)
	small.Lambda = p.Lambda
	start := fit.at.Clone()
	start[BlockTau] = slices.Delete(start[BlockTau], i*f.d, (i+1)*f.d)
	run, err := framework.Solve(context.Background(), small, start, solver, framework.Options{Tolerance: 1e-8, MaxIterations: 5000})
	require.NoError(t, err)
	before, after := newSheet(f.D, f.d, f.s), newSheet(f.D, f.d, f.s)
	before.load(fit.at[BlockC], fit.at[BlockQ], fit.at[BlockTheta])
	after.load(run.Point[BlockC], run.Point[BlockQ], run.Point[BlockTheta])
	var sum float64
	z, phi, r := make([]float64, f.m), make([]float64, f.q), make([]float64, f.D)
	tau := slices.Clone(fit.at[BlockTau])
	require.NoError(t, refineRows(context.Background(), tau, after, p.loss, data, 1))
	origin, there := make([]float64, f.D), make([]float64, f.D)
	for j := range data.N {
		before.coordinates(z, phi, fit.at[BlockTau][j*f.d:(j+1)*f.d])
		before.residual(r, z, origin)
		after.coordinates(z, phi, tau[j*f.d:(j+1)*f.d])
		after.residual(there, z, origin)
		gap := floats.Distance(r, there, 2)
		sum += gap * gap
	}
	return math.Sqrt(sum / float64(data.N))
}

// spearman is the correlation of the ranks.
func spearman(x, y []float64) float64 {
	return stat.Correlation(ranks(x), ranks(y), nil)
}

func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(math.Copysign(1, x[i]-x[j])) })
	rank := make([]float64, len(x))
	for k, i := range order {
		rank[i] = float64(k)
	}
	return rank
}

// checkRefits compares influences with fits without single rows, one in every
// stride, and returns the correlation of their ranks and the mean of |log| of
// their ratios.
func checkRefits(t *testing.T, x Data, c Config, stride int) (correlation, ratio float64) {
	t.Helper()
	c.Options = framework.Options{Tolerance: 1e-8, MinRelativeDecrease: -1}
	fit := learn(t, x, c)
	require.Equal(t, "converged", fit.Model.Meta.Status)
	got, err := fit.Model.Influence(context.Background(), x, 0)
	require.NoError(t, err)
	require.Empty(t, got.Notes)
	s, err := fit.Model.settled(context.Background(), x, 0)
	require.NoError(t, err)
	_, err = s.jackknife(context.Background())
	require.NoError(t, err)
	var predicted, found []float64
	for i := 0; i < x.N; i += stride {
		predicted = append(predicted, got.Rows[i].Move)
		found = append(found, refitted(t, s, i, solvers.Auto(s.problem)))
		ratio += math.Abs(math.Log(predicted[len(predicted)-1] / found[len(found)-1]))
	}
	return spearman(predicted, found), ratio / float64(len(found))
}

// sparing is the stride for the race detector, under which fits take ten times as
// long, and else 1.
func sparing(stride int) int {
	if racing {
		return stride
	}
	return 1
}

// On the noisy arc of the paper, influences rank rows as fits without them do.
func TestInfluenceOfArcRowsIsThatOfRefits(t *testing.T) {
	x := noisyArc(0)
	huber, err := losses.Huber(0.1)
	require.NoError(t, err)
	for _, loss := range []framework.Loss{losses.SquaredL2(), huber, named(t, "lp 3", 2)} {
		correlation, ratio := checkRefits(t, x, Config{Latent: 1, Loss: loss}, sparing(4))
		t.Logf("%s: rank correlation %.3f, typical ratio %.3f", loss.Name(), correlation, math.Exp(ratio))
		assert.GreaterOrEqual(t, correlation, 0.98, loss.Name())
		assert.LessOrEqual(t, ratio, 0.15, loss.Name())
	}
}

// On digits, where 100 rows hold a sheet of 500 numbers loosely, they do so too.
func TestInfluenceOfDigitsIsThatOfRefits(t *testing.T) {
	x := digits(t, 100, "4", "9")
	for _, loss := range []framework.Loss{losses.L2(), losses.SquaredL2()} {
		if racing && loss.Name() != "l2" {
			continue
		}
		correlation, ratio := checkRefits(t, x, Config{Latent: 2, Loss: loss}, sparing(5))
		t.Logf("%s: rank correlation %.3f, typical ratio %.3f", loss.Name(), correlation, math.Exp(ratio))
		assert.GreaterOrEqual(t, correlation, 0.9, loss.Name())
	}
}

// Influences on fits of losses with kinks are those on a rounded loss. Of lp they
// rank rows as fits of the loss itself do. A fit of l1, or of l2 in the plane, runs
// through some rows and stays or jumps when one is left out, which no derivative
// tells: there they are a rough guide.
func TestInfluenceOfKinkedFits(t *testing.T) {
	x := noisyArc(0)
	for name, least := range map[string]float64{"lp 1.5": 0.9, "l2": 0.4, "l1": 0.2} {
		if racing && name != "lp 1.5" {
			continue
		}
		m := learn(t, x, Config{Latent: 1, Loss: named(t, name, 2), Options: framework.Options{Tolerance: 1e-8, MinRelativeDecrease: -1}}).Model
		got, err := m.Influence(context.Background(), x, 0)
		require.NoError(t, err)
		require.Positive(t, got.Rounding)
		assert.Equal(t, name != "lp 1.5", strings.Contains(got.Notes[len(got.Notes)-1], "rough guide"), got.Notes)
		plain, err := m.settled(context.Background(), x, 0)
		require.NoError(t, err)
		var predicted, found []float64
		for i := 0; i < x.N; i += 2 * sparing(4) {
			predicted = append(predicted, got.Rows[i].Move)
			found = append(found, refitted(t, plain, i, solvers.Auto(plain.problem)))
		}
		correlation := spearman(predicted, found)
		t.Logf("%s: rank correlation %.3f", name, correlation)
		assert.GreaterOrEqual(t, correlation, least, name)
	}
}

// noisyArc is a quarter of a circle with Gaussian noise.
func noisyArc(seed uint64) Data {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := Data{N: 100, D: 2}
	for range x.N {
		a := math.Pi / 2 * rng.Float64()
		x.X = append(x.X, math.Cos(a)+0.1*rng.NormFloat64(), math.Sin(a)+0.1*rng.NormFloat64())
	}
	return x
}

// With the weight of a row made a little more and a little less, the fit moves by
// the influence.
func TestInfluenceIsDerivativeWithRespectToWeights(t *testing.T) {
	const step = 1e-3
	for _, name := range []string{"squared_l2", "huber", "lp 3", "mahalanobis", "l2", "black box"} {
		loss := framework.Loss(blackBox{losses.SquaredL2()})
		if name != "black box" {
			loss = named(t, name, 6)
		}
		for _, c := range []Config{{Latent: 2, Ridge: 1}, {Latent: 1, Curvature: 2}, {Latent: 2, Linear: true}} {
			c.Loss = loss
			c.Options = framework.Options{Tolerance: 1e-11, MinRelativeDecrease: -1}
			x := bentRowsOf(40, 6)
			m := learn(t, x, c).Model
			got, err := m.Influence(context.Background(), x, 1)
			require.NoError(t, err)
			for i := 0; i <= 7; i += 7 * sparing(2) {
				ends := [2][]float64{}
				for side, sign := range []float64{-1, 1} {
					ends[side] = reweighted(t, m, x, i, sign*step)
				}
				move := floats.Distance(ends[0], ends[1], 2) / (2 * step * math.Sqrt(x.total()))
				assert.InEpsilon(t, move, got.Rows[i].Move, 1e-3, "%s, d = %d, row %d", name, c.Latent, i)
			}
		}
	}
}

// reweighted returns the square roots of the weights times the points nearest to
// the rows, for the fit with the weight of row i times 1 + change.
func reweighted(t *testing.T, m *Model, x Data, i int, change float64) []float64 {
	t.Helper()
	s, err := m.settled(context.Background(), x, 1)
	require.NoError(t, err)
	_, err = s.jackknife(context.Background())
	require.NoError(t, err)
	weights := slices.Clone(x.Weights)
	weights[i] *= 1 + change
	f := s.problem.sheet
	p, err := NewProblem(context.Background(), Data{N: x.N, D: x.D, X: x.X, Weights: weights}, s.problem.loss, f.d, f.s, 1)
	require.NoError(t, err)
	p.Lambda = s.problem.Lambda
	run, err := framework.Solve(context.Background(), p, s.at, solvers.Newton{}, framework.Options{Tolerance: 1e-12, MinRelativeDecrease: -1, CheckEvery: 1})
	require.NoError(t, err)
	g := newSheet(f.D, f.d, f.s)
	g.load(run.Point[BlockC], run.Point[BlockQ], run.Point[BlockTheta])
	require.NoError(t, refineRows(context.Background(), run.Point[BlockTau], g, p.loss, p.data, 1))
	near := &Model{}
	near.fromSheet(g)
	rows, err := near.Reconstruct(context.Background(), run.Point[BlockTau], 1)
	require.NoError(t, err)
	for j := range x.N {
		floats.Scale(math.Sqrt(x.Weights[j]), rows[j*x.D:(j+1)*x.D])
	}
	return rows
}

// bentRowsOf returns rows with weights near a bent surface.
func bentRowsOf(n, D int) Data {
	rng := rand.New(rand.NewPCG(8, 8))
	x := Data{N: n, D: D, X: make([]float64, n*D), Weights: make([]float64, n)}
	for i := range n {
		a, b := 2*rng.NormFloat64(), rng.NormFloat64()
		row := x.Row(i)
		row[0], row[1], row[2] = a, b, 0.3*a*a-0.2*a*b
		for j := range row {
			row[j] += 0.3 * rng.NormFloat64()
		}
		x.Weights[i] = 0.5 + rng.Float64()
	}
	return x
}
