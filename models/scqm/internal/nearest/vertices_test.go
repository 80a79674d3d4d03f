package nearest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// No point of a grid is below the nearest points under l1 for d = 1, where these are exact, and next to none for d = 2.
func TestNearestAbsoluteIsBelowGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 14))
	var missed [3]int
	for _, d := range []int{1, 2} {
		for range 20 {
			D := d + 1 + rng.IntN(4)
			f := sheet.New(D, d, min(d*(d+1)/2, D-d))
			for _, numbers := range [][]float64{f.C, f.QT, f.Theta} {
				for i := range numbers {
					numbers[i] = rng.NormFloat64()
				}
			}
			dense.OrthonormalizeRows(f.QT, D)
			x := rows.Data{N: 10, D: D, X: make([]float64, 10*D)}
			for i := range x.X {
				x.X[i] = rng.NormFloat64()
			}
			tau := make([]float64, x.N*d)
			require.NoError(t, ProjectRows(t.Context(), tau, f, losses.L1(), nil, x, Missing{}, 1))
			r, z, phi := make([]float64, D), make([]float64, f.M), make([]float64, f.Q)
			loss := func(at []float64, i int) float64 {
				f.Coordinates(z, phi, at)
				f.Residual(r, z, x.Row(i))
				return floats.Norm(r, 1)
			}
			for i := range x.N {
				if found := loss(tau[i*d:(i+1)*d], i); found > gridLowest(d, func(at []float64) float64 { return loss(at, i) })+1e-9 {
					missed[d]++
				}
			}
		}
	}
	t.Log(missed[1:])
	assert.Zero(t, missed[1])
	assert.LessOrEqual(t, missed[2], 4, "of 200")
}

// gridLowest is the lowest of the values on a grid of [-4, 4]^d, d = 1 or 2.
func gridLowest(d int, value func(at []float64) float64) float64 {
	lowest, at, steps := math.Inf(1), make([]float64, d), 200
	for i := range steps + 1 {
		at[0] = 8*float64(i)/float64(steps) - 4
		if d == 1 {
			lowest = min(lowest, value(at))
			continue
		}
		for j := range steps + 1 {
			at[1] = 8*float64(j)/float64(steps) - 4
			lowest = min(lowest, value(at))
		}
	}
	return lowest
}
