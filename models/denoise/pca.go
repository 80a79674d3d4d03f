package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/internal/par"
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
	for a, v := range z {
		dst[a] = f.plane.gain[a] * v
	}
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

// takeLinear takes the linear model in place of charts, by the estimated risks of both.
func (p *autoPrepare) takeLinear(linear, charts float64) {
	flat := p.method.plane
	p.flat = &flatter{shrunk{plane: flat}, fmt.Sprintf("auto: a linear model is better here: the mean squared error is about %.3g with %d principal axes and %.3g with charts of dimension %d; the method pca was used", linear, flat.shrinking(), charts, p.method.Latent)}
}

// linearBetter tells whether the plane, its coordinates shrunk, has less risk than the
// charts that were chosen, and how much of it, on the rows of the selection. Both are
// judged by the noise off the plane.
func (p *autoPrepare) linearBetter(best *compared, z []float64) (linear, charts float64, better bool) {
	flat, s := p.method.plane, p.setting
	s.scale = flat.noise
	var divergence float64
	for _, g := range flat.gain {
		divergence += g
	}
	divergence -= float64(p.method.Latent)
	counted := 0.0
	for i, trusted := range best.trusted[0] {
		if trusted == 0 {
			continue
		}
		var square float64
		for a, v := range z[i*p.D : (i+1)*p.D] {
			square += (1 - flat.gain[a]) * (1 - flat.gain[a]) * v * v
		}
		linear += s.riskOf(square, divergence, p.q)
		charts += s.riskOf(best.square[0][i], p.q*best.own[0][i]+best.more, p.q)
		counted++
	}
	// The part along the surface, and what is no error but noise.
	same := flat.noise * flat.noise * (2*float64(p.method.Latent) - float64(p.D))
	linear, charts = linear/max(counted, 1)+same, charts/max(counted, 1)+same
	return linear, charts, counted > 0 && linear < charts
}
