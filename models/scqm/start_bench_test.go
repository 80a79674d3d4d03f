package scqm

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// BenchmarkStart takes the start of a fit beside ten sweeps of it, which it is to take no
// more than.
func BenchmarkStart(b *testing.B) {
	const n, d = 4000, 2
	for _, D := range []int{784, 3000, 10000} {
		x := Data{N: n, D: D, X: gaussians(1, n*D)}
		along, at := gaussians(2, 5*D), gaussians(3, n*d)
		for i := range n {
			t := [5]float64{4 * at[i*d], 4 * at[i*d+1], at[i*d] * at[i*d], at[i*d] * at[i*d+1], at[i*d+1] * at[i*d+1]}
			for j, row := 0, x.Row(i); j < D; j++ {
				for k, v := range t {
					row[j] += v * along[k*D+j]
				}
			}
		}
		p, err := NewProblem(b.Context(), x, losses.L2(), d, 3, 1)
		require.NoError(b, err)
		var start framework.Point
		b.Run(fmt.Sprintf("%dx%d/start", n, D), func(b *testing.B) {
			defer reportProcessor(b, processorSeconds(b))
			for range b.N {
				s, err := p.newStarts(Config{Latent: d, Loss: losses.L2()}, nil)
				require.NoError(b, err)
				start, err = s.point(0)
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("%dx%d/sweeps", n, D), func(b *testing.B) {
			defer reportProcessor(b, processorSeconds(b))
			for range b.N {
				at, next := start.Clone(), start.Clone()
				for range 10 {
					_, err := p.Sweep(next, at)
					require.NoError(b, err)
					at, next = next, at
				}
			}
		})
	}
}

// reportProcessor reports the processor time of an operation since begin, in nanoseconds, which other work on the
// machine changes less than the clock.
func reportProcessor(b *testing.B, begin float64) {
	b.ReportMetric((processorSeconds(b)-begin)*1e9/float64(b.N), "cpu-ns/op")
}
