package scqm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/scqm/scqm/solvers"
)

// byEntry names the losses that can ignore missing entries.
var byEntry = []string{"squared_l2", "huber", "l1", "lp 1.5", "lp 3"}

// wellConditioned is a prior that is no multiple of I.
func wellConditioned(d int) nearest.Prior {
	p := make(nearest.Prior, d*d)
	for i := range d {
		for j := range d {
			p[i*d+j] = 0.1
		}
		p[i*d+i] = 0.3 + 0.1*float64(i)
	}
	return p
}

// hide returns the data with a part of the entries missing, but not the first of
// each row nor the last of each column.
func hide(x Data, seed uint64, part float64) Data {
	rng := rand.New(rand.NewPCG(seed, 17))
	y := x
	y.X, y.Missing = slices.Clone(x.X), true
	for i := range x.N - 1 {
		for j := range x.D {
			if rng.Float64() < part && j != i%x.D {
				y.X[i*x.D+j] = math.NaN()
			}
		}
	}
	return y
}

// bowl returns n points of a paraboloid in R^D with noise.
func bowl(seed uint64, n, D int, noise float64) Data {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range n {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		features := []float64{a, b, a * b, a*a - b*b, a + b, a - b}
		for j := range D {
			x.X[i*D+j] = features[j%6]*float64(1+j/6) + noise*rng.NormFloat64()
		}
	}
	return x
}

// The laws of problems, of second derivatives too, hold where entries are missing.
func TestMissingLaws(t *testing.T) {
	for _, shape := range []struct{ D, d, s int }{{3, 2, 1}, {5, 2, 2}, {4, 1, 1}} {
		for _, name := range byEntry {
			x := hide(problemtest.WeightedRows(shape.D), 1, 0.4)
			p, err := NewProblem(t.Context(), x, named(t, name, shape.D), shape.d, shape.s, 1)
			require.NoError(t, err)
			p.Prior = wellConditioned(shape.d)
			at := problemtest.Place(t, p.Objective)
			if scale, err := p.SmoothingScale(at); assert.NoError(t, err) && scale > 0 {
				p.Smooth(0.3)
			}
			frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: at, Seed: 5})
		}
	}
}

// The cost is the sum over the entries that are there and the prior of the rows with
// missing ones, written out.
func TestMissingCost(t *testing.T) {
	x := hide(bowl(1, 30, 5, 0.1), 2, 0.3)
	p, err := NewProblem(t.Context(), x, losses.SquaredL2(), 2, 2, 1)
	require.NoError(t, err)
	at := problemtest.Place(t, p.Objective)
	p.Prior = nearest.Prior{0.7, 0.2, 0.2, 0.5}
	cost, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	m := p.model(at)
	images, err := m.Reconstruct(t.Context(), m.Tau, 1)
	require.NoError(t, err)
	want := p.Penalty(nil, at[BlockTheta])
	for i := range x.N {
		incomplete := false
		for j, v := range x.Row(i) {
			if math.IsNaN(v) {
				incomplete = true
				continue
			}
			want += (images[i*x.D+j] - v) * (images[i*x.D+j] - v)
		}
		if incomplete {
			tau := at[BlockTau][2*i : 2*i+2]
			want += 0.7*tau[0]*tau[0] + 0.4*tau[0]*tau[1] + 0.5*tau[1]*tau[1]
		}
	}
	assert.InEpsilon(t, want, cost, 1e-12)
}

func impute(t testing.TB, m *Model, x Data) []float64 {
	t.Helper()
	images, err := m.Project(context.Background(), x, 1)
	require.NoError(t, err)
	return images
}

// hiddenError is the root mean square over the entries that are hidden in y.
func hiddenError(x, y Data, images []float64) float64 {
	var sum, count float64
	for k, v := range y.X {
		if math.IsNaN(v) {
			sum += (images[k] - x.X[k]) * (images[k] - x.X[k])
			count++
		}
	}
	return math.Sqrt(sum / count)
}

// Entries of a curved sheet that are hidden are found again, by every loss and
// solver, far better than by the completion that fits begin with.
func TestMissingEntriesAreFound(t *testing.T) {
	x := bowl(3, 200, 12, 0.01)
	y := hide(x, 4, 0.2)
	for _, name := range byEntry {
		for _, solver := range []string{"newton", "lbfgs"} {
			if solver != "newton" && name != "squared_l2" && name != "l1" {
				continue
			}
			s, err := solvers.ByName(solver)
			require.NoError(t, err)
			fit := learn(t, y, Config{Latent: 2, Loss: named(t, name, x.D), Solver: s, Ridge: 1e-3, IgnoreMissing: true, Options: framework.Options{MaxIterations: 300}})
			got := hiddenError(x, y, impute(t, fit.Model, y))
			assert.Less(t, got, 0.04, "%s %s: %s", name, solver, fit.Model.Meta.Status)
		}
	}
}

// A fit to part of the entries is no farther from these than the surface that they were
// drawn from, and finds the others about as well as the noise allows.
func TestMissingFitsReachTheSurface(t *testing.T) {
	clean, x := bowl(21, 300, 5, 0), bowl(21, 300, 5, 0)
	rng := rand.New(rand.NewPCG(21, 6))
	for k := range x.X {
		x.X[k] += 0.02 * rng.NormFloat64()
	}
	for _, part := range []float64{0.1, 0.2, 0.4} {
		y := hide(x, 22, part)
		var truth float64
		for k, v := range y.X {
			if v == v {
				truth += (v - clean.X[k]) * (v - clean.X[k])
			}
		}
		fit := learn(t, y, Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 1e-3, IgnoreMissing: true})
		assert.Less(t, fit.Model.Meta.Objective, truth, "%g hidden", part)
	}
}

// No rotation of the latent coordinates makes the prior less than that which runs begin with, and it leaves the rest
// of the cost as it was.
func TestRunsBeginWithTheRotationOfThePrior(t *testing.T) {
	x := hide(bowl(41, 60, 6, 0.05), 42, 0.2)
	p, err := NewProblem(t.Context(), x, losses.SquaredL2(), 3, 2, 1)
	require.NoError(t, err)
	at := problemtest.Place(t, p.Objective)
	before, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	p.Prior = wellConditioned(3)
	loose := p.PriorPenalty(at)
	p.turnToPrior(at)
	least := p.PriorPenalty(at)
	assert.Less(t, least, loose)
	after, err := p.Evaluate(nil, at)
	require.NoError(t, err)
	assert.InEpsilon(t, before, after-least, 1e-12)
	rng := rand.New(rand.NewPCG(43, 1))
	for range 100 {
		turned, i, j, angle := at.Clone(), rng.IntN(3), rng.IntN(2), 2*math.Pi*rng.Float64()
		if j >= i {
			j++
		}
		for row := range x.N {
			tau := turned[BlockTau][3*row : 3*row+3]
			tau[i], tau[j] = math.Cos(angle)*tau[i]-math.Sin(angle)*tau[j], math.Sin(angle)*tau[i]+math.Cos(angle)*tau[j]
		}
		assert.GreaterOrEqual(t, p.PriorPenalty(turned), least*(1-1e-12))
	}
}

// Few missing entries leave a fit about as easy as none: solvers need not search the rotation of the prior.
func TestFewMissingEntriesKeepFitsEasy(t *testing.T) {
	for _, name := range []string{"squared_l2", "huber"} {
		for seed := range uint64(2) {
			y := hide(bowl(101+seed, 300, 20, 0.05), 110+seed, 0.01)
			fit := learn(t, y, Config{Latent: 2, Loss: named(t, name, y.D), Ridge: 1e-3, IgnoreMissing: true})
			assert.Equal(t, framework.Converged, fit.Run.Status, "%s: %s", name, fit.Run.Message)
			assert.Less(t, fit.Run.Iterations, 300, name)
			assert.Less(t, fit.Run.Counts.Passes, 2500., name)
		}
	}
}

// A table with few missing entries has as many directions of curvature as without: imputed entries do not count.
func TestFewMissingEntriesKeepTheDirections(t *testing.T) {
	for seed := range uint64(3) {
		x := bowl(1+seed, 300, 20, 0.05)
		c := Config{Latent: 2, Loss: losses.SquaredL2(), IgnoreMissing: true}
		whole, err := Learn(t.Context(), x, c)
		require.NoError(t, err)
		gaps, err := Learn(t.Context(), hide(x, 110+seed, 0.01), c)
		require.NoError(t, err)
		assert.Equal(t, whole.Model.Meta.Effective, gaps.Model.Meta.Effective)
	}
}

// A model of complete rows that ignores missing entries places rows with gaps among those
// that it was fitted to.
func TestMissingRowsAfterACompleteFit(t *testing.T) {
	x := bowl(23, 300, 5, 0.02)
	fit := learn(t, x, Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 1e-3, IgnoreMissing: true})
	y := hide(bowl(24, 500, 5, 0.02), 25, 0.8)
	images := impute(t, fit.Model, y)
	assert.Less(t, floats.Norm(images, math.Inf(1)), 1.5*floats.Norm(x.X, math.Inf(1)))
}

// Fits of complete data are those without the policy, to the last bit.
func TestMissingPolicyLeavesCompleteDataAlone(t *testing.T) {
	x := bowl(5, 60, 5, 0.1)
	for _, name := range []string{"squared_l2", "l1"} {
		c := Config{Latent: 2, Loss: named(t, name, x.D), Ridge: 1e-2}
		plain := learn(t, x, c)
		c.IgnoreMissing = true
		with := learn(t, x, c)
		assert.Equal(t, plain.Model.C, with.Model.C, name)
		assert.Equal(t, plain.Model.Tau, with.Model.Tau, name)
		assert.Equal(t, plain.Model.Meta.Objective, with.Model.Meta.Objective, name)
	}
}

// Rows are placed again where the fit placed them or better, also by a model that was
// stored, and their order, copies and units change nothing.
func TestMissingRowsAreMerged(t *testing.T) {
	x := hide(bowl(7, 60, 6, 0.05), 8, 0.25)
	c := Config{Latent: 2, Loss: losses.SquaredL2(), Ridge: 1e-2, IgnoreMissing: true}
	weighted := x
	weighted.Weights = make([]float64, x.N)
	var repeated Data
	repeated.D = x.D
	for i := range x.N {
		weighted.Weights[i] = float64(1 + i%3)
		for range 1 + i%3 {
			repeated.X = append(repeated.X, x.Row(i)...)
			repeated.N++
		}
	}
	a, b := learn(t, weighted, c), learn(t, repeated, c)
	assert.InEpsilon(t, a.Model.Meta.Objective, b.Model.Meta.Objective, 1e-9)
	assert.InDeltaSlice(t, a.Model.C, b.Model.C, 1e-6)
	assert.InDeltaSlice(t, a.Model.Meta.Missing.Prior, b.Model.Meta.Missing.Prior, 1e-6)
	assert.Equal(t, a.Model.Meta.Missing.Entries, b.Model.Meta.Missing.Entries)

	path := filepath.Join(t.TempDir(), "m.npz")
	require.NoError(t, a.Model.Save(path))
	stored, err := Load(path)
	require.NoError(t, err)
	tau, err := a.Model.Transform(t.Context(), x, 2)
	require.NoError(t, err)
	again, err := stored.Transform(t.Context(), x, 1)
	require.NoError(t, err)
	assert.Equal(t, tau, again)
	assert.Positive(t, a.Model.Meta.Missing.Prior[0])
	complete, err := transformAlone(t, a.Model, x, tau)
	require.NoError(t, err)
	assert.Positive(t, complete)
	for i := range x.N {
		if x := x.Select([]int{i}); x.Observed() == x.D {
			continue
		}
		one := tau[2*i : 2*i+2]
		kept := a.Model.Tau[2*i : 2*i+2]
		assert.LessOrEqual(t, rowCost(t, a.Model, x.Row(i), one), rowCost(t, a.Model, x.Row(i), kept)*(1+1e-6), "row %d", i)
	}
}

// transformAlone compares rows transformed alone with those of the batch, tau, and
// returns the number of complete ones.
func transformAlone(t testing.TB, m *Model, x Data, tau []float64) (complete int, err error) {
	t.Helper()
	for i := range x.N {
		one := x.Select([]int{i})
		if one.Observed() == x.D {
			complete++
		}
		alone, err := m.Transform(t.Context(), one, 1)
		if err != nil {
			return 0, err
		}
		assert.Equal(t, tau[i*m.Latent:(i+1)*m.Latent], alone, "row %d", i)
	}
	return complete, nil
}

// rowCost is the loss of a row at tau, with its prior.
func rowCost(t testing.TB, m *Model, row, tau []float64) float64 {
	t.Helper()
	image, err := m.Reconstruct(t.Context(), tau, 1)
	require.NoError(t, err)
	sum := m.Meta.Missing.prior().Value(tau)
	for j, v := range row {
		if !math.IsNaN(v) {
			sum += (image[j] - v) * (image[j] - v)
		}
	}
	return sum
}

func TestMissingInAnyUnit(t *testing.T) {
	x := hide(bowl(9, 50, 5, 0.05), 3, 0.2)
	for _, name := range []string{"squared_l2", "l1", "huber"} {
		c := Config{Latent: 2, Loss: named(t, name, x.D), Ridge: 1e-2, IgnoreMissing: true}
		want := learn(t, x, c)
		for _, unit := range []float64{0x1p60, 0x1p-60} {
			scaled := x
			scaled.X = slices.Clone(x.X)
			floats.Scale(unit, scaled.X)
			if name == "huber" {
				h, err := losses.Huber(unit * c.Loss.(rowloss.Parametric).Params()["delta"])
				require.NoError(t, err)
				c.Loss = h
				defer func() { c.Loss = named(t, name, x.D) }()
			}
			got := learn(t, scaled, c)
			floats.Scale(1/unit, got.Model.C)
			assert.InDeltaSlice(t, want.Model.C, got.Model.C, 1e-6, "%s %g", name, unit)
			_, err := got.Model.Transform(t.Context(), scaled, 1)
			assert.NoError(t, err)
			c.Loss = named(t, name, x.D)
		}
	}
}

// Rows with fewer entries than latent dimensions have a place.
func TestMissingRowsWithOneEntry(t *testing.T) {
	x := hide(bowl(11, 80, 6, 0.05), 3, 0.1)
	for i := range 10 {
		for j := range x.D {
			if j != i%x.D {
				x.X[i*x.D+j] = math.NaN()
			}
		}
	}
	fit := learn(t, x, Config{Latent: 3, Loss: losses.SquaredL2(), Ridge: 1e-2, IgnoreMissing: true})
	assert.Less(t, floats.Norm(fit.Model.Tau, math.Inf(1)), 20.)
	tau, err := fit.Model.Transform(t.Context(), x, 1)
	require.NoError(t, err)
	assert.Less(t, floats.Norm(tau, math.Inf(1)), 20.)
}

func TestMissingRefusals(t *testing.T) {
	good := hide(bowl(13, 30, 4, 0.1), 1, 0.2)
	empty, column, infinite := hide(good, 1, 0), hide(good, 1, 0), hide(good, 1, 0)
	for j := range 4 {
		empty.X[7*4+j] = math.NaN()
	}
	for i := range 30 {
		column.X[i*4+2] = math.NaN()
	}
	infinite.X[5*4+1] = math.Inf(1)
	c := Config{Latent: 1, Loss: losses.SquaredL2(), IgnoreMissing: true}
	for text, x := range map[string]Data{
		"row 7 has no entry": empty, "column 2 has no entry": column, "row 5, column 1 is +Inf": infinite,
	} {
		_, err := Learn(t.Context(), x, c)
		require.ErrorIs(t, err, ErrInput)
		assert.ErrorContains(t, err, text)
	}
	c.IgnoreMissing = false
	_, err := Learn(t.Context(), good, c)
	require.ErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, "is NaN")
	for _, name := range []string{"l2", "mahalanobis"} {
		_, err := Learn(t.Context(), good, Config{Latent: 1, Loss: named(t, name, 4), IgnoreMissing: true})
		require.ErrorIs(t, err, ErrInput, name)
		for _, able := range []string{"squared_l2", "huber", "l1", "lp"} {
			assert.ErrorContains(t, err, able)
		}
	}
	c.IgnoreMissing, c.Loss = true, losses.SquaredL2()
	fit := learn(t, good, c)
	for what, call := range map[string]func() error{
		"influence": func() error { _, err := fit.Model.Influence(t.Context(), good, 1); return err },
		"report":    func() error { _, err := fit.Model.ProjectAll(t.Context(), good, 1); return err },
	} {
		err := call()
		require.ErrorIs(t, err, ErrInput, what)
		assert.ErrorContains(t, err, "complete rows", what)
	}
	plain := learn(t, bowl(13, 30, 4, 0.1), Config{Latent: 1, Loss: losses.SquaredL2()})
	_, err = plain.Model.Transform(t.Context(), good, 1)
	require.ErrorIs(t, err, ErrInput)
}

// A sheet that is not finite has no cost, though NaN is what is missing.
func TestMissingHidesNoFailure(t *testing.T) {
	x := hide(bowl(15, 20, 4, 0.1), 1, 0.3)
	for k := range 4 {
		p, err := NewProblem(t.Context(), x, losses.SquaredL2(), 2, 1, 1)
		require.NoError(t, err)
		at := problemtest.Place(t, p.Objective)
		at[k][0] = math.NaN()
		cost, err := p.Evaluate(nil, at)
		assert.True(t, err != nil || math.IsNaN(cost), fmt.Sprint("block ", k, ": ", cost))
	}
}
