package scqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

// sparse hides entries, most of all in the last column, which keeps so many.
func sparse(x Data, part float64, last int, rng *rand.Rand) Data {
	x.X, x.Missing = slices.Clone(x.X), true
	kept := rng.Perm(x.N)[:last]
	for i := range x.N {
		row := x.Row(i)
		for j := 1; j < x.D; j++ {
			if j < x.D-1 && rng.Float64() < part || j == x.D-1 && !slices.Contains(kept, i) {
				row[j] = math.NaN()
			}
		}
	}
	return x
}

// Every row is held out once, unless it has the last entry of a column; and what is
// left to learn from has entries in every column.
func TestFolds(t *testing.T) {
	whole := bowlRows(t, 31, 5, 1)
	list := folds(whole, rows.Shuffled(whole, 2), 3)
	var held []int
	for _, s := range list {
		assert.Len(t, append(slices.Clone(s.held), s.learned...), 31)
		held = append(held, s.held...)
	}
	slices.Sort(held)
	for i, k := range held {
		assert.Equal(t, i, k)
	}
	assert.Len(t, held, 31)

	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		x := sparse(bowlRows(t, 20, 6, seed+1), 0.6, 1+int(seed%4), rng)
		count := 0
		for _, s := range folds(x, rows.Shuffled(x, seed), 2) {
			require.NoError(t, x.Select(s.learned).ValidateColumns())
			count += len(s.held)
		}
		assert.GreaterOrEqual(t, count, 20-5)
	}
}

// A ridge is chosen where a column has few entries, one even, and what is chosen is
// the default where rows that can be held out are too few.
func TestRidgeByRowsHeldOutWhereEntriesAreMissing(t *testing.T) {
	for last := range 4 {
		x := sparse(bowlRows(t, 40, 6, 5), 0.2, last+1, rand.New(rand.NewPCG(1, 4)))
		c := Config{Latent: 2, Curvature: FullCurvature, Loss: losses.SquaredL2(), Ridge: AutoRidge, IgnoreMissing: true}
		meta := learn(t, x, c).Model.Meta
		assert.Contains(t, ridgeGrid, meta.Ridge)
		assert.Contains(t, meta.Notes[len(meta.Notes)-1], "by the error at hidden entries of rows held out")
	}
	// Each row has a column of its own.
	x := Data{N: 10, D: 11, X: slices.Repeat([]float64{math.NaN()}, 110)}
	for i := range x.N {
		x.Row(i)[0], x.Row(i)[i+1] = float64(i*i), float64(i)
	}
	meta := learn(t, x, Config{Latent: 1, Curvature: FullCurvature, Loss: losses.SquaredL2(), Ridge: AutoRidge, IgnoreMissing: true}).Model.Meta
	assert.InDelta(t, DefaultRidge, meta.Ridge, 0)
	assert.Contains(t, meta.Notes, "the ridge is 0.001, as only 0 rows can be held out without the last entry of a column, too few to choose it")
}
