package scqm

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// BenchmarkTransformAbsolute compares coordinates under l1 with those under l2: of rows
// with noise as large as that of each entry in a tenth of the spread of the sheet. Report
// the processor time for one row.
func BenchmarkTransformAbsolute(b *testing.B) {
	for _, c := range []struct{ D, d, n int }{{4, 1, 5000}, {50, 1, 5000}, {4, 2, 5000}, {10, 2, 5000}, {50, 2, 5000}, {200, 2, 1000}, {784, 2, 300}, {4, 3, 2000}, {50, 3, 500}} {
		x, bend := noisyRows(c.D, c.d, c.n)
		for _, name := range []string{"l2", "l1"} {
			m := randomModel(4, c.D, c.d, min(c.d*(c.d+1)/2, c.D-c.d), bend, named(b, name, c.D))
			b.Run(fmt.Sprintf("D%d/d%d/%s", c.D, c.d, name), func(b *testing.B) {
				from := processorSeconds(b)
				for range b.N {
					if _, err := m.Transform(context.Background(), x, 1); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((processorSeconds(b)-from)*1e9/float64(b.N*c.n), "cpu-ns/row")
			})
		}
	}
}

// noisyRows are rows around a sheet of randomModel, of the curvature returned.
func noisyRows(D, d, n int) (Data, float64) {
	const bend = 0.1
	m := randomModel(4, D, d, min(d*(d+1)/2, D-d), bend, nil)
	f := m.sheet()
	x := Data{N: n, D: D, X: gaussians(7, n*D)}
	floats.Scale(0.1*math.Sqrt(float64(d)), x.X)
	tau := gaussians(8, n*d)
	z, phi := make([]float64, f.M), make([]float64, f.Q)
	for i := range n {
		row := x.Row(i)
		f.Coordinates(z, phi, tau[i*d:(i+1)*d])
		floats.Add(row, f.C)
		for k, v := range z {
			floats.AddScaled(row, v, f.Axis(k))
		}
	}
	return x, bend
}
