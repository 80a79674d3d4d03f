package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestTmp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, q := range []float64{0.01, .25, .3, .75, 0.999, 1.7, 3, 3.7, 9.3, 15.9, 7.75} {
		e := newExponent(q)
		w := 0.0
		var at float64
		for range 1000000 {
			v := math.Exp2(rng.Float64()*2098-1074)
			if rng.IntN(2) == 0 { v = math.Exp(rng.NormFloat64()*3) }
			g, x := e.one(v), math.Pow(v, q)
			if x > 1e-300 && !math.IsInf(x, 0) { if r := math.Abs(g-x)/x; r > w { w = r; at=v } }
		}
		fmt.Println(q, e.kernel, w, at)
	}
	for _, v := range []float64{0, 1, math.Inf(1), math.NaN(), 5e-324, math.MaxFloat64, 1e-310, 4, math.Nextafter(1, 0), math.Nextafter(2, 0), 2} {
		e := newExponent(0.3)
		fmt.Println(v, e.one(v), math.Pow(v, .3))
	}
}

func BenchmarkRaise(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, d := make([]float64, 1024), make([]float64, 1024)
	for i := range a { a[i] = math.Abs(rng.NormFloat64()) }
	for _, q := range []float64{0, .25, .5, .75, 1, 2, 3, .3, 1.7, 20.1} {
		e := newExponent(q)
		b.Run(fmt.Sprint(q), func(b *testing.B) {
			for b.Loop() { e.raise(d, a) }
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/entry")
		})
	}
	b.Run("pow", func(b *testing.B) {
			for b.Loop() { for i, v := range a { d[i] = math.Pow(v, .3) } }
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/entry")
		})
}
