package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
)

// Rounded losses by entry have the bits of plain Go, for any number of entries, where slopes
// overwrite them, next to 0, and where squares overflow.
func TestRoundedEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e200, -1e200, 1e-200, 5e-324}
	for trial := range 3000 {
		n, at := rng.IntN(300), rng.IntN(3)
		r := make([]float64, n+at)[at:]
		eps := math.Pow(10, 4*rng.Float64()-3)
		if trial%50 == 0 {
			eps = 1e-99
		}
		for i := range r {
			r[i] = eps * rng.NormFloat64() * math.Pow(10, 4*rng.Float64()-2)
			if trial%3 == 0 && rng.IntN(30) == 0 {
				r[i] = special[rng.IntN(len(special))]
			}
		}
		power := newSmoothPowers(1+0.25*float64(1+trial%3), eps)
		absolute := &smoothAbsolutes{newRoundedEntries(eps)}
		for name, c := range map[string]struct {
			phi   func(phi, d1, d2, r []float64)
			w     func(s float64) float64
			table *smoothTable
			terms [3]term
		}{
			"power":    {power.phi, power.first.one, &power.table, [3]term{powerValues, powerSlopes, powerCurvatures}},
			"absolute": {absolute.phi, func(s float64) float64 { return s }, &absolute.table, [3]term{absoluteValues, absoluteSlopes, absoluteCurvatures}},
		} {
			phi, d1, d2 := make([]float64, n), append([]float64{}, r...), make([]float64, n)
			c.phi(phi, d1, d2, d1)
			for i, v := range r {
				s := hypotenuse(v, eps)
				w := c.w(s)
				for k, got := range []float64{phi[i], d1[i], d2[i]} {
					want := c.terms[k].plain(c.table, v, s, w)
					same := math.Float64bits(got) == math.Float64bits(want) || got != got && want != want
					require.True(t, same, "%s, trial %d, entry %d of %d, term %d of %v: %v, plain %v", name, trial, i, n, k, v, got, want)
				}
			}
			only := make([]float64, n)
			c.phi(only, nil, nil, r)
			require.Equal(t, fmt.Sprint(phi), fmt.Sprint(only))
		}
	}
}

// Kernels have the bits of plain Go.
func TestRoundedKernels(t *testing.T) {
	if !dense.HasAVX2() {
		t.Skip("there are no kernels for this processor")
	}
	rng := rand.New(rand.NewPCG(9, 9))
	e := newSmoothPowers(1.5, 0.3)
	r, s, w, got := make([]float64, 64), make([]float64, 64), make([]float64, 64), make([]float64, 64)
	for trial := range 200 {
		for i := range r {
			r[i] = rng.NormFloat64()
			s[i] = hypotenuse(r[i], 0.3)
		}
		e.first.raise(w, s)
		require.True(t, hypotenuses(&got[0], &r[0], &e.table.one, 16))
		require.Equal(t, s, got)
		for _, by := range []term{powerValues, powerSlopes, powerCurvatures, absoluteValues, absoluteSlopes, absoluteCurvatures} {
			by.four(&got[0], &r[0], &s[0], &w[0], &e.table.one, 16)
			for i := range got {
				require.Equal(t, by.plain(&e.table, r[i], s[i], w[i]), got[i], "term %d", by)
			}
		}
		far := append([]float64{}, r...)
		far[trial%64] = 1e200 // its square overflows
		require.False(t, hypotenuses(&got[0], &far[0], &e.table.one, 16))
	}
}
