package residuals

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// sphereDistances are logarithms on the sphere. With c = p'x, w = x - c p, s = |w| and
// the angle t of x and p,
//
//	r = t/s w,  Dr[v] = t/s (v - p'v p) - p'v (s - t c)/s^3 w.
type sphereDistances struct {
	on     framework.Manifold
	points rows.Data
}

// isSphere reports whether m is a manifolds.Sphere.
func isSphere(m framework.Manifold) bool {
	return fmt.Sprintf("%T", m) == fmt.Sprintf("%T", manifolds.Sphere(2))
}

// Blocks describes x.
func (d sphereDistances) Blocks() []framework.Block { return block(d.on) }

// Shape is the number of points and that of coordinates.
func (d sphereDistances) Shape() (n, m int) { return d.points.N, d.points.D }

// Residuals writes logarithms.
func (d sphereDistances) Residuals(dst []float64, x framework.Point, from, to int) error {
	for i := from; i < to; i++ {
		row := dst[(i-from)*d.points.D : (i-from+1)*d.points.D]
		if err := d.on.(framework.Logarithm).Log(row, d.points.Row(i), x[0]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// across writes w and returns t/s and (s - t c)/s^3, finite at the antipode of p too.
func across(w, p, x []float64) (stretch, bend float64) {
	c := floats.Dot(p, x)
	copy(w, x)
	floats.AddScaled(w, -c, p)
	s := floats.Norm(w, 2)
	t := math.Atan2(s, c)
	if s == 0 && c > 0 {
		return 1, 1. / 3
	}
	s = math.Max(s, 1e-100)
	rise := 1 - t*c/s
	if t < 0.1 { // Taylor series of 1 - t cot t, to rounding
		u := t * t
		rise = u * (1./3 + u*(1./45+u*(2./945+u*(1./4725+u*2/93555))))
	}
	return t / s, rise / s / s
}

// JacobianProduct implements [Jacobian].
func (d sphereDistances) JacobianProduct(dst []float64, x, v framework.Point, from, to int) error {
	w := make([]float64, d.points.D)
	for i := from; i < to; i++ {
		p, row := d.points.Row(i), dst[(i-from)*d.points.D:(i-from+1)*d.points.D]
		stretch, bend := across(w, p, x[0])
		along := floats.Dot(p, v[0])
		floats.ScaleTo(row, stretch, v[0])
		floats.AddScaled(row, -stretch*along, p)
		floats.AddScaled(row, -along*bend, w)
	}
	return nil
}

// AddTransposedProduct implements [Jacobian].
func (d sphereDistances) AddTransposedProduct(dst, x framework.Point, g []float64, from, to int) error {
	w := make([]float64, d.points.D)
	for i := from; i < to; i++ {
		p, row := d.points.Row(i), g[(i-from)*d.points.D:(i-from+1)*d.points.D]
		stretch, bend := across(w, p, x[0])
		floats.AddScaled(dst[0], stretch, row)
		floats.AddScaled(dst[0], -stretch*floats.Dot(p, row)-bend*floats.Dot(w, row), p)
	}
	return nil
}
