package denoise

import (
	"context"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
)

// turnsLoss tells whether a loss does not change where residuals are turned.
func turnsLoss(l framework.Loss) bool {
	_, sized := l.(framework.Dimensioned)
	return l == nil || !sized && framework.StructureOf(l) == framework.StructureRadial
}

// onPlane is a method that knows the plane, where it has a use for it.
func onPlane(m Method, p *plane) Method {
	switch m := m.(type) {
	case Auto:
		m.plane = p
		if p == nil {
			m.linear = nil
		}
		return m
	case PCA:
		m.plane = p
		return m
	case SelectDimension:
		m.Of = onPlane(m.Of, p)
		return m
	}
	return m
}

// comparesLinear tells whether a method for rows of D columns is compared with a linear model.
func comparesLinear(m Method, D int, o Options) bool {
	if s, ok := m.(SelectDimension); ok {
		m = s.Of
	}
	_, auto := m.(Auto)
	return auto && o.Axes == 0 && D >= wideColumns
}

// withLinear is a method that compares its charts, which are made on the plane, with a linear model.
func withLinear(m Method, l *linearModel, p *plane) Method {
	if l == nil || p == nil {
		return m
	}
	switch m := m.(type) {
	case Auto:
		m.linear = l
		return m
	case SelectDimension:
		m.Of = withLinear(m.Of, l, p)
		return m
	}
	return m
}

// of turns rows into their coordinates; a nil plane leaves them.
func (p *plane) of(x rows.Data, o Options) rows.Data {
	if p == nil {
		return x
	}
	z, _ := p.coordinates(x, par.Threads(o.Threads))
	return rows.Data{N: x.N, D: p.r, X: z, Weights: x.Weights}
}

// size has the shape of the coordinates of rows, without these.
func (p *plane) size(x rows.Data) rows.Data {
	if p == nil {
		return x
	}
	return rows.Data{N: x.N, D: p.r, Weights: x.Weights}
}

// cloud is that of the coordinates of rows, or of rows where the plane is nil. Rows of which
// only the coordinates are equal are different ones.
func (p *plane) cloud(x rows.Data, o Options) (*Cloud, error) {
	if p == nil {
		return newCloud(x)
	}
	z := p.of(rows.Distinct(x), o)
	if err := checkRows(z); err != nil {
		return nil, err
	}
	return cloudOf(z)
}

// columns is the length of rows.
func (d *Denoiser) columns() int {
	if d.plane != nil {
		return d.plane.D
	}
	return d.cloud.D
}

// Axes is the number of principal axes in whose coordinates charts are made, 0 where
// these are the columns.
func (d *Denoiser) Axes() int {
	if d.plane == nil {
		return 0
	}
	return d.plane.r
}

// denoiseWide denoises the coordinates of rows, and writes the rows that belong to these.
func (d *Denoiser) denoiseWide(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	p, threads := d.plane, par.Threads(o.Threads)
	z := rows.Data{N: x.N, D: p.r}
	var off []float64
	z.X, off = p.coordinates(x, threads)
	r, err := d.denoiseCharted(ctx, z, o)
	if r == nil {
		return nil, err
	}
	on := r.X
	r.X = slices.Clone(x.X)
	p.each(x.N, threads, func(_ []float64, i int) {
		if r.Rows[i].Done {
			p.leave(r.X[i*x.D:(i+1)*x.D], on[i*p.r:(i+1)*p.r], off[i], &r.Rows[i])
		}
	})
	return r, err
}

// leave takes a row that has been denoised along the axes, to the coordinates on, back to
// columns. dst is the row as it came, at the distance off from the plane.
func (p *plane) leave(dst, on []float64, off float64, row *Row) {
	if p.bend != nil {
		off = p.bend.off(dst, p.centre, on, off)
	}
	row.Extrapolated = row.Extrapolated || off > max(p.reach, p.rounding(dst))
	if !row.Unchanged {
		p.back(dst, on)
		row.Residual = math.Hypot(row.Residual, off)
	}
}

// rounding bounds what rounding leaves of a row of the plane off it.
func (p *plane) rounding(x []float64) float64 {
	var most float64
	for j, v := range x {
		most = max(most, math.Abs(v), math.Abs(p.centre[j]))
	}
	return 1e-12 * most * math.Sqrt(float64(p.D))
}

// describeWide describes the surface in the coordinates of the plane, and counts the
// distance from that in the scores.
func (d *Denoiser) describeWide(ctx context.Context, x rows.Data, r *Result, unit float64, o Options) (*Geometry, error) {
	p, threads := d.plane, par.Threads(o.Threads)
	if _, linear := d.method.(PCA); linear {
		if unit != 1 {
			x = x.InUnits(unit)
		}
		return d.describeLinear(x, o), nil
	}
	of := func(v []float64) (z rows.Data, off []float64) {
		full := rows.Data{N: x.N, D: p.D, X: v}
		if unit != 1 {
			full = full.InUnits(unit)
		}
		z = rows.Data{N: x.N, D: p.r}
		z.X, off = p.coordinates(full, threads)
		return z, off
	}
	z, off := of(x.X)
	on, _ := of(r.X)
	flat := &Result{X: on.X, Rows: slices.Clone(r.Rows)}
	for i := range flat.Rows {
		flat.Rows[i].Residual /= unit
	}
	g, err := d.describe(ctx, z, flat, 1, o)
	if err != nil || !(p.noise > 0) {
		return g, err
	}
	for i, v := range off {
		g.Score[i] = min(math.Hypot(g.Score[i], v/p.noise), math.MaxFloat64)
	}
	return g, nil
}
