package scqm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxPredictSteps bounds the Newton steps of a row, predictPrecision is the relative length of the last.
	maxPredictSteps  = 40
	predictPrecision = 1e-8
)

// entryPredictor predicts a part B of the entries of a row from the others, A:
//
//	f_B(tau),  tau = argmin |x_A - f_A(tau)|^2 + sum_j sigma^2/v_j (tau_j - t_j)^2,
//
// with sigma^2 the noise in each direction off the sheet and t and v the means
// and variances of the latent coordinates that the sheet was fitted to. Unlike
// the distance of whole rows, the error does not fall with directions that
// follow noise only: noise in A tells nothing about B. Source: S. Wold,
// Cross-validatory estimation of the number of components in factor and
// principal components models, Technometrics 20 (1978); here for rows that were
// held out, too.
//
// A row takes Dm operations, and for each part nm for the start and m^2 d for a Newton step.
type entryPredictor struct {
	f        *sheet.Sheet // with its columns in the order
	order    []int        // of the columns: each part is a run of them
	z        []float64    // n x m: of the rows that were fitted
	tau      []float64    // n x d
	mean, by []float64    // d: t and sigma^2/v
	parts    []entryPart
}

// reorder writes the columns of x in an order into dst.
func reorder(dst, x []float64, order []int) {
	for j, k := range order {
		dst[j] = x[k]
	}
}

// entryPart are columns [lo, hi) to predict; gram is Q_A'Q_A.
type entryPart struct {
	lo, hi int
	gram   []float64 // m x m
	costs  []float64 // n: z'gram z with the penalty, of the rows that were fitted
}

// newEntryPredictor takes a model with its latent coordinates, the order of the columns, and the
// number of parts. noise is sigma.
func newEntryPredictor(m *Model, order []int, parts int, noise float64) *entryPredictor {
	f := m.sheet()
	reorder(f.C, slices.Clone(f.C), order)
	for k := range f.M {
		reorder(f.Axis(k), slices.Clone(f.Axis(k)), order)
	}
	p := &entryPredictor{f: f, order: order, tau: m.Tau, mean: make([]float64, f.Latent), by: make([]float64, f.Latent)}
	n := len(m.Tau) / f.Latent
	codes := make([]float64, n)
	for j := range f.Latent {
		for i := range codes {
			codes[i] = m.Tau[i*f.Latent+j]
		}
		mean, variance := stat.PopMeanVariance(codes, nil)
		p.mean[j] = mean
		if p.by[j] = noise * noise / variance; math.IsNaN(p.by[j]) || math.IsInf(p.by[j], 0) {
			p.by[j] = 0
		}
	}
	p.z = make([]float64, n*f.M)
	phi := make([]float64, f.Q)
	for i := range n {
		f.Coordinates(p.z[i*f.M:(i+1)*f.M], phi, m.Tau[i*f.Latent:(i+1)*f.Latent])
	}
	count := min(parts, f.D)
	for k := range count {
		p.addPart(k*f.D/count, (k+1)*f.D/count)
	}
	return p
}

func (p *entryPredictor) addPart(lo, hi int) {
	f := p.f
	part := entryPart{lo: lo, hi: hi, gram: make([]float64, f.M*f.M), costs: make([]float64, len(p.tau)/f.Latent)}
	for a := range f.M {
		for b := range f.M {
			part.gram[a*f.M+b] = floats.Dot(f.Axis(a), f.Axis(b)) - floats.Dot(f.Axis(a)[lo:hi], f.Axis(b)[lo:hi])
		}
	}
	w := make([]float64, f.M)
	for i := range part.costs {
		z := p.z[i*f.M : (i+1)*f.M]
		part.times(w, z)
		part.costs[i] = floats.Dot(w, z) + p.penalty(z[:f.Latent])
	}
	p.parts = append(p.parts, part)
}

// times writes gram z into dst.
func (g *entryPart) times(dst, z []float64) {
	m := len(z)
	blas64.Gemv(blas.NoTrans, 1, blas64.General{Rows: m, Cols: m, Stride: m, Data: g.gram},
		blas64.Vector{N: m, Inc: 1, Data: z}, 0, blas64.Vector{N: m, Inc: 1, Data: dst})
}

func (p *entryPredictor) penalty(tau []float64) float64 {
	var sum float64
	for j, t := range tau {
		sum += p.by[j] * (t - p.mean[j]) * (t - p.mean[j])
	}
	return sum
}

// addErrors adds for every row of x its distance from its prediction.
func (p *entryPredictor) addErrors(ctx context.Context, dst []float64, x Data, threads int) error {
	shards := par.Shards(x.N)
	par.Do(par.Threads(threads), shards, func(_, shard int) {
		lo, hi := par.Bounds(x.N, shard)
		r := newRowPrediction(p)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			dst[i] += r.distance(x.Row(i))
		}
	})
	return ctx.Err()
}

// rowPrediction holds the buffers of predicting one row.
type rowPrediction struct {
	*entryPredictor
	newton *nearest.Quadratic
	r      []float64 // D: the row less c, in the order
	b      []float64 // m: Q_A'r
	tau    []float64 // d
	z, phi []float64 // m, q
}

func newRowPrediction(p *entryPredictor) *rowPrediction {
	f := p.f
	vec := func(n int) []float64 { return make([]float64, n) }
	r := &rowPrediction{
		entryPredictor: p, newton: nearest.NewQuadratic(f), r: vec(f.D), b: vec(f.M), tau: vec(f.Latent), z: vec(f.M), phi: vec(f.Q),
	}
	r.newton.Linear, r.newton.Prior, r.newton.PriorMean = vec(f.M), p.by, p.mean
	return r
}

// distance predicts each part of x from the others and returns the distance of x from the prediction.
func (p *rowPrediction) distance(x []float64) float64 {
	f := p.f
	reorder(p.r, x, p.order)
	floats.Sub(p.r, f.C)
	var sum float64
	for k := range p.parts {
		part := &p.parts[k]
		for a := range p.b {
			p.b[a] = floats.Dot(f.Axis(a)[:part.lo], p.r[:part.lo]) + floats.Dot(f.Axis(a)[part.hi:], p.r[part.hi:])
		}
		p.begin(part)
		p.newton.Metric = part.gram
		floats.ScaleTo(p.newton.Linear, -1, p.b)
		p.newton.Minimize(p.tau, maxPredictSteps, predictPrecision)
		f.Coordinates(p.z, p.phi, p.tau)
		for j := part.lo; j < part.hi; j++ {
			e := p.r[j]
			for a, v := range p.z {
				e -= v * f.Axis(a)[j]
			}
			sum += e * e
		}
	}
	return math.Sqrt(sum)
}

// begin sets tau to the training row with the lowest cost.
func (p *rowPrediction) begin(part *entryPart) {
	f := p.f
	best, at := math.Inf(1), 0
	for i, cost := range part.costs {
		if v := cost - 2*floats.Dot(p.b, p.z0(i)); v < best {
			best, at = v, i
		}
	}
	copy(p.tau, p.entryPredictor.tau[at*f.Latent:(at+1)*f.Latent])
}

// z0 returns z of training row i.
func (p *rowPrediction) z0(i int) []float64 { return p.entryPredictor.z[i*p.f.M : (i+1)*p.f.M] }
