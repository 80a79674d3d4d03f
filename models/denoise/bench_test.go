package denoise

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// processorSeconds is the processor time of this process, which other processes
// on the machine do not stretch as they do elapsed time.
func processorSeconds(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkDenoise denoises 1000 rows by n, fitting not counted, and reports rows
// per second of processor time.
func BenchmarkDenoise(b *testing.B) {
	for _, n := range []int{300, 10000, 100000} {
		s := sphereSample(1, n, 0.03)
		for _, name := range []string{"lpca", "mls", "sph", "qmf", "sqmf", "mfit", "auto"} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				m, err := ByName(name, Settings{Latent: 2, Neighbors: 30})
				require.NoError(b, err)
				from := processorSeconds(b)
				d, err := Fit(context.Background(), m, s.x, Options{})
				require.NoError(b, err)
				fitting := processorSeconds(b) - from
				part := s.x
				part.N = min(n, 1000)
				part.X = part.X[:part.N*3]
				b.ReportAllocs()
				rows := 0
				from = processorSeconds(b)
				for b.Loop() {
					_, err := d.Denoise(context.Background(), part, Options{Threads: 1})
					require.NoError(b, err)
					rows += part.N
				}
				b.ReportMetric(float64(rows)/(processorSeconds(b)-from), "rows/cpu-s")
				b.ReportMetric(fitting, "fit-cpu-s")
			})
		}
	}
}
