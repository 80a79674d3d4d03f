package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// absoluteAt is the sum of absolute residuals of x at tau.
func absoluteAt(f *sheet.Sheet, tau, x []float64) float64 {
	z, phi, r := make([]float64, f.M), make([]float64, f.Q), make([]float64, f.D)
	f.Coordinates(z, phi, tau)
	f.Residual(r, z, x)
	return floats.Norm(r, 1)
}

// wideSheet is one of many entries that bends in as many directions as it can.
func wideSheet(rng *rand.Rand, D, d int) *sheet.Sheet {
	f := sheet.New(D, d, d*(d+1)/2)
	bend := math.Pow(10, 2*rng.Float64()-2)
	for i := range f.Theta {
		f.Theta[i] = bend * rng.NormFloat64()
	}
	for i := range f.QT {
		f.QT[i] = rng.NormFloat64()
	}
	dense.OrthonormalizeRows(f.QT, f.D)
	return f
}

// Under l1 no descent from a random point ends lower for d = 1. A row gives the same among others.
func TestDrillNearestAbsolute(t *testing.T) {
	drill.Run(t, "nearest points by l1", 40, func(c drill.Case) error {
		f := randomSheet(c.Rand)
		x := rows.Data{N: 3}
		if c.IntN(4) == 0 {
			f = wideSheet(c.Rand, 10+c.IntN(150), 1+c.IntN(3))
			x.N = 1
		}
		d := f.Latent
		x.D = f.D
		for range x.N {
			x.X = append(x.X, randomRow(c.Rand, f)...)
		}
		tau, before := make([]float64, x.N*d), make([]float64, d)
		p := NewProjector(f, losses.L1())
		if err := p.Project(t.Context(), tau, x, 0); err != nil {
			return err
		}
		for i := range x.N {
			alone := NewProjector(f, losses.L1())
			row := rows.Data{N: 1, D: f.D, X: x.Row(i)}
			if err := alone.Project(t.Context(), before, row, 0); err != nil {
				return err
			}
			at := tau[i*d : (i+1)*d]
			if !floats.Equal(before, at) {
				return fmt.Errorf("row %d: tau %v alone, %v among others", i, before, at)
			}
			// Rounding of the residual counts where the row is far away.
			sum, slack := absoluteAt(f, at, x.Row(i)), 1e-13*(floats.Norm(x.Row(i), 1)+floats.Norm(f.C, 1)+absoluteAt(f, at, make([]float64, f.D)))
			s := alone.absolute
			if d > 1 {
				continue
			}
			for range 20 {
				if s.from([]float64{s.best * c.NormFloat64()}); s.sum < sum*(1-1e-9)-slack {
					return fmt.Errorf("D = %d, d = %d, s = %d, row %d: sum %.17g, and %.17g by a descent", f.D, d, f.S, i, sum, s.sum)
				}
			}
		}
		return nil
	})
}

// On an interval the sum is nowhere below its value at the begin and the minimum found.
func TestKinksOfAnInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 14))
	var s Kinks
	for range 500 {
		n := 1 + rng.IntN(6)
		var q [3][]float64
		for j := range q {
			for range n {
				q[j] = append(q[j], rng.NormFloat64())
			}
		}
		if rng.IntN(3) == 0 {
			q[0][0] = 0
		}
		sum := func(t float64) float64 {
			total := 0.0
			for k, a := range q[0] {
				total += math.Abs(a + t*(q[1][k]+t*q[2][k]))
			}
			return total
		}
		to := math.Exp(rng.NormFloat64())
		least, at := s.Least(q[0], q[1], q[2], 0, to)
		require.Greater(t, at, 0.0)
		require.LessOrEqual(t, at, to)
		require.InDelta(t, sum(at), least, 1e-12)
		for i := range 1000 {
			require.GreaterOrEqual(t, sum(to*float64(i+1)/1000), min(sum(0), least)-1e-12)
		}
	}
}

// No point is lower than where the kinks say: none of a fine grid, and none that a descent from one
// comes to.
func TestKinksInTheirOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 77))
	for range 300 {
		f := wideSheet(rng, 2+rng.IntN(20), 1)
		if rng.IntN(4) == 0 {
			clear(f.Theta)
		}
		s := newLeastAbsolute(f, losses.L1())
		x, tau := randomRow(rng, f), []float64{rng.NormFloat64()}
		s.begin(tau, x)
		copy(tau, s.tau)
		least := absoluteAt(f, tau, x)
		assert.InDelta(t, least, s.best, 1e-13*(least+1))
		reach := 2*least + math.Abs(tau[0])
		for k := range 2001 {
			at := []float64{tau[0] + reach*math.Pow(float64(k-1000)/1000, 3)}
			assert.GreaterOrEqual(t, absoluteAt(f, at, x), least*(1-1e-12)-1e-13)
		}
		for range 10 {
			s.from([]float64{s.best * rng.NormFloat64()})
			assert.GreaterOrEqual(t, s.sum, least*(1-1e-10)-1e-13)
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
			require.NoError(t, ProjectRows(t.Context(), tau, f, losses.L1(), x, Missing{}, 1))
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
