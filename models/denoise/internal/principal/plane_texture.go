package principal

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// findTexture looks for rows that deviate from the plane by more than their noise. It stores the standard deviation
// of the noise, estimated from the rows nearest to the plane, in quiet. There is texture if less than half of the
// mean square off the plane is noise, in directions that are not uniform. Noise that differs between rows is uniform
// in all directions, and noise that differs between columns is the same for all rows.
func (p *Plane) findTexture(f *planeFit, kept []float64) {
	q := float64(p.D - p.R)
	_, off := p.Coordinates(f.x, f.threads)
	used := positive(kept)
	var squares, sum float64
	for _, i := range used {
		squares += kept[i] * off[i] * off[i]
		sum += kept[i]
	}
	if q < 2 || len(used) < 2 {
		return
	}
	far := make([]float64, len(used))
	for k, i := range used {
		far[k] = off[i]
	}
	slices.Sort(far)
	// A quarter of the rows have nothing but noise off the plane, where others have more.
	quiet := far[len(far)/4] / math.Sqrt(distuv.ChiSquared{K: q}.Quantile(.25))
	if quiet > 0 && squares/sum > 2*q*quiet*quiet && !p.evenDirections(f, used, nil) {
		p.quiet = quiet
	}
}

// evenDirections reports whether deviations of rows from the plane are uniform in direction, by the mean squared
// cosine between two of them. Columns are multiplied by scale first; nil leaves them unchanged.
//
// Source: C. Zou, L. Peng, L. Feng, Z. Wang, Multivariate sign-based high-dimensional tests
// for sphericity, Biometrika 101 (2014).
func (p *Plane) evenDirections(f *planeFit, used []int, scale []float64) bool {
	n := min(len(used), mostRows)
	D, q := p.D, float64(p.D-p.R)
	z, unit := make([]float64, p.R), make([]float64, n*D)
	for k := range n {
		i := used[core.SomeRow(k, len(used), n)]
		row := unit[k*D : (k+1)*D]
		length := p.split(z, row, f.x.Row(i))
		if scale != nil {
			floats.Mul(row, scale)
			length = floats.Norm(row, 2)
		}
		for j := range row {
			row[j] /= max(length, math.SmallestNonzeroFloat64)
		}
	}
	var squares float64
	for k := range n {
		for l := range k {
			c := dense.Dot(unit[k*D:(k+1)*D], unit[l*D:(l+1)*D])
			squares += 2 * c * c
		}
	}
	pairs := float64(n) * float64(n-1)
	return q*squares/pairs-1 <= fence*math.Sqrt(4*(q-1)/((q+2)*pairs))
}

// textured is the linear model of rows whose texture extends in all directions: all axes, shrunk by the noise of the
// rows nearest to the plane.
func (f *planeFit) textured(p *Plane, kept []float64) (*Plane, error) {
	all := f.x
	all.Weights = kept
	again := *f
	again.given = min(p.D, f.x.N-1)
	t, err := again.axes(all)
	if err != nil || t == nil {
		return p, err
	}
	values, _, n := t.spread(all, f.threads)
	t.take(t.R, values, p.quiet*p.quiet, n)
	t.quiet = p.quiet
	return t, nil
}
