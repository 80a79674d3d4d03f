package scqm

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// imputePlaces bounds the number of mixture components of the posterior of a row.
	imputePlaces = 400
	// imputeSteps bounds the Newton steps from the centre of each component.
	imputeSteps = 4
	// imputePrecision is the relative length of a step at which Newton's method ends.
	imputePrecision = 1e-3
)

// Imputation holds rows whose missing entries have been imputed.
type Imputation struct {
	X   []float64 // n x D: entries that were not missing are unchanged
	Std []float64 // n x D: standard deviations of imputed entries, 0 for the others
}

// Impute replaces the missing entries of rows by their posterior means given the other entries. Std includes the
// variance of f(tau) and the variance of the noise. Among all predictions the posterior mean has the least expected
// squared error, unlike the nearest point, which [Model.Project] returns.
//
// The prior of tau is a mixture of K Gaussians centred at learned coordinates, at most 400 rows of Model.Tau. Their
// covariance is h^2 S, with S the variances of these coordinates and h = K^(-1/(d+4)). The centres are shrunk towards
// the mean so that the mixture has the variances S. Newton's method leads from each centre to a mode of the
// posterior, which is weighted by Laplace's method. The noise of an entry has the density exp(-loss/a) with the mean
// loss of the fit.
//
// A row takes about 400 m(D + dm) operations. Source: B. Silverman, Density estimation for statistics and data
// analysis (1986), 5.3 and 6.4.
func (m *Model) Impute(ctx context.Context, x Data, threads int) (*Imputation, error) {
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	held, err := m.reserveMap("impute", x.N, 2*m.D, threads)
	if err != nil {
		return nil, err
	}
	defer held.Release()
	out := &Imputation{X: append([]float64(nil), x.X...), Std: make([]float64, len(x.X))}
	if m.Meta.Missing == nil {
		return out, nil // nothing is missing
	}
	p, err := m.newPosterior()
	if err != nil {
		return nil, err
	}
	threads = par.Threads(threads)
	workers := make([]*rowPosterior, threads)
	par.Do(threads, par.Shards(x.N), func(id, shard int) {
		if workers[id] == nil {
			workers[id] = newRowPosterior(p)
		}
		lo, hi := par.Bounds(x.N, shard)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			if rows.Incomplete(x.Row(i)) {
				workers[id].fill(out.X[i*m.D:(i+1)*m.D], out.Std[i*m.D:(i+1)*m.D])
			}
		}
	})
	if l, ok := p.loss.(rowloss.ErrReporter); ok && l.Err() != nil {
		return nil, l.Err()
	}
	return out, ctx.Err()
}

// posterior holds the quantities of the posterior that are the same for all rows.
type posterior struct {
	f           *sheet.Sheet
	loss        framework.Separable
	temperature float64   // a
	noise       float64   // variance of the noise of an entry
	places      []float64 // K x d: centres of the mixture
	prior       []float64 // d: noise variance over the variances of each Gaussian
}

func (m *Model) newPosterior() (*posterior, error) {
	n, d := len(m.Tau)/m.Latent, m.Latent
	if n == 0 {
		return nil, fmt.Errorf("scqm: the model has no coordinates of the rows that it was fitted to, and entries are imputed by these; fit it anew and keep them: %w", ErrInput)
	}
	loss, err := losses.ByEntry(m.Loss)
	if err != nil {
		return nil, fmt.Errorf("scqm: %w: %w", err, ErrInput)
	}
	p := &posterior{f: m.sheet(), loss: loss}
	codes := Data{N: n, D: d, X: m.Tau}
	count := min(n, imputePlaces)
	h := math.Pow(float64(count), -1/float64(d+4))
	mean := rows.Mean(codes)
	for k := range count {
		for j, v := range codes.Row(k * n / count) {
			p.places = append(p.places, mean[j]+math.Sqrt(1-h*h)*(v-mean[j]))
		}
	}
	p.prior = make([]float64, d)
	for i := range n {
		for j, v := range codes.Row(i) {
			p.prior[j] += h * h * (v - mean[j]) * (v - mean[j]) / float64(n)
		}
	}
	entries := float64(m.Meta.N*m.D - m.Meta.Missing.Entries)
	p.setNoise(m.Meta.MeanLoss*float64(m.Meta.N)/freeEntries(entries, m.Meta.N, p.f.Shape), floats.Norm(m.Tau, math.Inf(1)))
	least := minVariance * floats.Max(p.prior)
	for j, v := range p.prior {
		p.prior[j] = p.noise / max(v, least, math.SmallestNonzeroFloat64)
	}
	return p, nil
}

const (
	// noisePoints is the number of points at which the noise density is tabulated. noiseReach is their range, in
	// units of the length at which the loss equals its mean.
	noisePoints, noiseReach = 2048, 64
	// leastNoise is the smallest noise length, relative to the coordinates.
	leastNoise = 1e-7
)

// setNoise finds the noise density exp(-loss(r)/a) of an entry under which the expected loss is mean. extent is the
// extent of the coordinates.
func (p *posterior) setNoise(mean, extent float64) {
	var one [1]float64
	phi := func(r float64) float64 {
		p.loss.Phi(one[:], nil, nil, []float64{r})
		return one[0]
	}
	length := cmp.Or(extent, 1)
	for least := leastNoise * length; length > least && phi(length) > mean; {
		length /= 2
	}
	mean = math.Max(mean, phi(length))
	r, values := make([]float64, noisePoints), make([]float64, noisePoints)
	for i := range r {
		r[i] = (float64(i) + 0.5) * noiseReach / noisePoints * length
	}
	p.loss.Phi(values, nil, nil, r)
	lo, hi := mean/8, mean*1024 // a / mean is p for lp
	for hi > lo*(1+1e-6) {
		a := math.Sqrt(lo) * math.Sqrt(hi)
		var total, sum, square float64
		for i, v := range values {
			w := math.Exp(-v / a)
			total += w
			sum += w * v
			square += w * r[i] * r[i]
		}
		p.temperature, p.noise = a, square/total
		if sum > mean*total {
			hi = a
		} else {
			lo = a
		}
	}
}

// rowPosterior computes the posteriors of rows, one at a time.
type rowPosterior struct {
	*posterior
	newton *observedRow

	r, phi        []float64 // K x |A|: residuals at the centres, and their losses
	weights       []float64 // K: logarithms, then the weights
	z             []float64 // K x m
	root          []float64 // K x m x d: G; GG' noise is the covariance of z at the centre
	tau, e, me, h []float64 // d, m x d, m x d, d x d: of one centre
}

func newRowPosterior(p *posterior) *rowPosterior {
	m, d, count := p.f.M, p.f.Latent, len(p.places)/p.f.Latent
	vec := func(n int) []float64 { return make([]float64, n) }
	r := &rowPosterior{
		posterior: p, newton: newObservedRow(p.f, p.prior, nil), weights: vec(count), z: vec(count * m), root: vec(count * m * d),
		tau: vec(d), e: vec(m * d), me: vec(m * d), h: vec(d * d),
	}
	return r
}

// fill replaces the missing entries of x by their posterior means, and writes their standard deviations into std.
func (p *rowPosterior) fill(x, std []float64) {
	p.newton.load(x)
	p.weigh(x)
	mean, covariance := p.moments()
	f, q := p.f, make([]float64, p.f.M)
	for j, v := range x {
		if v == v {
			continue
		}
		variance := p.noise
		for a := range q {
			q[a] = f.Axis(a)[j]
		}
		for a, v := range q {
			variance += v * floats.Dot(q, covariance[a*f.M:(a+1)*f.M])
		}
		x[j], std[j] = f.C[j]+floats.Dot(q, mean), math.Sqrt(variance)
	}
}

// weigh computes the weights of the mixture components in the posterior.
func (p *rowPosterior) weigh(x []float64) {
	f, n := p.f, len(p.newton.there)
	p.r, p.phi = dense.Grow(p.r, len(p.weights)*n), dense.Grow(p.phi, len(p.weights)*n)
	for k := range p.weights {
		p.weights[k] = p.settle(k)
		for i, j := range p.newton.there {
			r := f.C[j] - x[j]
			for a, v := range p.z[k*f.M : (k+1)*f.M] {
				r += v * f.Axis(a)[j]
			}
			p.r[k*n+i] = r
		}
	}
	p.loss.Phi(p.phi, nil, nil, p.r)
	for k := range p.weights {
		p.weights[k] -= floats.Sum(p.phi[k*n:(k+1)*n]) / p.temperature
	}
	best := floats.Max(p.weights)
	for k, v := range p.weights {
		p.weights[k] = math.Exp(v - best)
	}
	floats.Scale(1/floats.Sum(p.weights), p.weights)
}

// settle sets z and G of component k to their values at the mode near it. E is the Jacobian of z, and H = LL' = E'ME
// + prior. It returns the logarithm of the weight, without the loss of the row.
func (p *rowPosterior) settle(k int) float64 {
	m, d := p.f.M, p.f.Latent
	p.newton.PriorMean = p.places[k*d : (k+1)*d]
	copy(p.tau, p.newton.PriorMean)
	p.newton.Minimize(p.tau, imputeSteps, imputePrecision)
	copy(p.z[k*m:(k+1)*m], p.newton.E) // y is 0
	p.f.Jacobian(p.e, p.tau)
	clear(p.me)
	dense.AddProduct(p.me, p.newton.Metric, p.e, m, m, d)
	clear(p.h)
	dense.AddProduct(p.h, p.e, p.me, m, d, d)
	for i, v := range p.prior {
		p.h[i*d+i] += v
	}
	dense.JitteredCholesky(p.h, d)
	var weight float64
	for j, v := range p.tau {
		gap := v - p.newton.PriorMean[j]
		weight -= p.prior[j]*gap*gap/(2*p.noise) + math.Log(p.h[j*d+j])
	}
	root := p.root[k*m*d : (k+1)*m*d]
	copy(root, p.e)
	for a := range m {
		dense.ForwardCholesky(root[a*d:(a+1)*d], p.h, d) // L^-1 E'
	}
	return weight
}

// moments returns the mean and the covariance of z.
func (p *rowPosterior) moments() (mean, covariance []float64) {
	m, d := p.f.M, p.f.Latent
	mean, covariance = make([]float64, m), make([]float64, m*m)
	for k, w := range p.weights {
		floats.AddScaled(mean, w, p.z[k*m:(k+1)*m])
	}
	for k, w := range p.weights {
		z, root := p.z[k*m:(k+1)*m], p.root[k*m*d:(k+1)*m*d]
		for a := 0; a < m && w > 0; a++ {
			for b := range m {
				covariance[a*m+b] += w * ((z[a]-mean[a])*(z[b]-mean[b]) + p.noise*floats.Dot(root[a*d:(a+1)*d], root[b*d:(b+1)*d]))
			}
		}
	}
	return mean, covariance
}
