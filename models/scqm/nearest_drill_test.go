package scqm

import (
	"context"
	"fmt"
	"testing"

	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/drill"
)

// TestDrillNearestOfOverfitted: no row is sent farther from the sheet of a model that
// bends around its rows than the fit itself left it, where nearest points are exact: under l1 that is for d = 1.
func TestDrillNearestOfOverfitted(t *testing.T) {
	drill.Run(t, "overfitted sheets", 12, func(c drill.Case) error {
		const n = 40
		d := 1 + c.IntN(3)
		D := d + 1 + c.IntN(3)
		s := min(d*(d+1)/2, D-d)
		x := Data{N: n, D: D, X: make([]float64, n*D)}
		for i := range x.X {
			x.X[i] = c.NormFloat64()
		}
		name := []string{"l2", "squared_l2", "huber", "l1", "lp 1.5", "mahalanobis"}[c.IntN(6)]
		config := Config{Latent: d, Curvature: s, Loss: named(t, name, D)}
		config.Options.MaxIterations = 300
		fit, err := Learn(context.Background(), x, config)
		if err != nil {
			return err
		}
		m := fit.Model
		tau, err := m.Transform(context.Background(), x, 1)
		if err != nil {
			return err
		}
		for i := range n {
			before, now := lossAt(t, m, x.Row(i), m.Tau[i*d:(i+1)*d]), lossAt(t, m, x.Row(i), tau[i*d:(i+1)*d])
			if exact := d == 1 || d == 2 && name != "l1" || rowloss.StructureOf(m.Loss) == rowloss.StructureRadial; exact && now > before*(1+2e-9)+1e-12 {
				return fmt.Errorf("%s, d = %d, D = %d, row %d: loss %.17g, and %.17g in the fit", name, d, D, i, now, before)
			}
		}
		return nil
	})
}

// BenchmarkProject projects rows onto a bowl and onto sheets that bend sharply.
func BenchmarkProject(b *testing.B) {
	for _, c := range []struct {
		name    string
		D, d, s int
		bend    float64
	}{{"bowl", 3, 2, 1, 0.1}, {"gentle", 20, 2, 3, 0.1}, {"sharp", 20, 2, 3, 1}, {"line", 5, 1, 1, 1}, {"d3", 20, 3, 6, 0.3}} {
		for _, name := range []string{"l2", "l1"} {
			m := randomModel(4, c.D, c.d, c.s, c.bend, named(b, name, c.D))
			n := 20000
			if name == "l1" {
				n = 200
			}
			x := Data{N: n, D: c.D, X: gaussians(9, n*c.D)}
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for range b.N {
					if _, err := m.Transform(context.Background(), x, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
