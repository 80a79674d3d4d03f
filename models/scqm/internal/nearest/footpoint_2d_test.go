package nearest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Written out for two dimensions, Newton's steps are those of the general
// method, wherever they are taken.
func TestPlaneFootIsFoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := sheet.New(6, 2, 3)
	p, plane := NewFootpoint(f), &Footpoint2D{}
	taken := 0
	for range 500 {
		for i := range f.Theta {
			f.Theta[i] = 0.3 * rng.NormFloat64()
		}
		for i := range p.AB {
			p.AB[i] = rng.NormFloat64()
		}
		plane.Load(f)
		start := []float64{p.AB[0] + 0.3*rng.NormFloat64(), p.AB[1] + 0.3*rng.NormFloat64()}
		before := p.Residual(start)

		tau := append([]float64(nil), start...)
		ok := plane.Minimize(tau, p.AB, f, 2, 1e-3)
		assert.LessOrEqual(t, p.Residual(tau), before*(1+1e-12), "it never climbs")
		if !ok {
			continue
		}
		taken++
		want := append([]float64(nil), start...)
		p.Minimize(want, 2, 1e-3)
		assert.InDeltaSlice(t, want, tau, 1e-10)
	}
	assert.Greater(t, taken, 300, "most rows are easy")
}

// Rows all but on the sheet are left to the method that loses no digits there.
func TestPlaneFootLeavesInterpolatedRows(t *testing.T) {
	f := sheet.New(3, 2, 1)
	copy(f.Theta, []float64{0.2, 0.1, -0.3})
	p, plane := NewFootpoint(f), &Footpoint2D{}
	plane.Load(f)
	tau := []float64{1, 2}
	sheet.Vech(p.Phi, tau)
	f.Quadratic(p.AB[2:], p.Phi)
	copy(p.AB, tau)
	assert.False(t, plane.Minimize(tau, p.AB, f, 2, 1e-3))
	assert.Equal(t, []float64{1, 2}, tau)
}
