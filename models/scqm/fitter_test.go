package scqm

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// neighbourhoods returns sets of the 30 nearest of 300 noisy points on the unit
// sphere.
func neighbourhoods(n int) []Data {
	list := make([]Data, n)
	for i := range list {
		list[i] = sphereNeighbours(uint64(i), 300, 30, 10*i, 0.06)
	}
	return list
}

func BenchmarkFitter(b *testing.B) {
	for _, name := range []string{"squared_l2", "huber", "mahalanobis", "lp 4", "lp 1.5", "l2", "l1"} {
		b.Run(name, func(b *testing.B) {
			sets := neighbourhoods(16)
			f, err := NewFitter(context.Background(), 30, 3, Config{Latent: 2, Loss: named(b, name, 3), Ridge: 10})
			require.NoError(b, err)
			var m Model
			b.ReportAllocs()
			i, iterations := 0, 0
			from := processorSeconds(b)
			for b.Loop() {
				out, err := f.Fit(&m, sets[i%16])
				if err != nil {
					b.Fatal(err)
				}
				iterations += out.Iterations
				i++
			}
			b.ReportMetric(float64(i)/(processorSeconds(b)-from), "fits/cpu-s")
			b.ReportMetric(float64(iterations)/float64(i), "iterations/fit")
		})
	}
}

// processorSeconds is the processor time of this process, which other processes
// on the machine do not stretch as they do elapsed time.
func processorSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
