package classic

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// APSS is the algebraic point set surface. It fits a sphere, possibly a plane, to the rows with normals around a
// point, projects the row onto the sphere, and repeats this around the projection. The normals are those of robust
// local planes. Each neighbourhood chooses their sides by the majority, so that no orientation is propagated from row
// to row. Tukey weights, scaled by the median residual of the neighbours, exclude outliers.
//
// Source: G. Guennebaud, M. Gross, Algebraic point set surfaces, ACM Transactions on
// Graphics 26 (2007), with its fit to normals.
type APSS struct {
	// Latent is d, the dimension of the surface, which must be D-1.
	Latent int
	// Neighbors is K, at least D+2; 0 stands for 100. The support reaches to the first row that is not a neighbour.
	// ByName uses [Select] to choose K.
	Neighbors int
}

// settledPlace is the step length, in units of the neighbourhood radius, at which the iteration ends.
const settledPlace = 1e-6

// oneDirection holds the distances of rows with Gaussian noise from a surface.
var oneDirection = core.NewQuantiles(1)

// Name returns "apss".
func (APSS) Name() string { return "apss" }

// Size returns the number of neighbours.
func (m APSS) Size(n, D int) (int, error) {
	if m.Latent == D {
		return 0, core.NoDirection(m, D)
	}
	if m.Latent != D-1 && m.Latent >= 1 {
		return 0, fmt.Errorf("denoise: apss: spheres around rows of length %d are surfaces of dimension %d, not %d; the method auto or mls takes any: %w", D, D-1, m.Latent, core.ErrInput)
	}
	k := m.Neighbors
	if k == 0 {
		k = 100
	}
	return core.SettleSize(m, m.Latent, D, k, n, D+2)
}

// Prepare finds the normals of all rows.
func (m APSS) Prepare(ctx context.Context, c *core.Cloud, o core.Options) (core.Fitted, error) {
	K, err := m.Size(c.Count(), c.D)
	if err != nil {
		return nil, err
	}
	f := &apssFit{cloud: c, K: K, normals: make([]float64, len(c.X))}
	near := min(max(16, K/2), len(c.Used))
	workers := make([]*planeWorker, par.Threads(o.Threads))
	blocks := (len(c.Used) + core.RowsAtATime - 1) / core.RowsAtATime
	bar := core.Progress{Report: o.Progress, Total: blocks}
	par.Do(len(workers), blocks, func(w, b int) {
		if ctx.Err() != nil {
			return
		}
		if workers[w] == nil {
			workers[w] = &planeWorker{frame: chart.NewFrame(c.D, c.D-1)}
		}
		for _, i := range c.Used[b*core.RowsAtATime : min((b+1)*core.RowsAtATime, len(c.Used))] {
			workers[w].normal(f.normals[i*c.D:(i+1)*c.D], c, i, near)
		}
		bar.Add(1)
	})
	return f, ctx.Err()
}

// planeWorker is the memory of one goroutine that finds normals.
type planeWorker struct {
	frame     *chart.Frame
	neighbors core.Neighborhood
	search    lookup.Search
	weights   []float64
	far, all  []float64
}

// normal writes the normal of a plane fitted to the k rows nearest to row i, with two updates of Tukey weights. The
// normal stays 0 if there is no plane.
func (w *planeWorker) normal(dst []float64, c *core.Cloud, i, k int) {
	h := &w.neighbors
	h.At(c, &w.search, c.Row(i), k)
	w.weights = append(w.weights[:0], h.Weights...)
	for round := range 3 {
		if !w.frame.Find(h.Rows, w.weights) {
			return
		}
		chart.Complement(dst, w.frame.Axes)
		if round == 2 {
			return
		}
		w.far = w.far[:0]
		for k := range h.N() {
			floats.SubTo(w.frame.Diff, h.Row(k), w.frame.Mean)
			w.far = append(w.far, math.Abs(dense.Dot(w.frame.Diff, dst)))
		}
		w.reweight(h)
	}
}

// reweight computes Tukey weights from the residuals in far, scaled by their median. It reorders far.
func (w *planeWorker) reweight(h *core.Neighborhood) {
	w.all = append(w.all[:0], w.far...)
	cut := oneDirection.Cut * max(dense.Select(w.far, len(w.far)/2)/oneDirection.Median, core.Exact*h.Next)
	for k, v := range w.all {
		w.weights[k] = h.Weights[k] * chart.Tukey(v*v/(cut*cut))
	}
}

// apssFit holds the normals of the rows of a cloud.
type apssFit struct {
	cloud   *core.Cloud
	K       int
	normals []float64
}

// Worker returns a worker with a sphere of its own.
func (f *apssFit) Worker(context.Context) (core.Worker, error) {
	D := f.cloud.D
	p := chart.Quadratics(D - 1)
	vec := func() []float64 { return make([]float64, D) }
	return &apssWorker{apssFit: f, eigen: dense.NewSymmetricEigen(D), place: vec(), next: vec(), side: vec(), linear: vec(), mean: vec(), diff: vec(),
		bend: chart.NewRegression(p, 1), t: vec()[:D-1], psi: make([]float64, p), coefficients: make([]float64, p)}, nil
}

// apssWorker fits spheres u0 + linear'v + square |v|^2 = 0 in coordinates v relative to a point.
type apssWorker struct {
	*apssFit
	neighbors  core.Neighborhood
	search     lookup.Search
	eigen      *dense.SymmetricEigen
	place      []float64 // D
	next, side []float64 // D
	linear     []float64 // D
	u0, square float64
	mean, diff []float64 // D
	base, used []float64 // K
	far, offs  []float64 // K

	bend         *chart.Regression // of distances on quadratics in tangent coordinates
	t            []float64         // D-1
	psi          []float64         // p
	coefficients []float64         // p

	cut float64
}

// Place alternates between fitting a sphere around a point and projecting the centre on it; the projection is the
// next point.
func (w *apssWorker) Place(h *core.Neighborhood, about *core.Row) error {
	copy(w.place, h.Centre)
	for range 15 {
		if w.neighbors.At(w.cloud, &w.search, w.place, w.K); !w.fit() {
			return core.ErrNoSurface
		}
		if err := w.Project(w.next, h.Centre); err != nil {
			return err
		}
		moved := rows.Distance(w.next, w.place)
		if moved <= settledPlace*w.neighbors.Next {
			break
		}
		w.shift()
		copy(w.place, w.next)
	}
	about.Neighbors, about.Noise = w.neighbors.N(), w.noise()
	return nil
}

// shift rewrites the sphere in coordinates relative to next, the next point.
func (w *apssWorker) shift() {
	floats.SubTo(w.diff, w.next, w.place)
	w.u0 += dense.Dot(w.linear, w.diff) + w.square*dense.Dot(w.diff, w.diff)
	floats.AddScaled(w.linear, 2*w.square, w.diff)
}

// fit fits the sphere to the neighbours of the point, and updates Tukey weights between fits.
func (w *apssWorker) fit() bool {
	h := &w.neighbors
	if !(h.Next > 0) {
		return false
	}
	w.base = w.base[:0]
	for k := range h.N() {
		near := 1 - h.Distance[k]*h.Distance[k]/(h.Next*h.Next)
		w.base = append(w.base, h.Weights[k]*max(near, 0)*max(near, 0)*max(near, 0)*max(near, 0))
	}
	w.used = append(w.used[:0], w.base...)
	if !w.chooseSide() {
		return false
	}
	w.cut = math.Inf(1)
	for step := 0; ; step++ {
		if !w.solve() {
			return false
		}
		if step == chart.RobustSteps {
			return true
		}
		w.reweight()
	}
}

// chooseSide computes the main direction of the normals up to sign, the leading eigenvector of their second
// moments.
func (w *apssWorker) chooseSide() bool {
	clear(w.eigen.A)
	for k, i := range w.neighbors.Index {
		dense.AddOuterProduct(w.eigen.A, w.normals[i*w.cloud.D:(i+1)*w.cloud.D], w.used[k])
	}
	D := w.cloud.D
	if !w.eigen.Factorize() || !(w.eigen.Values[D-1] > 0) {
		return false
	}
	for j := range D {
		w.side[j] = w.eigen.A[j*D+D-1]
	}
	return true
}

// solve computes the sphere for the current weights: its curvature from the change of the normals with position,
// then its linear and constant terms.
func (w *apssWorker) solve() bool {
	D := w.cloud.D
	clear(w.mean)   // of the places
	clear(w.linear) // of the normals
	var total, along, square float64
	for k, i := range w.neighbors.Index {
		f := w.used[k]
		if !(f > 0) {
			continue
		}
		n := w.normals[i*D : (i+1)*D]
		floats.SubTo(w.diff, w.neighbors.Row(k), w.place)
		turn := f
		if dense.Dot(n, w.side) < 0 {
			turn = -f
		}
		floats.AddScaled(w.mean, f, w.diff)
		floats.AddScaled(w.linear, turn, n)
		along += turn * dense.Dot(n, w.diff)
		square += f * dense.Dot(w.diff, w.diff)
		total += f
	}
	spread := square - dense.Dot(w.mean, w.mean)/total
	if !(total > 0) || !(spread > 0) {
		return false
	}
	w.square = (along - dense.Dot(w.mean, w.linear)/total) / (2 * spread)
	floats.AddScaled(w.linear, -2*w.square, w.mean)
	floats.Scale(1/total, w.linear)
	w.u0 = -(dense.Dot(w.linear, w.mean) + w.square*square) / total
	return dense.Dot(w.linear, w.linear) > 0 && !math.IsNaN(w.u0)
}

// off is the signed distance of a row from the sphere.
func (w *apssWorker) off(x []float64) float64 {
	floats.SubTo(w.diff, x, w.place)
	value := w.u0 + dense.Dot(w.linear, w.diff) + w.square*dense.Dot(w.diff, w.diff)
	floats.AddScaledTo(w.diff, w.linear, 2*w.square, w.diff) // the gradient
	slope := math.Sqrt(dense.Dot(w.diff, w.diff))
	// The root of value = slope t + square t^2 that is nearest to 0.
	left := slope*slope - 4*w.square*value
	return 2 * value / (slope + math.Sqrt(max(left, 0)))
}

// reweight computes Tukey weights from the distances to the sphere, scaled by their median.
func (w *apssWorker) reweight() {
	w.far, w.offs = w.far[:0], w.offs[:0]
	for k := range w.neighbors.N() {
		v := w.off(w.neighbors.Row(k))
		w.offs = append(w.offs, v)
		if w.base[k] > 0 {
			w.far = append(w.far, math.Abs(v))
		}
	}
	w.cut = oneDirection.Cut * max(dense.Select(w.far, len(w.far)/2)/oneDirection.Median, core.Exact*w.neighbors.Next)
	for k, v := range w.offs {
		w.used[k] = w.base[k] * chart.Tukey(v*v/(w.cut*w.cut))
	}
}

// noise is the standard deviation of the distances to the sphere after a quadratic regression on the tangent
// coordinates, since the surface need not be a sphere.
func (w *apssWorker) noise() float64 {
	D, p := w.cloud.D, w.bend.P
	psi := func(k int) []float64 {
		floats.SubTo(w.diff, w.neighbors.Row(k), w.place)
		for a := range D - 1 { // the directions that normals agree with least
			w.t[a] = 0
			for j, v := range w.diff {
				w.t[a] += w.eigen.A[j*D+a] * v / w.neighbors.Next
			}
		}
		chart.Quadratic(w.psi, w.t)
		return w.psi
	}
	w.bend.Reset()
	for k, f := range w.used {
		if f > 0 {
			w.next[0] = w.off(w.neighbors.Row(k))
			w.bend.Add(psi(k), w.next[:1], f)
		}
	}
	if !w.bend.Solve(w.coefficients) {
		return 0
	}
	var rest, total, square float64
	for k, f := range w.used {
		if f > 0 {
			v := w.off(w.neighbors.Row(k)) - dense.Dot(w.coefficients, psi(k))
			rest += f * v * v
			total += f
			square += f * f
		}
	}
	return chart.BeforeTukey(chart.SpreadPerDirection(rest, total, square, p, 1), w.cut, 1)
}

// Project writes the point of the last sphere nearest to x into dst.
func (w *apssWorker) Project(dst, x []float64) error {
	floats.SubTo(dst, x, w.place)
	floats.AddScaledTo(w.diff, w.linear, 2*w.square, dst) // the gradient at x
	value := w.u0 + dense.Dot(w.linear, dst) + w.square*dense.Dot(dst, dst)
	slope := math.Sqrt(dense.Dot(w.diff, w.diff))
	if !(slope > 0) {
		return core.ErrNoSurface // the centre of the sphere
	}
	// Along the unit gradient by t: value + slope t + square t^2 = 0.
	left := slope*slope - 4*w.square*value
	if left < 0 || math.Abs(w.square)*w.neighbors.Next < 1e-9*slope { // a plane
		left = slope * slope
	}
	t := -2 * value / (slope + math.Sqrt(left))
	floats.AddScaled(dst, t/slope, w.diff)
	floats.Add(dst, w.place)
	return nil
}

// Keeps records the numbers that a fit holds: a copy of the data.
func (APSS) Keeps(f *core.Footprint) { f.Kept = f.N * f.D }

// Dimension is Latent.
func (m APSS) Dimension() int { return m.Latent }

// Sized implements sized.
func (m APSS) Sized(latent, neighbors int) core.Method {
	m.Latent, m.Neighbors = cmp.Or(latent, m.Latent), cmp.Or(neighbors, m.Neighbors)
	return m
}
