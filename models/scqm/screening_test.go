package scqm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// strongSheet are rows of a sheet with d coordinates, uniform in [-1, 1], whose Theta has normal entries
// of such a size, in D dimensions, with normal noise.
func strongSheet(seed uint64, n, D, d int, bend, noise float64) Data {
	rng := rand.New(rand.NewPCG(seed, 50))
	q := d * (d + 1) / 2
	theta := make([]float64, q*q)
	for i := range theta {
		theta[i] = bend * math.Copysign(0.5+rng.Float64(), rng.NormFloat64())
	}
	x := Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range n {
		row, a := x.Row(i), 0
		for j := range d {
			row[j] = 2*rng.Float64() - 1
		}
		for j := range d {
			for k := j; k < d; k++ {
				for l := range q {
					row[d+l] += theta[a*q+l] * row[j] * row[k]
				}
				a++
			}
		}
		for j := range row {
			row[j] += noise * rng.NormFloat64()
		}
	}
	return x
}

// The default fit of rows of a sheet that bends strongly ends at the noise, from one start, in memory and
// read in blocks.
func TestSheetsThatBendStrongly(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		for seed := range uint64(4) {
			x := strongSheet(seed, 500, 12, d, 1.5, 0.05)
			for _, c := range []Config{{}, {Solver: solvers.Streaming{}}} {
				c.Latent, c.Loss = d, losses.SquaredL2()
				fit, err := Learn(t.Context(), x, c)
				require.NoError(t, err)
				room := float64(x.D - d)
				assert.Less(t, fit.Model.Meta.Objective, 1.1*500*0.05*0.05*room, "d = %d, seed %d, %T", d, seed, c.Solver)
				assert.Equal(t, Curved, fit.Model.Meta.Evidence.Verdict)
				assert.Greater(t, fit.Model.Meta.Evidence.Slope, 0.9)
			}
		}
	}
}

// Noise is not bent: of 60 clouds that equal their reflection at most 4 are called curved, a probability
// of .997 at the level of .01 and a little.
func TestNoCurvatureInNoise(t *testing.T) {
	curved := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 51))
		x := Data{N: 40 + 10*int(seed), D: 3 + int(seed)%9}
		for range x.N {
			scale := 1.0
			if seed%2 == 0 { // t with 5 degrees of freedom
				var square float64
				for range 5 {
					square += math.Pow(rng.NormFloat64(), 2)
				}
				scale = math.Sqrt(5 / square)
			}
			for j := range x.D {
				x.X = append(x.X, scale*math.Pow(0.8, float64(j))*rng.NormFloat64())
			}
		}
		fit, err := Learn(t.Context(), x, Config{Latent: 1 + int(seed)%2, Loss: losses.L2()})
		require.NoError(t, err)
		if fit.Model.Meta.Evidence.Verdict != Flat {
			curved++
			continue
		}
		assert.True(t, fit.Model.Meta.Linear)
		assert.Empty(t, fit.Model.Theta)
		assert.Contains(t, fit.Model.Meta.Evidence.Sentence, "flat: no curvature seen (p = ")
	}
	assert.LessOrEqual(t, curved, 4)
}

// A sheet bends in as many directions as rows do.
func TestDirectionsOfCurvature(t *testing.T) {
	x := strongSheet(3, 800, 8, 2, 1, 0.05)
	for i := range x.N { // one direction of three is left
		row := x.Row(i)
		row[3], row[4] = 0.05*row[7], 0.05*row[6]
	}
	fit, err := Learn(t.Context(), x, Config{Latent: 2, Loss: losses.L2()})
	require.NoError(t, err)
	assert.Equal(t, 1, fit.Model.Curvature)
	assert.Equal(t, 1, fit.Model.Meta.Evidence.S)
	assert.Contains(t, fit.Model.Meta.Evidence.Sentence, "curvature: in 1 of 3 directions (p < 1e-9); ")
}

// Skewed noise has third moments, which look like curvature, and a sheet follows them: the rule holds it
// back, by a ridge that grows with the rows, or keeps it flat. Curvature that is given is
// fitted, with a warning of the fold.
func TestCurvatureIsHeldBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 52))
	x := Data{N: 600, D: 8, X: make([]float64, 600*8)}
	for i := range x.X {
		x.X[i] = math.Exp(0.7 * rng.NormFloat64())
	}
	c := Config{Latent: 2, Loss: losses.L2()}
	fit, err := Learn(t.Context(), x, c)
	require.NoError(t, err)
	assert.LessOrEqual(t, fit.Model.Meta.Evidence.P, 0.01)
	assert.NotEqual(t, Curved, fit.Model.Meta.Evidence.Verdict)

	c.Curvature = FullCurvature
	fit, err = Learn(t.Context(), x, c)
	require.NoError(t, err)
	assert.Equal(t, Given, fit.Model.Meta.Evidence.Verdict)
	assert.InDelta(t, DefaultRidge, fit.Model.Meta.Ridge, 0)
	require.NotEmpty(t, fit.Model.Meta.Warnings)
	assert.Contains(t, fit.Model.Meta.Warnings[len(fit.Model.Meta.Warnings)-1], "the sheet folds")

	// A bowl in noise as wide as it bends.
	bowl := Data{N: 600, D: 10, X: make([]float64, 600*10)}
	for i := range bowl.N {
		u, v, row := 2*rng.Float64()-1, 2*rng.Float64()-1, bowl.Row(i)
		row[0], row[1], row[2] = u, v, u*u+v*v
		for j := range row {
			row[j] += 0.3 * rng.NormFloat64()
		}
	}
	fit, err = Learn(t.Context(), rotated(bowl, 54), Config{Latent: 2, Loss: losses.L2()})
	require.NoError(t, err)
	meta := fit.Model.Meta
	require.Equal(t, Held, meta.Evidence.Verdict)
	assert.InDelta(t, 20, meta.Ridge, 1e-12)
	assert.InDelta(t, 20, meta.Evidence.Ridge, 1e-12)
	assert.Contains(t, meta.Evidence.Sentence, "held back by a ridge of 20")
}

// What the rule says depends neither on the unit and the place of the rows nor on rotations.
func TestRuleIsInvariant(t *testing.T) {
	x := strongSheet(5, 300, 6, 2, 1, 0.1)
	want, err := Learn(t.Context(), x, Config{Latent: 2, Loss: losses.L2()})
	require.NoError(t, err)
	moved := Data{N: x.N, D: x.D}
	for i := range x.N {
		row := x.Row(i)
		for j := range row { // a reflection, a shift and a unit
			moved.X = append(moved.X, 1e4*(row[len(row)-1-j]+3))
		}
	}
	got, err := Learn(t.Context(), moved, Config{Latent: 2, Loss: losses.L2()})
	require.NoError(t, err)
	a, b := want.Model.Meta.Evidence, got.Model.Meta.Evidence
	assert.Equal(t, a.Verdict, b.Verdict)
	assert.Equal(t, a.S, b.S)
	assert.InDelta(t, math.Log(a.P), math.Log(b.P), 1e-2*math.Abs(math.Log(a.P)), "planes are found to three digits")
	assert.InDelta(t, a.Slope, b.Slope, 1e-4)
}

// Fits of up to 2,000 rows do not depend on their order: on noise of 40 rows, where the rule decides by little, and
// on a sheet of more rows than planes are found from.
func TestRowsInAnyOrder(t *testing.T) {
	for seed := range uint64(9) {
		rng := rand.New(rand.NewPCG(seed, 57))
		x := Data{N: 40, D: 13, X: make([]float64, 40*13)}
		for i := range x.X {
			x.X[i] = math.Exp(0.7 * rng.NormFloat64())
		}
		if seed == 0 {
			x = strongSheet(seed, 1500, 6, 2, 0.5, 0.3)
		}
		c := Config{Latent: 2, Loss: losses.L2()}
		a, err := Learn(t.Context(), x, c)
		require.NoError(t, err)
		b, err := Learn(t.Context(), x.Select(rng.Perm(x.N)), c)
		require.NoError(t, err)
		assert.Equal(t, a.Model.Meta.Evidence.Verdict, b.Model.Meta.Evidence.Verdict)
		assert.Equal(t, a.Model.Meta.Evidence.S, b.Model.Meta.Evidence.S)
		assert.InEpsilon(t, a.Run.Cost, b.Run.Cost, 1e-6)
	}
}

// The solver of the paper fits the model of the paper, flat sheets are not judged, and rows on a line
// are flat.
func TestWhereNothingIsJudged(t *testing.T) {
	x := strongSheet(7, 60, 5, 1, 1, 0.1)
	for _, c := range []Config{{Solver: solvers.RGD{}}, {Linear: true}} {
		c.Latent, c.Loss, c.Options.MaxIterations = 1, losses.L2(), 5
		fit, err := Learn(t.Context(), x, c)
		require.NoError(t, err)
		assert.Nil(t, fit.Model.Meta.Evidence)
		assert.Equal(t, c.Linear, fit.Model.Curvature == 0)
	}
	line := Data{N: 20, D: 3, X: make([]float64, 60)}
	for i := range line.N {
		line.Row(i)[0], line.Row(i)[1] = float64(i), 2*float64(i)
	}
	fit, err := Learn(t.Context(), line, Config{Latent: 1, Loss: losses.L2()})
	require.NoError(t, err)
	assert.Equal(t, Flat, fit.Model.Meta.Evidence.Verdict)
	assert.Less(t, fit.Model.Meta.Objective, 1e-9)
}
