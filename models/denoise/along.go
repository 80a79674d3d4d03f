package denoise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// turns reports whether a method commutes with rotations of the rows. Only then may it work on coordinates along
// principal axes.
func turns(m Method) bool {
	switch m := m.(type) {
	case Auto, classic.LPCA, classic.MLS, classic.SPH, classic.MFIT, classic.QMF, classic.KDE, principal.PCA:
		return true
	case classic.SCQM:
		return m.LossFor == nil && turnsLoss(m.Loss)
	case Select:
		return turns(m.Of)
	case SelectDimension:
		return turns(m.Of)
	}
	return false
}

// mostLatent returns the largest dimension of the surface that the method can use.
func mostLatent(m Method) int {
	if _, ok := m.(SelectDimension); ok {
		return mostDimensions
	}
	return core.LatentOf(m)
}

// wantsPlane reports whether rows of D columns are denoised in coordinates along their principal axes.
func wantsPlane(m Method, D int, o Options) (bool, error) {
	_, linear := m.(principal.PCA)
	least := mostLatent(m) + 1
	switch {
	case o.Axes < AllColumns, o.Axes > D:
		return false, fmt.Errorf("denoise: %d principal axes of rows of %d columns: %w", o.Axes, D, ErrInput)
	case o.Axes > 0 && o.Axes < least && !linear:
		return false, fmt.Errorf("denoise: %d principal axes leave no direction for noise beside a surface of dimension %d; want at least %d: %w", o.Axes, least-1, least, ErrInput)
	case o.Axes > 0 && !turns(m):
		return false, fmt.Errorf("denoise: the loss of the method %s looks at columns, not at principal axes: %w", m.Name(), ErrInput)
	}
	kept := o.Axes == AllColumns && !linear || o.Axes == 0 && (D < principal.WideColumns && !linear || !turns(m))
	return !kept, nil
}

// findPlane returns the plane of principal axes of x, or nil to keep all columns. It also returns the linear model to
// compare a method with, nil if there is none. It computes each from up to planeRows rows.
func findPlane(ctx context.Context, m Method, x rows.Data, o Options) (*principal.Plane, *principal.Linear, error) {
	wanted, err := wantsPlane(m, x.D, o)
	if err != nil || !wanted {
		return nil, nil, err
	}
	return planeOfSample(ctx, m, principal.PlaneSample(x), o)
}

// planeOfSample does what findPlane does, but x must be distinct rows of positive weight.
func planeOfSample(ctx context.Context, m Method, x rows.Data, o Options) (*principal.Plane, *principal.Linear, error) {
	_, linear := m.(principal.PCA)
	_, charts := m.(Auto)
	s := principal.Search{Latent: mostLatent(m), Given: o.Axes, Linear: linear, Compared: comparesLinear(m, x.D, o), Textured: charts, Threads: par.Threads(o.Threads)}
	return s.Find(ctx, x, auto.MostPlaces)
}

// turnsLoss reports whether a loss is invariant under rotations of the residuals.
func turnsLoss(l framework.Loss) bool {
	_, sized := l.(rowloss.Dimensioned)
	return l == nil || !sized && rowloss.StructureOf(l) == rowloss.StructureRadial
}

// onPlane returns the method for coordinates in the plane p, if the method supports this. The method compares its
// charts with the linear model l, unless l is nil.
func onPlane(m Method, p *principal.Plane, l *principal.Linear) Method {
	switch m := m.(type) {
	case Auto:
		return m.OnPlane(p, l)
	case principal.PCA:
		m.Plane = p
		return m
	case SelectDimension:
		m.Of = onPlane(m.Of, p, l)
		return m
	}
	return m
}

// comparesLinear reports whether a method for rows of D columns is compared with a linear model.
func comparesLinear(m Method, D int, o Options) bool {
	if s, ok := m.(SelectDimension); ok {
		m = s.Of
	}
	_, charts := m.(Auto)
	return charts && o.Axes == 0 && D >= principal.WideColumns
}

// columns returns the number of columns of the fitted rows.
func (d *Denoiser) columns() int {
	if d.plane != nil {
		return d.plane.D
	}
	return d.prepared.Cloud.D
}

// Axes returns the number of principal axes in whose coordinates charts are made, 0 if charts are made in the columns
// themselves.
func (d *Denoiser) Axes() int {
	if d.plane == nil {
		return 0
	}
	return d.plane.R
}

// denoiseWide denoises rows in coordinates along the axes, and converts the results back to columns.
func (d *Denoiser) denoiseWide(ctx context.Context, x rows.Data, o Options) (*Result, error) {
	p, threads := d.plane, par.Threads(o.Threads)
	z := rows.Data{N: x.N, D: p.R}
	var off []float64
	z.X, off = p.Coordinates(x, threads)
	r, err := d.prepared.Denoise(ctx, z, o)
	if r == nil {
		return nil, err
	}
	on := r.X
	r.X = slices.Clone(x.X)
	p.Each(x.N, threads, func(_ []float64, i int) {
		p.Leave(r.X[i*x.D:(i+1)*x.D], on[i*p.R:(i+1)*p.R], off[i], &r.Rows[i])
	})
	return r, err
}

// describeWide describes the surface in the coordinates of the plane, and includes the distance from the plane in the
// scores.
func (d *Denoiser) describeWide(ctx context.Context, x rows.Data, r *Result, unit float64, o Options) (*Geometry, error) {
	p, threads := d.plane, par.Threads(o.Threads)
	if _, linear := d.prepared.Method.(principal.PCA); linear {
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
		z = rows.Data{N: x.N, D: p.R}
		z.X, off = p.Coordinates(full, threads)
		return z, off
	}
	z, off := of(x.X)
	on, _ := of(r.X)
	flat := &Result{X: on.X, Rows: slices.Clone(r.Rows)}
	for i := range flat.Rows {
		flat.Rows[i].Residual /= unit
	}
	g, err := d.describeCharts(ctx, z, flat, 1, o)
	if err != nil || !(p.Noise > 0) {
		return g, err
	}
	for i, v := range off {
		g.Score[i] = min(math.Hypot(g.Score[i], v/p.Noise), math.MaxFloat64)
	}
	return g, nil
}

// describeLinear describes a linear model. It has no curvature, and its standard error is that of rows shrunk alike.
func (d *Denoiser) describeLinear(x rows.Data, o Options) *Geometry {
	g := &Geometry{Curvature: make([]float64, x.N), Error: make([]float64, x.N), Score: make([]float64, x.N)}
	p, n := d.plane, float64(d.prepared.Cloud.Count())
	_, off := p.Coordinates(x, par.Threads(o.Threads))
	for i, v := range off {
		g.Error[i] = p.Noise * math.Sqrt(min((1+float64(p.R))/n, 1))
		if p.Noise > 0 {
			g.Score[i] = min(v/p.Noise, math.MaxFloat64)
		}
	}
	return g
}
