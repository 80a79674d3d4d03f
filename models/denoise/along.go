package denoise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
)

// AllColumns as the Axes of Options keeps all columns.
const AllColumns = -1

// turns tells whether a method gives the same for rows that are turned, as those are
// that are given by coordinates.
func turns(m Method) bool {
	switch m := m.(type) {
	case Auto, LPCA, MLS, SPH, MFIT, QMF, KDE, PCA:
		return true
	case SCQM:
		return m.LossFor == nil && turnsLoss(m.Loss)
	case Select:
		return turns(m.Of)
	case SelectDimension:
		return turns(m.Of)
	}
	return false
}

// mostLatent is the largest dimension that the surface of a method can have.
func mostLatent(m Method) int {
	if _, ok := m.(SelectDimension); ok {
		return mostDimensions
	}
	return latentOf(m)
}

// wantsPlane tells whether rows of so many columns are denoised along principal axes.
func wantsPlane(m Method, D int, o Options) (bool, error) {
	_, linear := m.(PCA)
	least := mostLatent(m) + 1
	switch {
	case o.Axes < AllColumns, o.Axes > D:
		return false, fmt.Errorf("denoise: %d principal axes of rows of %d columns: %w", o.Axes, D, ErrInput)
	case o.Axes > 0 && o.Axes < least && !linear:
		return false, fmt.Errorf("denoise: %d principal axes leave no direction for noise beside a surface of dimension %d; want at least %d: %w", o.Axes, least-1, least, ErrInput)
	case o.Axes > 0 && !turns(m):
		return false, fmt.Errorf("denoise: the loss of the method %s looks at columns, not at principal axes: %w", m.Name(), ErrInput)
	}
	kept := o.Axes == AllColumns && !linear || o.Axes == 0 && (D < wideColumns && !linear || !turns(m))
	return !kept, nil
}

// findPlane returns the plane of the rows of x, nil where all columns are to be kept, and the linear
// model to compare a method with, nil where there is no such choice, both by up to planeRows rows.
func findPlane(ctx context.Context, m Method, x rows.Data, o Options) (*plane, *linearModel, error) {
	wanted, err := wantsPlane(m, x.D, o)
	if err != nil || !wanted {
		return nil, nil, err
	}
	return planeOfSample(ctx, m, planeSample(x), o)
}

// planeOfSample is findPlane by distinct rows of positive weight.
func planeOfSample(ctx context.Context, m Method, x rows.Data, o Options) (*plane, *linearModel, error) {
	_, linear := m.(PCA)
	_, auto := m.(Auto)
	s := Search{Latent: mostLatent(m), Given: o.Axes, Linear: linear, Compared: comparesLinear(m, x.D, o), Textured: auto, Threads: par.Threads(o.Threads)}
	return s.Find(ctx, x, selectionRows)
}

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

// columns is the length of rows.
func (d *Denoiser) columns() int {
	if d.plane != nil {
		return d.plane.D
	}
	return d.prepared.Cloud.D
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
	r, err := d.prepared.denoise(ctx, z, o)
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

// describeWide describes the surface in the coordinates of the plane, and counts the
// distance from that in the scores.
func (d *Denoiser) describeWide(ctx context.Context, x rows.Data, r *Result, unit float64, o Options) (*Geometry, error) {
	p, threads := d.plane, par.Threads(o.Threads)
	if _, linear := d.prepared.Method.(PCA); linear {
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

// describeLinear describes a linear model: it is nowhere curved, and the standard error is that of
// rows shrunk alike.
func (d *Denoiser) describeLinear(x rows.Data, o Options) *Geometry {
	g := &Geometry{Curvature: make([]float64, x.N), Error: make([]float64, x.N), Score: make([]float64, x.N)}
	p, n := d.plane, float64(d.prepared.Cloud.rows())
	_, off := p.coordinates(x, par.Threads(o.Threads))
	for i, v := range off {
		g.Error[i] = p.noise * math.Sqrt(min((1+float64(p.r))/n, 1))
		if p.noise > 0 {
			g.Score[i] = min(v/p.noise, math.MaxFloat64)
		}
	}
	return g
}

// flatter is what Auto prepares where a linear model is better.
type flatter struct {
	shrunk
	why string
}

// takeLinear takes the linear model in place of charts of an estimated mean squared error.
func (p *autoPrepare) takeLinear(charts float64) {
	m := p.method
	p.flat = &flatter{shrunk{plane: m.plane}, m.linear.why(m.Latent, "", charts)}
}

// asGood is the part of the risk of charts above which a linear model is no better: the two are
// estimated in ways that differ by a few per cent.
const asGood = 0.95

// linearBetter tells whether the linear model has less risk than the charts that were chosen, and
// how much these have on the rows of the selection, by the noise of that model.
func (p *autoPrepare) linearBetter(best *compared) (charts float64, better bool) {
	linear, s := p.method.linear, p.setting
	s.Scale = linear.noise
	counted := 0.0
	for i, trusted := range best.trusted[0] {
		if trusted > 0 {
			charts += s.riskOf(best.square[0][i], p.q*best.own[0][i]+best.more, p.q)
			counted++
		}
	}
	// The part along the surface, what is no error but noise, and what is off the axes.
	charts = charts/max(counted, 1) + s.Scale*s.Scale*(2*float64(p.method.Latent)-float64(p.D)) + linear.off
	return charts, counted > 0 && linear.risk < asGood*charts
}
