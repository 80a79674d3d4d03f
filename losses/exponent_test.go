package losses

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// bases draws positive numbers over the full range, many of them ordinary.
func bases(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	a := []float64{math.SmallestNonzeroFloat64, 1e-310, smallestNormal, math.Nextafter(smallestNormal, 0),
		0x1p-1000, math.Nextafter(1, 0), 1, math.Nextafter(1, 2), math.Nextafter(2, 0), 2, math.MaxFloat64}
	for len(a) < n {
		a = append(a, math.Exp2(rng.Float64()*2098-1074), math.Exp(3*rng.NormFloat64()))
	}
	return a
}

// TestExponentIsAccurate compares a^(k/16), raised to 16, with a^k in exact
// arithmetic.
func TestExponentIsAccurate(t *testing.T) {
	power := func(v float64, k int) *big.Float {
		x, p := new(big.Float).SetPrec(400).SetFloat64(v), new(big.Float).SetPrec(400).SetInt64(1)
		for range k {
			p.Mul(p, x)
		}
		return p
	}
	for k, want := range map[int]kernel{
		1: byTable, 4: byRoots, 5: byTable, 8: byRoots, 12: byRoots, 13: byTable, 16: byRoots, 20: byRoots,
		27: byTable, 28: byRoots, 32: byRoots, 59: byTable, 100: byRoots, 133: byTable, 255: byTable,
	} {
		e := newExponent(float64(k) / 16)
		assert.Equal(t, want, e.kernel, "%d/16", k)
		a := bases(3000)
		got := make([]float64, len(a))
		e.raise(got, a)
		for i, v := range a {
			switch {
			case math.IsInf(got[i], 1):
				assert.Greater(t, float64(k)/16*math.Log2(v), 1024-1e-9, "%d/16 of %g overflows", k, v)
				continue
			case got[i] < 1e-300: // subnormal, or nearly
				assert.Less(t, float64(k)/16*math.Log2(v), -990.)
				continue
			}
			ratio, _ := new(big.Float).Quo(power(got[i], 16), power(v, k)).Float64()
			assert.LessOrEqual(t, math.Abs(ratio-1)/16, 1e-14, "%g to %d/16", v, k)
		}
	}
}

func TestExponentAgreesWithPow(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	a := make([]float64, 1000)
	for i := range a {
		a[i] = math.Exp(5 * rng.NormFloat64())
	}
	got := make([]float64, len(a))
	for _, q := range []float64{0, 0.01, 0.25, 0.3, math.Nextafter(0.5, 1), 0.75, 1, 1.7, 2, math.Pi, 8, 11.1, 16, 16.1, 40} {
		e := newExponent(q)
		e.raise(got, a)
		for i, v := range a {
			assert.InEpsilon(t, math.Pow(v, q), got[i], 2e-14, "%g to %g", v, q)
		}
	}
}

func TestExponentOfSpecialNumbers(t *testing.T) {
	for _, q := range []float64{0.25, 0.3, 1, 1.7, 16.1} {
		e := newExponent(q)
		assert.Zero(t, e.one(0), q)
		assert.Equal(t, 1., e.one(1), q)
		assert.True(t, math.IsInf(e.one(math.Inf(1)), 1), q)
		assert.True(t, math.IsNaN(e.one(math.NaN())), q)
	}
	e := newExponent(1.7)
	assert.True(t, math.IsInf(e.one(1e300), 1))
	assert.Zero(t, e.one(1e-300))
	e = newExponent(0.5625) // where math.Pow is wrong
	assert.InEpsilon(t, math.Exp2(-1074*0.5625), e.one(math.SmallestNonzeroFloat64), 1e-13)
}

func BenchmarkExponent(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, dst := make([]float64, 1024), make([]float64, 1024)
	for i := range a {
		a[i] = math.Abs(rng.NormFloat64())
	}
	perEntry := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(a)), "ns/entry")
	}
	for _, q := range []float64{0.25, 0.3, 0.5, 0.75, 1, 1.7, 2, 3} {
		e := newExponent(q)
		b.Run(fmt.Sprintf("q=%v", q), func(b *testing.B) {
			for b.Loop() {
				e.raise(dst, a)
			}
			perEntry(b)
		})
	}
	b.Run("math.Pow", func(b *testing.B) {
		for b.Loop() {
			for i, v := range a {
				dst[i] = math.Pow(v, 0.3)
			}
		}
		perEntry(b)
	})
}
