package nearest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
)

// Every kernel of sums has the bits of plain Go.
func TestRoundedSums(t *testing.T) {
	avx2, avx512 := dense.Wide()
	rng := rand.New(rand.NewPCG(8, 14))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e200, 1e-200}
	for trial := range 300 {
		d := 1 + trial%3
		f := wideSheet(rng, d+1+rng.IntN(20), d)
		want := newAbsoluteStarts(f)
		draw := func(x []float64) {
			for i := range x {
				if x[i] = rng.NormFloat64(); trial%4 == 0 && rng.IntN(30) == 0 {
					x[i] = special[rng.IntN(len(special))]
				}
			}
		}
		draw(want.x)
		draw(want.multipliers)
		draw(want.at)
		for k := d * cellLanes; k < (d+1)*cellLanes; k++ {
			want.at[k] *= want.at[k]
		}
		like := func() *absoluteStarts {
			got := newAbsoluteStarts(f)
			copy(got.x, want.x)
			copy(got.multipliers, want.multipliers)
			copy(got.at, want.at)
			return got
		}
		check := func(name string, got *absoluteStarts) {
			for _, both := range [][2][]float64{{want.sums, got.sums}, {want.multipliers, got.multipliers}} {
				for k, v := range both[0] {
					same := math.Float64bits(v) == math.Float64bits(both[1][k]) || math.IsNaN(v) && math.IsNaN(both[1][k])
					require.True(t, same, "%s, trial %d, number %d: %v, plain %v", name, trial, k, both[1][k], v)
				}
			}
		}
		wider, wide := like(), like()
		want.plain(cellLanes)
		if avx512 {
			roundedSums512[d](&wider.table[0], &wider.coefficients[0], &wider.x[0], &wider.multipliers[0], &wider.at[0], &wider.sums[0], f.D)
			check("AVX-512", wider)
		}
		if avx2 {
			for k := 0; k < cellLanes; k += cellLanes / 2 {
				roundedSums2[d](&wide.table[0], &wide.coefficients[0], &wide.x[k], &wide.multipliers[k], &wide.at[k], &wide.sums[k], f.D)
			}
			check("AVX2", wide)
		}
	}
}

// Most rows of moderately bent sheets are moved to where the entries that vanish at a minimum are the smallest,
// whose vertex no descent leaves.
func TestAbsoluteStarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 14))
	atOnce, all := 0, 0
	for range 30 {
		D, d := 8+rng.IntN(60), 2+rng.IntN(2)
		f := wideSheet(rng, D, d)
		for k := range f.Theta {
			f.Theta[k] = rng.NormFloat64() / 10
		}
		x, tau := make([]float64, D), make([]float64, d)
		for range 20 {
			for j := range tau {
				tau[j] = rng.NormFloat64()
			}
			pointOf(f, x, tau)
			for k := range x {
				x[k] += rng.NormFloat64() / 5
			}
			p := NewProjector(f, losses.L1())
			p.together.place(tau, x, 1)
			if !p.together.placed(0) {
				continue
			}
			p.starts.move(tau, x, p.together.u, 1)
			s := p.absolute
			s.load(x, tau)
			all++
			if s.guess() {
				before := s.least
				if s.goOn(); s.least == before {
					atOnce++
				}
			}
		}
	}
	require.Greater(t, all, 500)
	require.Greater(t, float64(atOnce), 0.8*float64(all))
}
