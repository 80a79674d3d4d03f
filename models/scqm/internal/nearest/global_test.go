package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// randomSheet has any shape for which nearest points are exact, curvatures from
// flat to far beyond the distances of rows, and forms that are now and then
// degenerate: of rank 1, equal, or zero in a direction.
func randomSheet(rng *rand.Rand) *sheet.Sheet {
	shapes := [][2]int{{1, 1}, {1, 3}, {2, 1}, {2, 2}, {2, 3}, {2, 5}, {3, 1}, {4, 1}}
	shape := shapes[rng.IntN(len(shapes))]
	d, s := shape[0], shape[1]
	f := sheet.New(d+s+rng.IntN(3), d, s)
	curvature := math.Pow(10, 4*rng.Float64()-2)
	for i := range f.Theta {
		f.Theta[i] = curvature * rng.NormFloat64()
	}
	switch rng.IntN(5) {
	case 0: // directions of curvature of unlike sizes
		for i := range f.Theta {
			f.Theta[i] *= math.Pow(10, -3*float64(i%s))
		}
	case 1: // a cylinder
		clear(f.Theta[s:])
	case 2: // equal forms
		for a := range f.Q {
			for k := range s {
				f.Theta[a*s+k] = f.Theta[a*s]
			}
		}
	}
	for i := range f.C {
		f.C[i] = rng.NormFloat64()
	}
	for i := range f.QT {
		f.QT[i] = rng.NormFloat64()
	}
	dense.OrthonormalizeRows(f.QT, f.D)
	return f
}

// randomRow is near the sheet, off it, far from it, or where it is symmetric.
func randomRow(rng *rand.Rand, f *sheet.Sheet) []float64 {
	x := make([]float64, f.D)
	z := make([]float64, f.M)
	far := math.Pow(10, 3*rng.Float64()-1.5)
	for k := range z {
		z[k] = far * rng.NormFloat64()
	}
	if rng.IntN(4) == 0 { // above the vertex, all around equally far
		clear(z[:rng.IntN(f.Latent)+1])
	}
	copy(x, f.C)
	for k, v := range z {
		floats.AddScaled(x, v, f.Axis(k))
	}
	return x
}

// leastOfMany is the least distance that descents from a grid and from random
// points find.
func leastOfMany(rng *rand.Rand, p *Quadratic, starts int) float64 {
	least, tau := math.Inf(1), make([]float64, p.f.Latent)
	for range starts {
		spread := math.Pow(10, 4*rng.Float64()-2.5)
		for j := range tau {
			tau[j] = spread * rng.NormFloat64()
			if rng.IntN(2) == 0 {
				tau[j] += p.Y[j]
			}
		}
		if v := p.Minimize(tau, 1000, precision); v < least {
			least = v
		}
	}
	return least
}

// TestDrillNearest: no descent from many starts finds a nearer point.
func TestDrillNearest(t *testing.T) {
	drill.Run(t, "nearest points", 300, func(c drill.Case) error {
		f := randomSheet(c.Rand)
		p := NewProjection(f)
		for row := range 4 {
			x := randomRow(c.Rand, f)
			p.nearest(x)
			got := p.Value(p.minima[0])
			if want := leastOfMany(c.Rand, p.Quadratic, 150); got > want+1e-9*want+1e-24 {
				return fmt.Errorf("d = %d, s = %d, row %d: squared distance %.17g, and %.17g elsewhere", f.Latent, f.S, row, got, want)
			}
		}
		return nil
	})
}
