package principal

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// localPrior is the number of rows that the covariance of all rows counts as, relative to that of the nearest rows,
// after scaling to the same trace.
const localPrior = 30

// localLinear moves a row to the mean of the K nearest rows plus its deviation from the mean, shrunk by principal
// components of the nearby rows. The weights w_k, the tricube of the distance, are worth n rows. m and C are the mean
// and covariance of those rows,
//
//	f(x) = m + V g(L) V'(x - m),  V L V' = (n C + p (a S + s^2 I))/(n + p)
//
// S is the covariance of all rows without the noise, and a S has the trace of C without it. g shrinks as Gavish and
// Donoho do for n + p rows. The row itself counts as one of the nearest rows, even if it was not fitted, as it shows
// the direction of its deviation. Distances are those of rows that a model of all rows has denoised.
//
// Sources: M. Lebrun, A. Buades, J.-M. Morel, A nonlocal Bayesian image denoising
// algorithm, SIAM Journal on Imaging Sciences 6 (2013); M. Gavish, D. Donoho, Optimal
// shrinkage of singular values, IEEE Transactions on Information Theory 63 (2017).
type localLinear struct {
	plane     *Plane
	neighbors int
	cloud     *core.Cloud  // coordinates along the axes of the plane
	index     lookup.Index // of these, shrunk
	signal    []float64    // r: variances of all rows without the noise
	size      float64      // sum of signal
}

// NearRows returns the model of the nearest rows, for the coordinates in c and an index of their shrunk values.
func (m PCA) NearRows(c *core.Cloud, in lookup.Index) *localLinear {
	f := &localLinear{plane: m.Plane, neighbors: m.Neighbors, cloud: c, index: in, signal: m.Signal}
	for _, v := range m.Signal {
		f.size += v
	}
	return f
}

// newLocalLinear makes the model. The variances of the signal are those of all rows of c.
func newLocalLinear(p *Plane, c *core.Cloud, neighbors int) *localLinear {
	m := PCA{Plane: p, Neighbors: neighbors, Signal: p.signal(c)}
	return m.NearRows(c, lookup.NewIndex(p.Shrunk(c.Data), c.D, c.Used))
}

// signal returns the variances of the rows of c along the axes, less that of the noise.
func (p *Plane) signal(c *core.Cloud) []float64 {
	signal := make([]float64, p.R)
	var sum float64
	for _, i := range c.Used {
		w := c.Weight(i)
		for a, v := range c.Row(i) {
			signal[a] += w * v * v
		}
		sum += w
	}
	for a := range signal {
		signal[a] = max(signal[a]/sum-p.Noise*p.Noise, 0)
	}
	return signal
}

// Shrunk returns coordinates, each shrunk by the model of all rows.
func (p *Plane) Shrunk(z rows.Data) []float64 {
	v := make([]float64, len(z.X))
	for i := range z.N {
		p.shrink(v[i*p.R:(i+1)*p.R], z.Row(i))
	}
	return v
}

// shrink writes the coordinates z, shrunk by the model of all rows, into dst.
func (p *Plane) shrink(dst, z []float64) {
	for a, v := range z {
		dst[a] = p.Gain[a] * v
	}
}

// Worker implements Fitted.
func (f *localLinear) Worker(context.Context) (core.Worker, error) { return f.worker(), nil }

func (f *localLinear) worker() *linearWorker {
	r := f.plane.R
	return &linearWorker{
		localLinear: f, at: make([]float64, r), mean: make([]float64, r), off: make([]float64, r), gain: make([]float64, r),
		eigen: dense.NewSymmetricEigen(r),
	}
}

type linearWorker struct {
	*localLinear
	search          lookup.Search
	at, mean, off   []float64 // r
	weights, scaled []float64 // K, K x r
	gain            []float64 // r: by which the last row was shrunk
	alone           bool      // as the model of all rows does
	eigen           *dense.SymmetricEigen
}

// Place implements Worker.
func (w *linearWorker) Place(_ *core.Neighborhood, about *core.Row) error {
	about.Neighbors, about.Noise = min(w.neighbors, w.cloud.Count()), w.plane.Noise
	return nil
}

// Project implements Worker.
func (w *linearWorker) Project(dst, z []float64) error {
	w.project(dst, z, w.neighbors)
	return nil
}

// project writes f(z) for the K nearest rows into dst. If these do not determine it, it writes the row shrunk by the
// model of all rows.
func (w *linearWorker) project(dst, z []float64, neighbors int) {
	n := 0.0
	if neighbors > 0 {
		n = w.gather(z, neighbors)
	}
	if w.alone = !(n > 2) || !w.factorize(n); w.alone {
		copy(w.gain, w.plane.Gain)
		w.plane.shrink(dst, z)
		return
	}
	variance := w.plane.Noise * w.plane.Noise
	for a, v := range w.eigen.Values {
		w.gain[a] = axisGain(v/variance, n+localPrior-1, w.plane.R)
	}
	floats.SubTo(w.off, z, w.mean)
	w.turn(w.off)
	for a, g := range w.gain {
		w.at[a] *= g
	}
	r := w.plane.R
	for b := range dst {
		dst[b] = w.mean[b] + dense.Dot(w.eigen.A[b*r:(b+1)*r], w.at)
	}
}

// turn stores the components of v along the axes of the last row in at.
func (w *linearWorker) turn(v []float64) {
	if w.alone {
		copy(w.at, v)
		return
	}
	clear(w.at)
	for b, u := range v {
		floats.AddScaled(w.at, u, w.eigen.A[b*w.plane.R:(b+1)*w.plane.R])
	}
}

// linear returns v'Wv and the trace of W, for the matrix W that shrank the last row.
func (w *linearWorker) linear(v []float64) (square, trace float64) {
	w.turn(v)
	for a, g := range w.gain {
		square += g * w.at[a] * w.at[a]
		trace += g
	}
	return square, trace
}

// gather stores the weighted mean of the nearest rows, and their deviations from it times the roots of their weights,
// which sum to 1. It returns the equivalent number of equally weighted rows.
func (w *linearWorker) gather(z []float64, neighbors int) float64 {
	r := w.plane.R
	w.plane.shrink(w.at, z)
	found := w.search.Find(w.index, w.at, neighbors+1)
	h := math.Sqrt(found[len(found)-1].Distance)
	k := len(found) - 1
	w.weights, w.scaled = dense.Grow(w.weights, k+1), dense.Grow(w.scaled, (k+1)*r)
	clear(w.mean)
	var sum, square float64
	for i, f := range found[:k] {
		v := w.cloud.Weight(f.Row) * chart.Tricube(math.Sqrt(f.Distance)/h)
		w.weights[i] = v
		copy(w.scaled[i*r:(i+1)*r], w.cloud.Row(f.Row))
		floats.AddScaled(w.mean, v, w.cloud.Row(f.Row))
		sum += v
		square += v * v
	}
	if found[0].Distance > 0 {
		w.weights[k] = 1
		copy(w.scaled[k*r:(k+1)*r], z)
		floats.Add(w.mean, z)
		sum, square, k = sum+1, square+1, k+1
	}
	if !(sum > 0) {
		return 0
	}
	floats.Scale(1/sum, w.mean)
	for i, v := range w.weights[:k] {
		row := w.scaled[i*r : (i+1)*r]
		floats.Sub(row, w.mean)
		floats.Scale(math.Sqrt(v/sum), row)
	}
	w.scaled = w.scaled[:k*r]
	return sum * sum / square
}

// factorize computes the axes of the covariance of the gathered rows, worth n rows, combined with that of all rows.
func (w *linearWorker) factorize(n float64) bool {
	r, a := w.plane.R, w.eigen.A
	covariance(a, w.scaled, r)
	floats.Scale(n/(n-1), a)
	variance, trace := w.plane.Noise*w.plane.Noise, 0.0
	for i := range r {
		trace += a[i*r+i]
	}
	part := 0.0
	if w.size > 0 {
		part = max(trace-float64(r)*variance, 0) / w.size
	}
	floats.Scale(n/(n+localPrior), a)
	for i, v := range w.signal {
		a[i*r+i] += localPrior / (n + localPrior) * (part*v + variance)
	}
	return w.eigen.Factorize()
}

// covariance writes the upper triangle of the sum of the products of rows of length r
// with themselves into a.
func covariance(a, rows []float64, r int) {
	clear(a)
	for at := 0; at < len(rows); at += r {
		row := rows[at : at+r]
		for i, v := range row {
			if v != 0 {
				floats.AddScaled(a[i*r+i:(i+1)*r], v, row[i:])
			}
		}
	}
}
