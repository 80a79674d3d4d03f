package denoise

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// Geometry describes the surface at denoised rows. With [Auto] the surface is that of the charts that rows are moved
// to; at a sharp edge it is the face that the row is on. With other methods it is that of quadratic charts fitted to
// the rows near each denoised row, with Tukey's loss at the scale of their own residuals.
type Geometry struct {
	// Normals are unit normals of the surface, n x D, if d = D-1, otherwise nil. See [Orientation] for their side.
	// They are 0 if no surface was found.
	Normals []float64
	// Principal are the principal curvatures if d = D-1, n x d, the largest first, in one over the unit of the rows;
	// otherwise nil. They are positive if the surface bends away from its normal, as a sphere does from the outward
	// one.
	Principal []float64
	// Curvature is the mean of the principal curvatures; if d < D-1, the length of the mean curvature vector.
	Curvature []float64
	// Error is the standard error of the surface at a row in each normal direction, s sqrt(l). s is the noise, and l
	// the sum of the squared weights of the rows in their chart. It excludes bias, and is 0 if the rows cannot
	// determine it.
	Error []float64
	// Score is the distance of an input row from its chart in standard deviations of the nearby noise. If that chart
	// follows the row, the chart is one made from other rows. A row without a surface has the score of the nearest
	// other fitted row. See [Denoiser.OutlierScore].
	Score []float64
}

// OutlierScore is a score that about one of 10^5 rows with normal noise exceeds, and from which on Tukey's loss gives
// a row no weight: 4.7 if D-d = 1.
func (d *Denoiser) OutlierScore() float64 {
	q := d.columns() - core.LatentOf(d.prepared.Method)
	if _, linear := d.prepared.Method.(principal.PCA); linear {
		q = d.columns() - d.plane.R
	}
	if q < 1 {
		return math.Inf(1)
	}
	return core.NewQuantiles(q).Cut
}

// Geometry describes the surface at the rows of r, the result of Denoise for x. It fails with [ErrInput] for methods
// without a dimension of the surface. orientation determines the side of the normals. Apart from that side, the
// description of a row depends only on that row and the fitted rows, to the last bit.
func (d *Denoiser) Geometry(ctx context.Context, x rows.Data, r *Result, side Orientation, o Options) (*Geometry, error) {
	latent := core.LatentOf(d.prepared.Method)
	switch {
	case latent < 1:
		return nil, fmt.Errorf("denoise: the method %s has no dimension of the surface to describe it by: %w", d.prepared.Method.Name(), ErrInput)
	case len(r.X) != x.N*x.D || len(r.Rows) != x.N:
		return nil, fmt.Errorf("denoise: the result is of %d rows, not %d: %w", len(r.Rows), x.N, ErrInput)
	}
	if err := o.Check(x.D, d.columns()); err != nil {
		return nil, err
	}
	if err := side.check(x, latent); err != nil {
		return nil, err
	}
	if list := completeRows(x); list != nil {
		return d.describeComplete(ctx, x, list, r, side, o)
	}
	held, err := d.reserveGeometry(x, o)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	g, ok := r.Surface.(*Geometry)
	if r.Surface = nil; !ok {
		if g, err = d.describe(ctx, x, r, d.unit, o); err != nil {
			return nil, err
		}
	}
	g.rescale(d.unit)
	if g.Normals != nil {
		err = d.orient(ctx, g, r, side, o)
	}
	return g, err
}

// describe describes the surface without orienting its normals.
func (d *Denoiser) describe(ctx context.Context, x rows.Data, r *Result, unit float64, o Options) (*Geometry, error) {
	if d.plane != nil && d.cells == nil {
		return d.describeWide(ctx, x, r, unit, o)
	}
	return d.describeCharts(ctx, x, r, unit, o)
}

func (d *Denoiser) newGeometry(x rows.Data) *Geometry {
	g := &Geometry{Curvature: make([]float64, x.N), Error: make([]float64, x.N), Score: make([]float64, x.N)}
	if latent := core.LatentOf(d.prepared.Method); latent == d.columns()-1 {
		g.Normals, g.Principal = make([]float64, x.N*x.D), make([]float64, x.N*latent)
	}
	return g
}

// describeCharts describes the surface in the coordinates of the charts.
func (d *Denoiser) describeCharts(ctx context.Context, x rows.Data, r *Result, unit float64, o Options) (*Geometry, error) {
	latent := core.LatentOf(d.prepared.Method)
	g := d.newGeometry(x)
	if latent == x.D {
		return g, nil // no direction to be off the surface in
	}
	if d.cells != nil {
		return g, d.cells.describe(ctx, g, x, r, unit, o)
	}
	noise := make([]float64, x.N)
	workers := make([]*surveyor, par.Threads(o.Threads))
	source := sync.OnceValue(func() *chart.Source { return chart.NewSource(d.prepared.Cloud.Data, d.prepared.Cloud.X, nil) })
	blocks := (x.N + core.RowsAtATime - 1) / core.RowsAtATime
	bar := core.Progress{Report: o.Progress, Total: blocks}
	par.Do(len(workers), blocks, func(w, b int) {
		if ctx.Err() != nil {
			return
		}
		if workers[w] == nil {
			workers[w] = d.newSurveyor(source)
		}
		for i := b * core.RowsAtATime; i < min((b+1)*core.RowsAtATime, x.N); i++ {
			noise[i] = workers[w].row(g, i, x.Row(i), r, unit)
		}
		bar.Add(1)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.score(noise, r)
	return g, nil
}

// score divides distances by the noise at each row, or by the median noise if that at the row is unknown.
func (g *Geometry) score(noise []float64, r *Result) {
	var known []float64
	for i, v := range noise {
		if v > 0 && !r.Rows[i].Unchanged {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		clear(g.Score)
		return
	}
	middle := core.Median(known)
	for i, v := range noise {
		if !(v > 0) {
			v = middle
		}
		g.Score[i] = min(g.Score[i]/v, math.MaxFloat64)
	}
}

// rescale converts a description of rows divided by unit to that of the rows themselves.
func (g *Geometry) rescale(unit float64) {
	for i := range g.Curvature {
		g.Curvature[i] /= unit
		g.Error[i] *= unit
	}
	for i := range g.Principal {
		g.Principal[i] /= unit
	}
}
