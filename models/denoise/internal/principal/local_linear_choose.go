package principal

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

const (
	// localAxes is the number of axes of linear models of near rows if there are more columns. If more axes are
	// known to be signal, up to twice as many are used.
	localAxes = 64
	// mostRows bounds the number of nearest rows, and the rows by which outliers are found first, weak axes
	// looked for and directions off the plane compared.
	mostRows = 1000
	// localSample bounds the rows on which numbers of nearest rows are compared: half as many serve to estimate the noise,
	// and four times as many to decide what is not significant.
	localSample = 120
	// quiet is the quantile, over rows or columns, that estimates the least noise.
	quiet = 0.1
)

// Linear is the best linear model, of all rows or of the nearest rows.
type Linear struct {
	Plane     *Plane
	neighbors int       // 0 is all rows, by the gains of the plane
	signal    []float64 // variances along the axes without the noise, for models of the nearest rows
	Noise     float64
	Risk      float64 // mean squared error, estimated
	// Off is the mean squared error of dropping the directions off the axes of the charts.
	Off float64
	// Bent is a lower bound of the mean squared error of charts of dimension d, estimated in neighbourhoods.
	Bent float64
	// empty reports that no axis exceeds the noise, so that charts have nothing to fit.
	empty bool
}

// linearSearch holds the state of findLinear.
type linearSearch struct {
	ctx     context.Context
	x       rows.Data
	threads int
	judged  int    // rows that charts are judged on
	wide    *Plane // with all candidate axes
	// even reports that the deviations of rows from the plane wide are uniform in direction, as noise is.
	even bool
	// variance is the variance of the noise: of wide, or less if the columns show less. The gains of the nearest rows use the noise of
	// wide, which suits few rows better.
	variance float64
	off      []float64
	kept     []float64   // weights of rows, 0 for those far from the plane
	cloud    *core.Cloud // coordinates along the axes of wide
	some     []int
}

// findLinear returns the linear model of least estimated risk for distinct rows of positive weight. The plane p,
// nil if it has too many axes, is the model of all rows. findLinear returns nil if there are too few rows, or no
// noise.
func findLinear(ctx context.Context, x rows.Data, p *Plane, s Search, judged int) (*Linear, error) {
	if x.N < 2*2*localPrior {
		return nil, nil
	}
	f := &linearSearch{ctx: ctx, x: x, threads: s.Threads, judged: judged}
	held, err := f.reserve()
	if err != nil {
		return nil, err
	}
	defer held.Release()
	if err := f.findAxes(p); err != nil || f.wide == nil {
		return nil, err
	}
	if !(f.wide.Noise > 0) {
		return nil, nil
	}
	return f.choose(p, s.Latent)
}

// findAxes computes the principal axes and the variance of the noise.
func (f *linearSearch) findAxes(p *Plane) error {
	if p != nil {
		f.kept = (&planeFit{x: f.x, threads: f.threads}).within(p)
		if f.even = p.evenDirections(&planeFit{x: f.x}, positive(f.kept), nil); f.even {
			f.takePlane(p)
			return nil
		}
	}
	r := localAxes
	if p != nil {
		r = max(r, min(p.R, 2*localAxes))
	}
	find := planeFit{ctx: f.ctx, x: f.x, threads: f.threads, least: 1, most: f.x.D, linear: true, given: min(r, f.x.D, f.x.N-1)}
	var err error
	if f.wide, err = find.find(); err != nil || f.wide == nil {
		return err
	}
	f.kept = find.within(f.wide)
	z, off := f.wide.Coordinates(f.x, f.threads)
	f.off = off
	f.cloud = cloudOfAll(rows.Data{N: f.x.N, D: f.wide.R, X: z, Weights: f.x.Weights})
	f.some = f.cloud.Some(localSample)
	values, total, n := f.wide.spread(f.x, f.threads)
	rank, variance, ok := noiseRank(values, total, n, f.x.D)
	if !ok { // all axes are more than noise, and each bounds it
		variance = slices.Min(values)
	}
	if p != nil && p.Noise > 0 {
		variance = min(variance, p.Noise*p.Noise)
	}
	f.wide.take(f.wide.R, values, variance, n)
	if ok { // neighbours are looked up along what is more than noise
		clear(f.wide.Gain[min(max(rank, 1), f.wide.R):])
	}
	if variance = min(variance, f.quiet()); !(variance > chart.Rounding*total) {
		variance = 0
	}
	f.wide.take(f.wide.R, values, variance, n)
	f.variance = f.quietest(p, variance)
	return nil
}

// takePlane sets the plane that all models share. Off this plane all rows are given the mean noise, so that rows with
// more noise do not dominate the comparison of models.
func (f *linearSearch) takePlane(p *Plane) {
	f.wide, f.variance, f.off = p, p.Noise*p.Noise, make([]float64, f.x.N)
	for i := range f.off {
		f.off[i] = p.Noise * math.Sqrt(float64(p.D-p.R))
	}
	f.cloud = cloudOfAll(p.of(f.x, f.threads))
	f.some = f.cloud.Some(localSample)
}

// cloudOfAll returns the cloud of all rows, which have positive weights, without a search for equal rows.
func cloudOfAll(x rows.Data) *core.Cloud {
	c := &core.Cloud{Data: x, Used: make([]int, x.N)}
	for i := range c.Used {
		c.Used[i] = i
	}
	return c
}

func (f *linearSearch) reserve() (*memory.Reservation, error) {
	n, r := float64(f.x.N), float64(min(f.x.D, 2*localAxes))
	worker := 2 * r * (3*r + mostRows)
	return core.Footprint{}.Reserve(PCA{}, f.x, n*(float64(f.x.D)+6*r+2*core.IndexWords)+float64(f.threads)*worker)
}

// quiet estimates the least variance of the noise: a low quantile of the variances in neighbourhoods, the least
// over several sizes. The signal adds to these variances, most of all in large neighbourhoods.
func (f *linearSearch) quiet() float64 {
	least := math.Inf(1)
	near := newLocalLinear(f.wide, f.cloud, 0)
	workers := make([]*linearWorker, f.threads)
	some := f.cloud.Some(localSample / 2)
	for k := len(f.cloud.Used) / 2; k >= 2*localPrior && k >= len(f.cloud.Used)/8; k /= 2 {
		found := make([]float64, len(some))
		par.Do(f.threads, len(some), func(at, i int) {
			if workers[at] == nil {
				workers[at] = near.worker()
			}
			found[i] = workers[at].noiseNear(f, f.cloud.Row(some[i]), min(k, mostRows))
		})
		slices.Sort(found)
		if v := found[int(quiet*float64(len(found)))]; v > 0 {
			least = min(least, v)
		}
	}
	return least
}

// noiseNear estimates the variance of the noise from the k rows nearest to z.
func (w *linearWorker) noiseNear(f *linearSearch, z []float64, k int) float64 {
	r := w.plane.R
	w.plane.shrink(w.at, z)
	found := w.search.Find(w.index, w.at, k)
	w.scaled = dense.Grow(w.scaled, len(found)*r)
	clear(w.mean)
	var off float64
	for _, g := range found {
		floats.Add(w.mean, w.cloud.Row(g.Row))
		off += f.off[g.Row] * f.off[g.Row]
	}
	n := float64(len(found))
	floats.Scale(1/n, w.mean)
	for i, g := range found {
		floats.SubTo(w.scaled[i*r:(i+1)*r], w.cloud.Row(g.Row), w.mean)
	}
	covariance(w.eigen.A, w.scaled[:len(found)*r], r)
	floats.Scale(1/(n-1), w.eigen.A)
	if !w.eigen.Factorize() {
		return math.Inf(1)
	}
	values := slices.Clone(w.eigen.Values)
	slices.Reverse(values)
	_, variance, ok := noiseRank(values, floats.Sum(values)+off/n, n-1, f.x.D)
	if !ok {
		return math.Inf(1)
	}
	return variance
}

// choose compares models on some of the rows.
func (f *linearSearch) choose(p *Plane, latent int) (*Linear, error) {
	if p != nil && p.empty {
		return &Linear{Plane: p, Noise: math.Sqrt(f.variance), empty: true}, nil
	}
	if f.even {
		p = nil
	}
	off, overall := f.overall(p, f.judged) // on as many rows as charts are judged on: with fewer, noise would decide
	moved, err := f.perturb()
	if err != nil || moved == nil {
		return nil, err
	}
	m := &Linear{Plane: f.wide, Noise: math.Sqrt(f.variance), Off: off}
	base, best, err := f.chooseNear(m, moved)
	if err != nil {
		return nil, err
	}
	each := false
	if !f.even {
		if best, each, err = f.takeSpectrum(m, best); err != nil {
			return nil, err
		}
	}
	m.Risk = stat.Mean(best, nil)
	if m.neighbors > 0 {
		m.signal = m.Plane.signal(f.cloud)
	}
	if overall != nil { // charts are compared with its axes and its risk
		_, alike := f.overall(p, len(f.some))
		if !surelyLess(base, alike) {
			// If the noise off the axes of the charts is hardly larger, the models of all rows along these axes and along all candidate axes are about
			// the same.
			if !each && p.Noise < 1.2*m.Noise {
				m.Risk += stat.Mean(overall, nil) - stat.Mean(base, nil)
			}
			if m.neighbors == 0 && !each {
				m.Plane = p
			}
		}
	}
	m.Bent = f.bent(p, latent)
	return m, nil
}

// chooseNear chooses the number of nearest rows, 0 for all, and returns the risk of every row with all and with the
// chosen number. Differences that are not significant are tested again on more rows.
func (f *linearSearch) chooseNear(m *Linear, moved *moved) (base, best []float64, err error) {
	known := f.variance
	f.variance = f.wide.Noise * f.wide.Noise // the noise by which rows are shrunk: less noise would favour too few rows
	base = f.near(0, moved)
	best = base
	n, likeliest, least := len(f.cloud.Used), 0, stat.Mean(base, nil)
	for k := min(n-1, mostRows); k >= 2*localPrior; k /= 2 {
		risk := f.near(k, moved)
		if err := f.ctx.Err(); err != nil {
			return nil, nil, err
		}
		mean := stat.Mean(risk, nil)
		if mean < least {
			likeliest, least = k, mean
		}
		if surelyLess(risk, best) || m.neighbors > 0 && mean < stat.Mean(best, nil) {
			m.neighbors, best = k, risk
		} else if surelyLess(best, risk) {
			break
		}
	}
	if m.neighbors == 0 && likeliest > 0 && least < (1-worthwhile)*stat.Mean(base, nil) {
		f.some = f.cloud.Some(4 * localSample)
		base = f.near(0, moved)
		if best = f.near(likeliest, moved); surelyLess(best, base) {
			m.neighbors = likeliest
		} else {
			best = base
		}
	}
	if known < f.variance {
		f.variance = known
		base = f.near(0, moved)
		if best = base; m.neighbors > 0 {
			best = f.near(m.neighbors, moved)
		}
	}
	return base, best, f.ctx.Err()
}

// worthwhile is the relative decrease of the risk that justifies a larger model.
const worthwhile = 0.01

// surely is the number of standard errors of a significant difference of risks, and of a difference of variances
// that are taken as equal.
const surely = 2

// surelyLess reports whether the paired risks a are less than b, significantly and by more than the fraction
// worthwhile.
func surelyLess(a, b []float64) bool {
	difference := make([]float64, len(a))
	floats.SubTo(difference, b, a)
	mean, deviation := stat.MeanStdDev(difference, nil)
	return mean > max(surely*deviation/math.Sqrt(float64(len(a))), worthwhile*stat.Mean(b, nil))
}

// overall returns the estimated risk of the model of all rows along the axes of p, for a sample of the rows, and the
// cost of dropping the directions off p.
func (f *linearSearch) overall(p *Plane, rows int) (cost float64, risk []float64) {
	if p == nil {
		return 0, nil
	}
	variance := f.variance
	some := f.x.Select(f.cloud.Some(rows))
	z, off := p.Coordinates(some, f.threads)
	fitted := 2 * variance * float64(p.D-p.R) / effective(f.x) // of each axis, as it was fitted to the rows
	risk = make([]float64, some.N)
	for i := range risk {
		cost += (off[i]*off[i] - float64(p.D-p.R)*variance) / float64(some.N)
		risk[i] = off[i]*off[i] - float64(p.D)*variance
		for a, g := range p.Gain {
			v := (1 - g) * z[i*p.R+a]
			risk[i] += v*v + 2*variance*g + fitted*g
			cost += fitted / float64(some.N)
		}
	}
	return cost, risk
}

// moved holds all rows after a perturbation of every entry by eps, up or down, with axes of their own.
type moved struct {
	x     rows.Data
	plane *Plane
	cloud *core.Cloud
	eps   float64
}

func (f *linearSearch) perturb() (*moved, error) {
	// Models of near rows are smooth, and longer steps would add to the noise that they see.
	m := &moved{x: f.x, eps: 0.05 * f.wide.Noise}
	m.x.X = slices.Clone(f.x.X)
	rng := rand.NewPCG(core.PerturbationSeed, 2)
	for k := range m.x.X {
		m.x.X[k] += m.eps * core.RandomSign(rng.Uint64())
	}
	all := m.x
	all.Weights = f.kept
	m.plane = f.wide
	if !f.even {
		find := planeFit{ctx: f.ctx, x: m.x, threads: f.threads, least: 1, most: f.x.D, linear: true, given: f.wide.R}
		var err error
		if m.plane, err = find.axes(all); err != nil || m.plane == nil {
			return nil, err
		}
		m.plane.Noise, m.plane.Gain = f.wide.Noise, f.wide.Gain
	}
	m.cloud = cloudOfAll(m.plane.of(m.x, f.threads))
	return m, nil
}

// near returns the estimated risk, for each row, of the model of the k nearest rows, 0 for all. The divergence is
// the trace of the shrinkage matrix of the row, plus the response to a perturbation of all rows that this matrix
// does not explain.
func (f *linearSearch) near(k int, m *moved) []float64 {
	models := [2]*localLinear{newLocalLinear(f.wide, f.cloud, k), newLocalLinear(m.plane, m.cloud, k)}
	workers := make([]*[2]*linearWorker, f.threads)
	risk := make([]float64, len(f.some))
	par.Do(f.threads, len(f.some), func(at, s int) {
		if f.ctx.Err() != nil {
			return
		}
		if workers[at] == nil {
			workers[at] = &[2]*linearWorker{models[0].worker(), models[1].worker()}
		}
		risk[s] = f.riskOf(f.some[s], k, m, workers[at])
	})
	return risk
}

func (f *linearSearch) riskOf(i, k int, m *moved, workers *[2]*linearWorker) float64 {
	r, variance := f.wide.R, f.variance
	foot, signs, along := make([]float64, r), make([]float64, f.x.D), make([]float64, r)
	floats.SubTo(signs, m.x.Row(i), f.x.Row(i))
	for a := range along {
		along[a] = dense.Dot(f.wide.axis(a), signs)
	}
	w, z := workers[0], f.cloud.Row(i)
	w.project(foot, z, k)
	linear, trace := w.linear(along)
	risk := f.off[i]*f.off[i] - float64(f.x.D)*variance
	moves := -linear - dense.Dot(along, foot)
	for a, v := range z {
		risk += (v - foot[a]) * (v - foot[a])
	}
	workers[1].project(foot, m.cloud.Row(i), k)
	for a, v := range foot {
		moves += v * dense.Dot(m.plane.axis(a), signs)
	}
	for j, s := range signs {
		moves += s * (m.plane.Centre[j] - f.wide.Centre[j])
	}
	return risk + 2*variance*(trace+moves/(m.eps*m.eps))
}

// bent estimates a lower bound of the mean squared error of charts of dimension d. A surface bends within d +
// d(d+1)/2 dimensions; the bound is the mean squared distance of the nearest rows, as few as charts use, from
// their best plane of this dimension, less the noise.
func (f *linearSearch) bent(p *Plane, latent int) float64 {
	if p == nil {
		p = f.wide
	}
	dimensions := chart.Quadratics(latent) - 1
	if p.R <= dimensions {
		return 0
	}
	c := cloudOfAll(p.of(f.x, f.threads))
	k := min(10*chart.Quadratics(latent), len(c.Used)/3)
	some := c.Some(localSample / 2)
	left := make([]float64, len(some))
	spectrum := newLocalLinear(&Plane{D: p.D, R: p.R, Gain: ones(p.R), Noise: f.wide.Noise}, c, k)
	workers := make([]*linearWorker, f.threads)
	par.Do(f.threads, len(some), func(at, i int) {
		if workers[at] == nil {
			workers[at] = spectrum.worker()
		}
		left[i] = workers[at].leftOf(c.Row(some[i]), k, dimensions)
	})
	variance := f.wide.Noise * f.wide.Noise
	return max(stat.Mean(left, nil)-float64(p.R-dimensions)*variance, 0)
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// leftOf returns the mean squared distance of the k rows nearest to z from the plane of their leading principal axes.
func (w *linearWorker) leftOf(z []float64, k, axes int) float64 {
	n := w.gather(z, k)
	if !(n > 2) {
		return 0
	}
	covariance(w.eigen.A, w.scaled, w.plane.R)
	if !w.eigen.Factorize() {
		return 0
	}
	return floats.Sum(w.eigen.Values[:w.plane.R-axes]) * n / (n - 1)
}

// Plain reports whether charts need not be tried, because they are more than twice as far from the rows or have nothing
// to fit.
func (m *Linear) Plain(p *Plane) bool {
	return m.empty || p == nil && m.Bent > m.Risk || p != nil && p.quiet > 0 || m.Bent > 2*m.Risk
}

// Why returns the note that a linear model was used, with its mean squared error and the error of the charts.
func (m *Linear) Why(latent int, least string, charts float64) string {
	if m.empty {
		return "auto: a linear model is better here: no principal axis is more than noise; the method pca was used"
	}
	of := fmt.Sprintf("%d principal axes", m.Plane.shrinking())
	if m.neighbors > 0 {
		of = fmt.Sprintf("principal components of the %d nearest rows", m.neighbors)
	}
	return fmt.Sprintf("auto: a linear model is better here: the mean squared error is about %.3g with %s and %s%.3g with charts of dimension %d; the method pca was used", m.Risk, of, least, charts, latent)
}
