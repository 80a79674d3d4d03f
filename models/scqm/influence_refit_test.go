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
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

const (
	// refitTolerance and refitIterations end the fits of leaveOut.
	refitTolerance  = 1e-8
	refitIterations = 5000
)

// leaveOut refits without each of the rows of x listed, one at a time, from the fit, and returns what
// [Model.Influence] predicts.
func (m *Model) leaveOut(t *testing.T, x Data, rows ...int) []RowInfluence {
	t.Helper()
	fit, err := presolved(m).asPoint(t.Context(), x, 0)
	require.NoError(t, err)
	require.NoError(t, nearest.RefineRows(t.Context(), fit.at[BlockTau], fit.sheet(), fit.problem.Loss(), *fit.problem.Data(), 1))
	out := make([]RowInfluence, len(rows))
	for k, i := range rows {
		out[k], err = fit.refit(t.Context(), i)
		require.NoError(t, err)
	}
	return out
}

func (s *pointFit) sheet() *sheet.Sheet {
	f := s.problem.NewSheet()
	f.Load(s.at[BlockC], s.at[BlockQ], s.at[BlockTheta])
	return f
}

// refit fits without row i.
func (s *pointFit) refit(ctx context.Context, i int) (out RowInfluence, err error) {
	p := s.problem
	f, x := p.Shape(), *p.Data()
	before, after := s.sheet(), sheet.New(f.D, f.Latent, f.S)
	out.Residual = before.Gap(nil, nil, s.at[BlockTau][i*f.Latent:(i+1)*f.Latent], x.Row(i))
	if x.Weight(i) == 0 {
		out.Without = out.Residual
		return out, nil
	}
	rest := Data{N: x.N - 1, D: x.D, X: slices.Delete(slices.Clone(x.X), i*x.D, (i+1)*x.D)}
	if x.Weights != nil {
		rest.Weights = slices.Delete(slices.Clone(x.Weights), i, i+1)
	}
	small, err := NewProblem(ctx, rest, p.Loss(), f.Latent, f.S, p.Threads())
	if err != nil {
		return out, err
	}
	small.Lambda = p.Lambda
	start := s.at.Clone()
	start[BlockTau] = slices.Delete(start[BlockTau], i*f.Latent, (i+1)*f.Latent)
	run, err := framework.Solve(ctx, small, start, solvers.Auto(small), framework.Options{Tolerance: refitTolerance, MaxIterations: refitIterations, FirstOrder: true})
	if err != nil {
		return out, err
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	after.Load(run.Point[BlockC], run.Point[BlockQ], run.Point[BlockTheta])
	tau := slices.Clone(s.at[BlockTau])
	if err := nearest.RefineRows(ctx, tau, after, p.Loss(), x, p.Threads()); err != nil {
		return out, err
	}
	var sum float64
	for j := range x.N {
		local := tau[j*f.Latent : (j+1)*f.Latent]
		gap := after.Gap(before, s.at[BlockTau][j*f.Latent:(j+1)*f.Latent], local, nil)
		sum += x.Weight(j) / x.TotalWeight() * gap * gap
		if j == i {
			out.Without = after.Gap(nil, nil, local, x.Row(i))
		}
	}
	out.Move = math.Sqrt(sum)
	return out, nil
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

// agreement says how predictions and fits without rows compare.
type agreement struct {
	move, without float64 // rank correlations of moves, and of what residuals gain
	ratio         float64 // typical ratio of moves
	gain          float64 // ratio of the mean gains of residuals
}

// compareRefits compares influences with fits without single rows, one in every
// stride.
func compareRefits(t *testing.T, m *Model, x Data, got *Influence, stride int) (a agreement) {
	t.Helper()
	var rows []int
	for i := 0; i < x.N; i += stride {
		rows = append(rows, i)
	}
	refits := m.leaveOut(t, x, rows...)
	var moves, gains [2][]float64
	for k, i := range rows {
		p, f := got.Rows[i], refits[k]
		moves[0], moves[1] = append(moves[0], p.Move), append(moves[1], f.Move)
		gains[0], gains[1] = append(gains[0], p.Without-p.Residual), append(gains[1], f.Without-f.Residual)
		a.ratio += math.Abs(math.Log(p.Move/f.Move)) / float64(len(rows))
	}
	a.move, a.without = spearman(moves[0], moves[1]), spearman(gains[0], gains[1])
	a.ratio, a.gain = math.Exp(a.ratio), floats.Sum(gains[0])/floats.Sum(gains[1])
	t.Logf("%s: rank correlation %.3f, typical ratio %.2f; residuals without the row: %.3f, ratio of mean gains %.2f",
		m.Loss.Name(), a.move, a.ratio, a.without, a.gain)
	return a
}

// checkRefits fits, and compares.
func checkRefits(t *testing.T, x Data, c Config, stride int) agreement {
	t.Helper()
	c.Options = framework.Options{Tolerance: 1e-7, MinRelativeDecrease: -1} // sweeps stall at 1.2e-8 on digits
	m := learn(t, x, c).Model
	require.Equal(t, "converged", m.Meta.Status)
	got, err := m.Influence(context.Background(), x, 0)
	require.NoError(t, err)
	require.Empty(t, got.Notes)
	return compareRefits(t, m, x, got, stride)
}

// sparing is the stride for the race detector, under which fits take ten times as
// long, and else 1.
func sparing(stride int) int {
	if drill.Race {
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
		a := checkRefits(t, x, Config{Latent: 1, Loss: loss}, sparing(4))
		assert.GreaterOrEqual(t, a.move, 0.98, loss.Name())
		assert.GreaterOrEqual(t, a.without, 0.98, loss.Name())
		assert.LessOrEqual(t, a.ratio, 1.15, loss.Name())
		assert.InDelta(t, 1, a.gain, 0.2, loss.Name())
	}
}

// On digits, where 100 rows hold a sheet of 500 numbers loosely, they do so too.
func TestInfluenceOfDigitsIsThatOfRefits(t *testing.T) {
	x := digits(t, 100, "4", "9")
	for _, loss := range []framework.Loss{losses.L2(), losses.SquaredL2()} {
		if drill.Race && loss.Name() != "l2" {
			continue
		}
		a := checkRefits(t, x, Config{Latent: 2, Loss: loss, Ridge: NoRidge}, sparing(5))
		assert.GreaterOrEqual(t, a.move, 0.9, loss.Name())
		assert.GreaterOrEqual(t, a.without, 0.9, loss.Name())
		assert.InDelta(t, 1, a.gain, 0.3, loss.Name())
	}
}

// Influences on fits of losses with kinks are those on a rounded loss. Of lp they
// rank rows as fits of the loss itself do. A fit of l1, or of l2 in the plane, runs
// through some rows and stays or jumps when one is left out, which no derivative
// tells: there they are a rough guide.
func TestInfluenceOfKinkedFits(t *testing.T) {
	x := noisyArc(0)
	for name, least := range map[string]float64{"lp 1.5": 0.9, "l2": 0.4, "l1": 0.2} {
		if drill.Race && name != "lp 1.5" {
			continue
		}
		m := learn(t, x, Config{Latent: 1, Loss: named(t, name, 2), Options: framework.Options{Tolerance: 1e-8, MinRelativeDecrease: -1}}).Model
		got, err := m.Influence(context.Background(), x, 0)
		require.NoError(t, err)
		require.Positive(t, got.Rounding)
		assert.Equal(t, name != "lp 1.5", strings.Contains(got.Notes[len(got.Notes)-1], "rough guide"), got.Notes)
		assert.GreaterOrEqual(t, compareRefits(t, m, x, got, 2*sparing(4)).move, least, name)
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

// A row so far out that the sheet bends to it looks harmless to first order; its
// leverage tells, if not all.
func TestInfluenceOfRowThatIsFollowed(t *testing.T) {
	x := bentRowsOf(60, 4)
	x.Weights = nil
	for j := range x.D {
		x.X[17*x.D+j] += 2
	}
	m := tight(t, x, Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 0.1})
	got, err := m.Influence(context.Background(), x, 0)
	require.NoError(t, err)
	refit := m.leaveOut(t, x, 17)
	r := got.Rows[17]
	t.Logf("predicted %+v, found %+v", r, refit[0])
	assert.Greater(t, r.Leverage, 0.5)
	first := r.Move * (1 - r.Leverage)
	assert.Less(t, first, refit[0].Move/5)
	assert.Greater(t, r.Move, math.Sqrt(first*refit[0].Move), "leverage makes up for half of the factor missing")
	assert.Greater(t, r.Without, 2*r.Residual)
}

// With the weight of a row made a little more and a little less, the fit moves by
// the influence.
func TestInfluenceIsDerivativeWithRespectToWeights(t *testing.T) {
	const step = 1e-3
	for _, name := range []string{"squared_l2", "huber", "tukey", "welsch", "lp 3", "mahalanobis", "l2", "black box"} {
		loss := framework.Loss(blackBox{Loss: losses.SquaredL2()})
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
				move := floats.Distance(ends[0], ends[1], 2) / (2 * step * math.Sqrt(x.TotalWeight()))
				assert.InEpsilon(t, move, got.Rows[i].Move*(1-got.Rows[i].Leverage), 1e-3, "%s, d = %d, row %d", name, c.Latent, i)
			}
		}
	}
}

// reweighted returns the square roots of the weights times the points nearest to
// the rows, for the fit with the weight of row i times 1 + change.
func reweighted(t *testing.T, m *Model, x Data, i int, change float64) []float64 {
	t.Helper()
	s, err := presolved(m).asPoint(context.Background(), x, 1)
	require.NoError(t, err)
	_, err = s.response(context.Background())
	require.NoError(t, err)
	weights := slices.Clone(x.Weights)
	weights[i] *= 1 + change
	f := s.problem.Shape()
	p, err := NewProblem(context.Background(), Data{N: x.N, D: x.D, X: x.X, Weights: weights}, s.problem.Loss(), f.Latent, f.S, 1)
	require.NoError(t, err)
	p.Lambda = s.problem.Lambda
	run, err := framework.Solve(context.Background(), p, s.at, solvers.Newton{}, framework.Options{Tolerance: 1e-12, MinRelativeDecrease: -1, CheckEvery: 1, FirstOrder: true})
	require.NoError(t, err)
	g := sheet.New(f.D, f.Latent, f.S)
	g.Load(run.Point[BlockC], run.Point[BlockQ], run.Point[BlockTheta])
	require.NoError(t, nearest.RefineRows(context.Background(), run.Point[BlockTau], g, p.Loss(), *p.Data(), 1))
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

// presolved is the model that influence goes on with.
func presolved(m *Model) *Model {
	by := *m
	by.fromSheet(m.sheet().WithoutFlat())
	return &by
}
