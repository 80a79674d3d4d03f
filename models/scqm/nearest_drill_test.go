package scqm

import (
	"context"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/drill"
)

// TestDrillNearestOfOverfitted: no row is sent farther from the sheet of a model that
// bends around its rows than the fit itself left it.
func TestDrillNearestOfOverfitted(t *testing.T) {
	drill.Run(t, "overfitted sheets", 12, func(c drill.Case) error {
		const n = 40
		d := 1 + c.IntN(2)
		D := d + 1 + c.IntN(3)
		s := min(d*(d+1)/2, D-d)
		x := Data{N: n, D: D, X: make([]float64, n*D)}
		for i := range x.X {
			x.X[i] = c.NormFloat64()
		}
		name := []string{"l2", "squared_l2", "huber"}[c.IntN(3)]
		fit, err := Learn(context.Background(), x, Config{Latent: d, Curvature: s, Loss: named(t, name, D)})
		if err != nil {
			return err
		}
		m := fit.Model
		own, err := m.Reconstruct(context.Background(), m.Tau, 1)
		if err != nil {
			return err
		}
		nearest, err := m.Project(context.Background(), x, 1)
		if err != nil {
			return err
		}
		for i := range n {
			before, now := floats.Distance(own[i*D:(i+1)*D], x.Row(i), 2), floats.Distance(nearest[i*D:(i+1)*D], x.Row(i), 2)
			if now > before*(1+1e-9)+1e-12 {
				return fmt.Errorf("%s, d = %d, D = %d, row %d: %.17g from the sheet, and %.17g in the fit", name, d, D, i, now, before)
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
