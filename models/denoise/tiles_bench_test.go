package denoise

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/classic"
)

// BenchmarkTiles compares the processor time of tiles with that of one cloud: 0 tiles are
// [Fit] and [Denoiser.Denoise]. Rows read counts how often a task knew a row, by pass.
func BenchmarkTiles(b *testing.B) {
	ctx := context.Background()
	for _, c := range []struct {
		m Method
		n int
	}{{classic.LPCA{Latent: 2}, 20000}, {classic.MLS{Latent: 2}, 20000}, {classic.SCQM{Latent: 2}, 6000}, {Auto{Latent: 2}, 6000}} {
		s := sphereSample(1, c.n, .03)
		for _, tiles := range []int{0, 1, 4, 16, 64} {
			b.Run(fmt.Sprintf("%s/%d", c.m.Name(), tiles), func(b *testing.B) {
				began, read := processorSeconds(b), 1.0
				for range b.N {
					if tiles == 0 {
						_, err := wholeCloud(c.m, s.x, Options{Threads: 1})
						require.NoError(b, err)
						continue
					}
					_, report, err := InTiles(ctx, c.m, s.x, s.x, tiles, Tiling{Halo: -1}, Options{Threads: 1})
					require.NoError(b, err)
					read = float64(report.Read) / float64(report.Passes) / float64(c.n)
				}
				b.ReportMetric((processorSeconds(b)-began)/float64(b.N), "cpu-s/op")
				b.ReportMetric(read, "read/op")
			})
		}
	}
}
