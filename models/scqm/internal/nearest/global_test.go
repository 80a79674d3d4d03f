package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
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
		if v := p.Minimize(tau, 1000, 1e-15); v < least {
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
			p.Load(x)
			got := p.Find(make([]float64, f.Latent))
			if want := leastOfMany(c.Rand, p.Quadratic, 150); got > want+1e-9*want+1e-24 {
				return fmt.Errorf("d = %d, s = %d, row %d: squared distance %.17g, and %.17g elsewhere", f.Latent, f.S, row, got, want)
			}
		}
		return nil
	})
}

// Along valleys of the squared distance that are a million times as narrow as long, Newton's method arrives.
func TestNearestPointsAlongNarrowValleys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for _, c := range []struct {
		d, s     int
		theta, y []float64
	}{
		{4, 1, []float64{20.44699767261921, -127.26134963260544, 63.30078192971889, 6.930818870280259, 25.09283998766486, 45.20858669579126, -52.61710330021673, 144.0925547893778, 12.56519914798339, -4.190599506266122}, []float64{-100.08149589446803, -61.53886057201929, 24.975863811751573, 23.159623982347036, -21.003869367135337}},
		{2, 1, []float64{-19.51261199077158, 936.2668139049088, -75.54703048091737}, []float64{7.106125501078517, 64.19068472605674, 20.325990640499235}},
		{2, 3, []float64{-18.9479004742235, 31.257484113910614, -26.006277159905007, 5.31918511190862, 11.936192626035888, -27.971359584060593, 10.658860777635015, -39.5715165225214, 49.15791083761564}, []float64{-11.598646648209137, 0.8805201031946303, -12.456301751882139, -7.942407125539794, 4.55332169726271}},
	} {
		f := sheet.New(c.d+c.s, c.d, c.s)
		copy(f.Theta, c.theta)
		p := NewProjection(f)
		copy(p.Y, c.y)
		least := leastOfMany(rng, p.Quadratic, 3000)
		assert.LessOrEqual(t, p.Find(make([]float64, c.d)), least*(1+1e-9), "d = %d, s = %d", c.d, c.s)
	}
}

// Where residuals are small beside coordinates, h is known to fewer digits than its gradient, which vanishes all the same.
func TestNearestPointsAreStationary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 300 {
		f := sheet.New(5, 2, 2)
		for i := range f.Theta {
			f.Theta[i] = rng.NormFloat64() / 10
		}
		p, at := NewProjection(f), []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		f.Coordinates(p.Y, p.Phi, at)
		for k := range p.Y {
			p.Y[k] += 1e-5 * rng.NormFloat64()
		}
		p.Find(at)
		p.derivatives(at)
		assert.LessOrEqual(t, floats.Norm(p.g, 2), 1e-14*floats.Norm(p.Y, 2), "rounding errors of coordinates")
	}
}

// The decomposition that the search rests on is exact.
func TestSextic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f := sheet.New(5, 2, 3)
		for i := range f.Theta {
			f.Theta[i] = rng.NormFloat64()
		}
		p := NewProjection(f)
		p.Reload()
		for i := range p.Y {
			p.Y[i] = rng.NormFloat64()
		}
		tau := []float64{rng.NormFloat64(), rng.NormFloat64()}
		p.Value(tau)
		p.derivatives(tau)
		p.certified()
		p.sextic.load(f, f.Theta, p.h, p.bent, tau)
		u := []float64{rng.NormFloat64(), rng.NormFloat64()}
		form := func(coefficients []float64) (sum float64) {
			for i, v := range coefficients {
				sum += v * math.Pow(u[0], float64(len(coefficients)-1-i)) * math.Pow(u[1], float64(i))
			}
			return sum
		}
		h0, slope := p.Value(tau), 2*floats.Dot(p.g, u)
		for _, r := range []float64{-1, 0.3, 2} {
			at := []float64{tau[0] + r*u[0], tau[1] + r*u[1]}
			want := h0 + r*slope + r*r*(form(p.sextic.full[:])+2*r*form(p.sextic.cross[:])+r*r*form(p.sextic.square[:]))
			assert.InDelta(t, want, p.Value(at), 1e-9*(1+math.Abs(want)))
		}
	}
}

// The search finds narrow arcs of negative values, and none where there are none.
func TestSexticSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 300 {
		// |q|^2 = 1 and Nu.q = 0: P is u'Hu, negative on an arc of this half width about an angle.
		angle, width := math.Pi*rng.Float64(), math.Pow(10, -6*rng.Float64())
		cos, sin := math.Cos(2*angle), math.Sin(2*angle)
		p := sextic{square: [5]float64{1, 0, 2, 0, 1}}
		for _, sign := range []float64{1, -1} {
			least := sign * math.Cos(2*width) // u'Hu = least - cos(2 (t - angle)), or its negative
			p.full = [3]float64{least - cos, -2 * sin, least + cos}
			p.part = [3]float64{-1, 0, -1}
			found := p.search(func(u, v float64) bool {
				return p.full[0]*u*u+p.full[1]*u*v+p.full[2]*v*v < -1e-14
			})
			assert.True(t, found, "an arc of %v", width)
		}
		p.full = [3]float64{1.0001 - cos, -2 * sin, 1.0001 + cos}
		assert.False(t, p.search(func(float64, float64) bool { return true }))
	}
}
