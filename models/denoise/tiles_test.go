package denoise

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
)

func TestTilesDraft(t *testing.T) {
	s := sphereSample(7, 300, .05)
	huber := func(d []float64) (framework.Loss, error) { return losses.Huber(losses.DefaultHuberDelta(d)) }
	for _, m := range []Method{LPCA{Latent: 2}, MLS{Latent: 2}, SCQM{Latent: 2}, SCQM{Latent: 2, LossFor: huber}, Auto{Latent: 2, Neighbors: 48}, Auto{Latent: 2}} {
		d, err := Fit(context.Background(), m, s.x, Options{})
		require.NoError(t, err)
		want, err := d.Denoise(context.Background(), s.x, Options{})
		require.NoError(t, err)
		for _, tiles := range []int{1, 5} {
			for _, halo := range []float64{0, -1, math.Inf(1)} {
				got, report, err := InTiles(context.Background(), m, s.x, s.x, tiles, Tiling{Halo: halo}, Options{})
				require.NoError(t, err)
				differ := 0
				for i := range s.x.N {
					for j := range 3 {
						if got.X[3*i+j] != want.X[3*i+j] {
							differ++
							break
						}
					}
				}
				fmt.Printf("%s tiles %d halo %v: differ %d, %+v\n", m.Name(), tiles, halo, differ, *report)
				require.Zero(t, differ)
				require.Equal(t, want.Rows, got.Rows)
			}
		}
	}
	_ = rows.Data{}
}
