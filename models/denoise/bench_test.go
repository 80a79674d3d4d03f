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

// BenchmarkChart is one chart of auto.
func BenchmarkChart(b *testing.B) {
	s := sphereSample(1, 3000, 0.05)
	c, err := newCloud(s.x)
	require.NoError(b, err)
	at := c.newPlaces(s.x.X)
	for name, ch := range map[string]charter{"space": &spaceChart{}, "any": newChart(3, 2)} {
		for _, k := range []int{60, 243} {
			b.Run(fmt.Sprintf("%s/%d", name, k), func(b *testing.B) {
				var rows chartRows
				_, rows.lanes = ch.(*spaceChart)
				foot := make([]float64, 3)
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					y := s.x.Row(i)
					rows.look(at.index, y, k)
					rows.gather(c, s.x.X, at, k)
					o := setting{neighbors: k, ridge: 0.03, scale: 0.05, cut: 0.05 * 4.685, rounds: 2}
					require.True(b, ch.prepare(y, y, &rows, &o) && ch.solve(o.ridge) && ch.foot(foot, y))
					i = (i + 7) % 3000
				}
			})
		}
	}
}
