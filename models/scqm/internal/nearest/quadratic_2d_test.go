package nearest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Written out for two dimensions, Newton's steps are those of the general
// method, wherever they are taken.
func TestQuadratic2DIsQuadratic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := sheet.New(6, 2, 3)
	p, plane := NewQuadratic(f), &quadratic2D{}
	taken := 0
	for range 500 {
		for i := range f.Theta {
			f.Theta[i] = 0.3 * rng.NormFloat64()
		}
		for i := range p.Y {
			p.Y[i] = rng.NormFloat64()
		}
		plane.load(f)
		start := []float64{p.Y[0] + 0.3*rng.NormFloat64(), p.Y[1] + 0.3*rng.NormFloat64()}
		before := p.Value(start)

		tau := append([]float64(nil), start...)
		at, ok := plane.minimize(f, p.Y, tau[0], tau[1], 2, 1e-3)
		tau[0], tau[1] = at.x, at.y
		assert.LessOrEqual(t, p.Value(tau), before*(1+1e-12), "it never climbs")
		if !ok {
			continue
		}
		taken++
		assert.InEpsilon(t, p.Value(tau), at.h, 1e-12)
		want := append([]float64(nil), start...)
		value := p.Value(want)
		for range 2 {
			if value, _ = p.Step(want, value, Tries); floats.Norm(p.step, 2) <= 1e-3*floats.Norm(want, 2) {
				break
			}
		}
		assert.InDeltaSlice(t, want, tau, 1e-10)
	}
	assert.Greater(t, taken, 300, "most rows are easy")
}

// Rows all but on the sheet lose no digits.
func TestQuadratic2DKeepsInterpolatedRows(t *testing.T) {
	f := sheet.New(3, 2, 1)
	copy(f.Theta, []float64{0.2, 0.1, -0.3})
	p, plane := NewQuadratic(f), &quadratic2D{}
	plane.load(f)
	tau := []float64{1, 2}
	sheet.Vech(p.Phi, tau)
	f.Quadratic(p.Y[2:], p.Phi)
	copy(p.Y, tau)
	tau[0] += 1e-6
	at, ok := plane.minimize(f, p.Y, tau[0], tau[1], 2, 1e-9)
	assert.True(t, ok)
	assert.Less(t, at.h, 1e-25)
	assert.InDeltaSlice(t, p.Y[:2], []float64{at.x, at.y}, 1e-12)
}
