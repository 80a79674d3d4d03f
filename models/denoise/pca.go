package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// PCA takes rows to the plane of their principal axes, and shrinks the coordinates
// there as noise of equal variance in all directions asks for: no surface but a linear
// model of all rows. Its axes are those of Options, or those that are more than noise.
//
// Source: M. Gavish, D. Donoho, Optimal shrinkage of singular values, IEEE Transactions
// on Information Theory 63 (2017).
type PCA struct {
	plane *plane
	// instead is the dimension of the charts that would have been, 0 where it was asked for.
	instead int
	// neighbors is the number of nearest rows whose components are taken, 0 all, and signal what
	// [localLinear] has of all rows.
	neighbors int
	signal    []float64
}

// method is the linear model in place of charts of dimension d, without its plane.
func (l *linearModel) method(d int) PCA {
	return PCA{instead: d, neighbors: l.neighbors, signal: l.signal}
}

// dimension is that of the charts which the model replaces, or else the number of axes.
func (m PCA) dimension() int {
	if m.instead > 0 || m.plane == nil {
		return m.instead
	}
	return max(m.plane.shrinking(), 1)
}

// Name returns "pca".
func (PCA) Name() string { return "pca" }

// Size returns the number of neighbours by which results are judged.
func (PCA) Size(n, _ int) (int, error) {
	if n < 2 {
		return 0, fmt.Errorf("denoise: pca: %d rows are too few for a principal axis; want at least 2: %w", n, ErrInput)
	}
	return min(DefaultNeighbors, n), nil
}

// Prepare has nothing to do: [Fit] finds the axes.
func (m PCA) Prepare(_ context.Context, c *Cloud, _ Options) (Fitted, error) {
	if m.plane == nil {
		return nil, fmt.Errorf("denoise: pca: rows without a principal axis: %w", ErrInput)
	}
	if m.neighbors > 0 {
		return m.nearRows(c, lookup.NewIndex(m.plane.shrunk(c.Data), c.D, c.used)), nil
	}
	return &shrunk{m.plane, c.rows()}, nil
}

// shrunk is rows of coordinates along principal axes, which are shrunk.
type shrunk struct {
	plane *plane
	n     int
}

// Worker returns the same for all.
func (f *shrunk) Worker(context.Context) (Worker, error) { return f, nil }

// Place implements Worker.
func (f *shrunk) Place(_ *Neighborhood, about *Row) error {
	about.Neighbors, about.Noise = f.n, f.plane.noise
	return nil
}

// Project implements Worker.
func (f *shrunk) Project(dst, z []float64) error {
	f.plane.shrink(dst, z)
	return nil
}

// describeLinear describes a linear model: it is nowhere curved, and the standard error is that of
// rows shrunk alike.
func (d *Denoiser) describeLinear(x rows.Data, o Options) *Geometry {
	g := &Geometry{Curvature: make([]float64, x.N), Error: make([]float64, x.N), Score: make([]float64, x.N)}
	p, n := d.plane, float64(d.cloud.rows())
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
