package principal

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

const (
	// WideColumns is the number of columns from which on rows are denoised in the coordinates of their principal
	// axes.
	WideColumns = 10
	// startAxes is the number of axes that are computed first.
	startAxes = 16
	// PlaneRows bounds the rows from which axes are computed. With cells, these rows are on one machine.
	PlaneRows = 1 << 16
	// fence is the distance of outliers from the plane above its median, in standard deviations estimated by the
	// median deviation. It is large because deviations from the plane need not be noise alone.
	fence = 5
)

// Plane is the mean and the significant principal axes of rows with many columns. The surface is near it; most of the
// noise is normal to it.
type Plane struct {
	D, R   int
	Centre []float64 // D
	Axes   []float64 // r x D, orthonormal
	Gain   []float64 // r: shrinkage factors of the coordinates for a purely linear model
	Noise  float64   // standard deviation in each direction
	// Reach is a distance from the plane that noise alone rarely exceeds.
	Reach float64
	// quiet is the noise if rows have a texture that the axes miss, otherwise 0.
	quiet float64
	// empty reports that no axis exceeds the noise, and that the axes are only there because the method requires
	// them.
	empty bool
}

// PlaneSample returns the rows from which axes are computed: distinct rows of positive weight.
func PlaneSample(x rows.Data) rows.Data {
	x = usedRows(x)
	if x.N <= PlaneRows {
		return x
	}
	list := make([]int, PlaneRows)
	for k := range list {
		list[k] = core.SomeRow(k, x.N, PlaneRows)
	}
	return x.Select(list)
}

// usedRows returns the distinct rows of positive weight.
func usedRows(x rows.Data) rows.Data {
	x = rows.Distinct(x)
	if x.Weights == nil {
		return x
	}
	return x.Select(positive(x.Weights))
}

// positive lists the rows of positive weight.
func positive(weights []float64) []int {
	var list []int
	for i, w := range weights {
		if w > 0 {
			list = append(list, i)
		}
	}
	return list
}

// Search defines the plane to be found.
type Search struct {
	// Latent is the largest dimension of the surface. Given is the number of axes, 0 for a choice by the rows.
	Latent, Given int
	// Linear requests the axes of a linear model without charts, Compared those of one to compare charts with.
	Linear, Compared bool
	// Textured allows such a model to replace charts if rows have a texture.
	Textured bool
	Threads  int
}

// Find returns the plane of distinct rows of positive weight, nil if the rows are not near a plane. It also returns
// the linear model to compare charts with, tested on the given number of rows, nil if there is none.
func (s Search) Find(ctx context.Context, x rows.Data, judged int) (*Plane, *Linear, error) {
	p, err := s.plane(ctx, x)
	if err != nil || !s.Compared {
		return p, nil, err
	}
	if p != nil { // what outliers cost says nothing of either model
		x = p.near(x, s.Threads)
	}
	l, err := findLinear(ctx, x, p, s, judged)
	return p, l, err
}

func (s Search) plane(ctx context.Context, x rows.Data) (*Plane, error) {
	if x.N < 2 {
		return nil, nil
	}
	held, err := reservePlane(x)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	f := planeFit{ctx: ctx, x: x, threads: s.Threads, least: s.Latent + 1, given: max(s.Given, 0), linear: s.Linear, texture: s.Linear || s.Textured}
	if f.most = x.D * 4 / 5; s.Linear {
		f.most, f.least = x.D, 1
	}
	return f.find()
}

func reservePlane(x rows.Data) (*memory.Reservation, error) {
	k := min(4*startAxes, x.D)
	numbers := rows.ComponentsSize(x.N, x.D, k) + float64(x.N)*(2*float64(x.D)+4*float64(k)+8)
	return core.Footprint{}.Reserve(PCA{}, x, numbers)
}

// planeFit holds the state of the search for a plane.
type planeFit struct {
	ctx         context.Context
	x           rows.Data
	threads     int
	least, most int  // axes
	given       int  // 0 for a choice by the rows
	linear      bool // the axes are all, for a model without charts
	texture     bool // a model without charts may take the place of these
}

// find computes the axes. It first uses some rows, each weighted only by its direction from the centre, and then all
// but the outliers.
func (f *planeFit) find() (*Plane, error) {
	some := f.x
	if some.N > mostRows {
		list := make([]int, mostRows)
		for k := range list {
			list[k] = core.SomeRow(k, some.N, mostRows)
		}
		some = some.Select(list)
	}
	p, err := f.axes(byDirection(some))
	if err != nil {
		return nil, err
	}
	var kept []float64
	for range 4 { // without the outliers that the last axes show
		if p == nil { // no axes but for outliers, or none at all
			if kept != nil {
				return nil, nil
			}
			p = &Plane{D: f.x.D, Centre: rows.GeometricMedian(some)}
		}
		next := f.within(p)
		if kept != nil && slices.Equal(kept, next) {
			break
		}
		kept = next
		all := f.x
		all.Weights = kept
		if p, err = f.axes(all); err != nil {
			return nil, err
		}
	}
	if p == nil {
		return nil, nil
	}
	if f.given == 0 && f.texture {
		if p.findTexture(f, kept); p.quiet > 0 {
			return f.textured(p, kept)
		}
	}
	if f.given == 0 && !f.linear {
		if err := f.addWeak(p, kept); err != nil {
			return nil, err
		}
		p.empty = p.empty && p.R == f.least
	}
	if f.given == 0 && p.R > f.most || p.R < f.least {
		return nil, nil
	}
	return p, nil
}

// byDirection weighs rows by the inverse square of their distance from the geometric median.
//
// Source: N. Locantore et al., Robust principal component analysis for functional data, Test
// 8 (1999).
func byDirection(x rows.Data) rows.Data {
	centre := rows.GeometricMedian(x)
	far := make([]float64, x.N)
	for i := range far {
		far[i] = rows.Distance(x.Row(i), centre)
	}
	middle := dense.Select(slices.Clone(far), x.N/2)
	w := make([]float64, x.N)
	for i, v := range far {
		if middle > 0 {
			v = max(v/middle, 1e-3)
		} else {
			v = 1
		}
		w[i] = x.Weight(i) / (v * v)
	}
	x.Weights = w
	return x
}

// axes finds the axes of weighted rows that exceed the noise, or the requested ones. It returns nil if there are too
// many.
func (f *planeFit) axes(x rows.Data) (*Plane, error) {
	most := min(f.most+1, x.D, x.N)
	if f.given > 0 {
		most = min(f.given+1, x.D)
	}
	for k := min(max(startAxes, f.least+1, f.given+1), most); ; k = min(2*k, most) {
		pc, err := rows.PrincipalComponents(f.ctx, x, k, f.threads)
		if err != nil {
			return nil, err
		}
		p := &Plane{D: x.D, R: k, Centre: pc.Mean, Axes: pc.Axes}
		values, total, n := p.spread(x, f.threads)
		rank, variance, ok := noiseRank(values, total, n, x.D)
		if f.given > 0 {
			rank, ok = f.given, true
			left := total
			for _, v := range values[:min(rank, len(values))] {
				left -= v
			}
			variance = max(left, 0) / float64(max(x.D-rank, 1))
		}
		switch {
		case ok:
			p.take(min(max(rank, f.least), k), values, variance, n)
			p.empty = rank == 0
			return p, nil
		case k == most && f.linear: // a linear model takes what there is
			p.take(k, values, 0, n)
			return p, nil
		case k == most:
			return nil, nil
		}
	}
}

// take keeps the first axes and sets the variance of the noise.
func (p *Plane) take(rank int, values []float64, variance, n float64) {
	p.R, p.Axes = rank, p.Axes[:rank*p.D]
	p.Noise = math.Sqrt(variance)
	p.Gain = make([]float64, rank)
	for a := range p.Gain {
		p.Gain[a] = 1
		if variance > 0 {
			p.Gain[a] = axisGain(values[a]/variance, n, p.D)
		}
	}
	p.Reach = p.Noise * p.tail(1-core.TukeyTail)
}

// tail returns a quantile of the distance from the plane of a row with noise of unit variance.
func (p *Plane) tail(at float64) float64 {
	if p.R == p.D {
		return 0
	}
	return math.Sqrt(distuv.ChiSquared{K: float64(p.D - p.R)}.Quantile(at))
}

// effective is the number of equally weighted rows that weighted rows are worth, minus one for their mean.
func effective(x rows.Data) float64 {
	var sum, square float64
	for i := range x.N {
		w := x.Weight(i)
		sum += w
		square += w * w
	}
	return max(sum*sum/square-1, 1)
}

// spread returns the mean squares along the axes and in all directions, and the equivalent number of rows of equal
// noise, minus one. If some rows have more noise than others, chance directions vary more, as with fewer rows. The
// squares normal to the plane show this; for equal noise their mean square has the factor 1+2/q.
func (p *Plane) spread(x rows.Data, threads int) (values []float64, total, n float64) {
	z, off := p.Coordinates(x, threads)
	values = make([]float64, p.R)
	var sum, squares float64
	for i := range x.N {
		w := x.Weight(i)
		for a, v := range z[i*p.R : (i+1)*p.R] {
			values[a] += w * v * v
		}
		noise := w * off[i] * off[i]
		total += noise
		squares += noise * noise
		sum += w
	}
	floats.Scale(1/sum, values)
	if n = effective(x); p.R < p.D && squares > 0 {
		n = min(n, max(total*total/squares*(1+2/float64(p.D-p.R))-1, 1))
	}
	return values, total/sum + floats.Sum(values), n
}

// within returns the weights of the rows, with 0 for outliers.
func (f *planeFit) within(p *Plane) []float64 {
	_, off := p.Coordinates(f.x, f.threads)
	middle := dense.Select(slices.Clone(off), len(off)/2)
	apart := make([]float64, len(off))
	for i, v := range off {
		apart[i] = math.Abs(v - middle)
	}
	bound := middle + fence*1.4826*dense.Select(apart, len(apart)/2)
	if t := p.tail(0.5); t > 0 {
		bound = max(bound, middle/t*p.tail(1-core.TukeyTail))
	}
	w := make([]float64, f.x.N)
	for i, v := range off {
		if v <= bound {
			w[i] = f.x.Weight(i)
		}
	}
	return w
}

// near returns the rows that are not outliers of the plane.
func (p *Plane) near(x rows.Data, threads int) rows.Data {
	f := planeFit{x: x, threads: threads}
	return x.Select(positive(f.within(p)))
}

// Coordinates returns the coordinates of rows along the axes, n x r, and their distances from the plane. The result
// for a row depends only on the row.
func (p *Plane) Coordinates(x rows.Data, threads int) (z, off []float64) {
	z, off = make([]float64, x.N*p.R), make([]float64, x.N)
	p.Each(x.N, threads, func(diff []float64, i int) {
		off[i] = p.split(z[i*p.R:(i+1)*p.R], diff, x.Row(i))
	})
	return z, off
}

// split writes the coordinates of x into z and the remainder of x into diff, and returns the length of the remainder.
func (p *Plane) split(z, diff, x []float64) float64 {
	floats.SubTo(diff, x, p.Centre)
	for a := range z {
		z[a] = dense.Dot(p.axis(a), diff)
	}
	for a, v := range z {
		floats.AddScaled(diff, -v, p.axis(a))
	}
	return math.Sqrt(dense.Dot(diff, diff))
}

func (p *Plane) axis(a int) []float64 { return p.Axes[a*p.D : (a+1)*p.D] }

// Each calls work for every row, in parallel. Each goroutine has one buffer diff.
func (p *Plane) Each(n, threads int, work func(diff []float64, i int)) {
	blocks := (n + core.RowsAtATime - 1) / core.RowsAtATime
	threads = max(min(threads, blocks), 1)
	memory := make([]float64, threads*p.D)
	par.Do(threads, blocks, func(w, b int) {
		for i := b * core.RowsAtATime; i < min((b+1)*core.RowsAtATime, n); i++ {
			work(memory[w*p.D:(w+1)*p.D], i)
		}
	})
}

// back writes the row with the coordinates z on the plane into dst.
func (p *Plane) back(dst, z []float64) {
	copy(dst, p.Centre)
	for a, v := range z {
		floats.AddScaled(dst, v, p.axis(a))
	}
}

// shrinking returns the number of axes that a linear model does not shrink to zero.
func (p *Plane) shrinking() int {
	count := 0
	for _, g := range p.Gain {
		if g > 0 {
			count++
		}
	}
	return count
}

// of returns the coordinates of rows; with a nil plane it returns the rows.
func (p *Plane) of(x rows.Data, threads int) rows.Data {
	if p == nil {
		return x
	}
	z, _ := p.Coordinates(x, threads)
	return rows.Data{N: x.N, D: p.R, X: z, Weights: x.Weights}
}

// SettleSize returns a table of the shape of the coordinates of x, without data.
func (p *Plane) SettleSize(x rows.Data) rows.Data {
	if p == nil {
		return x
	}
	return rows.Data{N: x.N, D: p.R, Weights: x.Weights}
}

// Cloud makes the cloud of the coordinates of rows, or of the rows if the plane is nil. Rows with equal coordinates
// stay different rows. Rows far from the plane are outliers, with weight zero.
func (p *Plane) Cloud(x rows.Data, threads int) (*core.Cloud, error) {
	if p == nil {
		return core.CloudOf(x)
	}
	x = rows.Distinct(x)
	z := p.of(x, threads)
	if err := core.CheckRows(z); err != nil {
		return nil, err
	}
	z.Weights = (&planeFit{x: x, threads: threads}).within(p)
	return core.CloudOf(z)
}

// Leave converts a row that has been denoised in coordinates along the axes back to columns. dst is the input row, at
// the distance off from the plane.
func (p *Plane) Leave(dst, on []float64, off float64, row *core.Row) {
	row.Extrapolated = row.Extrapolated || off > max(p.Reach, p.rounding(dst))
	if !row.Unchanged {
		p.back(dst, on)
		row.Residual = math.Hypot(row.Residual, off)
	}
}

// rounding returns a bound of the rounding error of the distance of x from the plane.
func (p *Plane) rounding(x []float64) float64 {
	var most float64
	for j, v := range x {
		most = max(most, math.Abs(v), math.Abs(p.Centre[j]))
	}
	return 1e-12 * most * math.Sqrt(float64(p.D))
}

// Check returns an error unless the arrays are those of a plane, which may come from another machine.
func (p *Plane) Check() error {
	if p.R < 1 || p.R > p.D || len(p.Centre) != p.D || len(p.Axes) != p.R*p.D || len(p.Gain) != p.R {
		return fmt.Errorf("denoise: %d numbers for %d principal axes of rows of %d columns: %w", len(p.Axes), p.R, p.D, core.ErrInput)
	}
	return nil
}
