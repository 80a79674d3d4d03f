package scqm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/internal/dense"
)

// Written out for two dimensions, Newton's steps are those of the general
// method, wherever they are taken.
func TestPlaneFootIsFoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	f := newSheet(6, 2, 3)
	p, plane := newFoot(f), &planeFoot{}
	taken := 0
	for range 500 {
		for i := range f.theta {
			f.theta[i] = 0.3 * rng.NormFloat64()
		}
		for i := range p.ab {
			p.ab[i] = rng.NormFloat64()
		}
		plane.load(f)
		start := []float64{p.ab[0] + 0.3*rng.NormFloat64(), p.ab[1] + 0.3*rng.NormFloat64()}
		before := p.residual(start)

		tau := append([]float64(nil), start...)
		ok := plane.minimise(tau, p.ab, f, 2, 1e-3)
		assert.LessOrEqual(t, p.residual(tau), before*(1+1e-12), "it never climbs")
		if !ok {
			continue
		}
		taken++
		want := append([]float64(nil), start...)
		p.minimise(want, 2, 1e-3)
		assert.InDeltaSlice(t, want, tau, 1e-10)
	}
	assert.Greater(t, taken, 300, "most rows are easy")
}

// Rows all but on the sheet are left to the method that loses no digits there.
func TestPlaneFootLeavesInterpolatedRows(t *testing.T) {
	f := newSheet(3, 2, 1)
	copy(f.theta, []float64{0.2, 0.1, -0.3})
	p, plane := newFoot(f), &planeFoot{}
	plane.load(f)
	tau := []float64{1, 2}
	vech(p.phi, tau)
	f.bend(p.ab[2:], p.phi)
	copy(p.ab, tau)
	assert.False(t, plane.minimise(tau, p.ab, f, 2, 1e-3))
	assert.Equal(t, []float64{1, 2}, tau)
}

func TestAddProduct(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 1}, {192, 6, 50}, {17, 6, 500}, {30, 45, 100}, {20, 130, 70}} {
		n, k, cols := shape[0], shape[1], shape[2]
		a, b, c := gaussians(1, n*k), gaussians(2, n*cols), gaussians(3, k*cols)
		var want mat.Dense
		want.Mul(mat.NewDense(n, k, a).T(), mat.NewDense(n, cols, b))
		want.Add(&want, mat.NewDense(k, cols, append([]float64(nil), c...)))
		dense.AddProduct(c, a, b, n, k, cols)
		assert.True(t, floats.EqualApprox(want.RawMatrix().Data, c, 1e-12), shape)
		assert.Zero(t, testing.AllocsPerRun(3, func() { dense.AddProduct(c, a, b, n, k, cols) }), "no threads: %v", shape)
	}
}
