package nearest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/losses"
)

// No place is lower than where the kinks say: none of a fine grid, and none that a descent from one
// comes to.
func TestKinksInTheirOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 77))
	for range 300 {
		f := wideSheet(rng, 2+rng.IntN(fewEntries-1), 1)
		if rng.IntN(4) == 0 {
			clear(f.Theta)
		}
		s := newLeastAbsolute(f, losses.L1())
		x, tau := randomRow(rng, f), []float64{rng.NormFloat64()}
		assert.True(t, s.find(tau, x))
		least := absoluteAt(f, tau, x)
		assert.InDelta(t, least, s.best, 1e-13*(least+1))
		reach := 2*least + math.Abs(tau[0])
		for k := range 2001 {
			at := []float64{tau[0] + reach*math.Pow(float64(k-1000)/1000, 3)}
			assert.GreaterOrEqual(t, absoluteAt(f, at, x), least*(1-1e-12)-1e-13)
		}
		for range 10 {
			s.at = place{s.best * rng.NormFloat64()}
			s.descend()
			assert.GreaterOrEqual(t, s.least, least*(1-1e-10)-1e-13)
		}
	}
}

func TestQuadraticRoots(t *testing.T) {
	for _, c := range []struct {
		q     [3]float64
		sign  float64
		roots []float64
	}{
		{[3]float64{2, 0, 0}, 1, nil},
		{[3]float64{-2, 0, 0}, -1, nil},
		{[3]float64{-4, 2, 0}, -1, []float64{2}},
		{[3]float64{-4, -2, 0}, 1, []float64{-2}},
		{[3]float64{6, -5, 1}, 1, []float64{2, 3}},
		{[3]float64{-6, 5, -1}, -1, []float64{2, 3}},
		{[3]float64{-4, 0, 1}, 1, []float64{-2, 2}},
		{[3]float64{0, 3, 1}, 1, []float64{-3, 0}},
		{[3]float64{1, 2, 1}, 1, nil}, // touches 0
		{[3]float64{-1, 0, -1}, -1, nil},
		{[3]float64{1, 1e8, 1}, 1, []float64{-1e8, -1e-8}},
	} {
		sign, roots, count := quadraticRoots(c.q)
		assert.Equal(t, c.sign, sign, c.q)
		assert.Len(t, c.roots, count, c.q)
		for k, want := range c.roots {
			assert.InDelta(t, want, roots[k], 1e-15*math.Abs(want), c.q)
		}
	}
}
