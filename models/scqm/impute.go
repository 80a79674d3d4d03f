package scqm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// imputePlaces bounds the learned tau that the posterior of a row is a mixture of.
	imputePlaces = 400
	// imputeSteps bounds the Gauss-Newton steps from each of them.
	imputeSteps = 4
)

// Imputation is rows with their missing entries filled.
type Imputation struct {
	X   []float64 // n x D: entries that were there are the same, to the bit
	Std []float64 // n x D: standard deviations of those that were missing, 0 for the others
}

// Impute fills the missing entries of rows with their means given the entries that are
// there. Std counts the variance of f(tau) and that of the noise. Unlike the nearest point,
// which [Model.Project] gives, the mean has the least expected square of the error.
//
// The prior of tau is a mixture of K Gaussians around learned coordinates, at most 400 of
// Model.Tau, of covariance h^2 S, with S the covariance of these and h = K^(-1/(d+4)); their
// centres are drawn towards the mean so that S is the covariance of the mixture. Gauss-Newton
// steps lead from each centre to its part of the posterior, which Laplace's method weighs. The noise
// of an entry has the density exp(-loss/a) with the mean loss of the fit.
//
// A row takes about 400 m(D + dm) operations. Source: B. Silverman, Density estimation for
// statistics and data analysis (1986), 5.3 and 6.4.
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
			workers[id] = &rowPosterior{posterior: p, newton: newImputeStep(p.f)}
		}
		lo, hi := par.Bounds(x.N, shard)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			if rows.Incomplete(x.Row(i)) {
				workers[id].fill(out.X[i*m.D:(i+1)*m.D], out.Std[i*m.D:(i+1)*m.D])
			}
		}
	})
	if l, ok := p.loss.(framework.ErrReporter); ok && l.Err() != nil {
		return nil, l.Err()
	}
	return out, ctx.Err()
}

// posterior is what the posteriors of all rows have in common, in the unit of the model.
type posterior struct {
	f           *sheet.Sheet
	loss        framework.Separable
	unit        float64
	temperature float64   // a
	noise       float64   // variance of the noise of an entry
	places      []float64 // K x d: centres of the mixture
	precision   []float64 // d x d: of each of its Gaussians
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
	unit := m.ownUnit()
	p := &posterior{f: m.sheetIn(unit), loss: loss, unit: unit}
	tau := make([]float64, len(m.Tau))
	floats.ScaleTo(tau, 1/unit, m.Tau)
	codes := Data{N: n, D: d, X: tau}
	count := min(n, imputePlaces)
	h := math.Pow(float64(count), -1/float64(d+4))
	p.precision = priorOf(tau, codes, d, 1/(h*h))
	mean := rows.Mean(codes)
	for k := range count {
		for j, v := range codes.Row(k * n / count) {
			p.places = append(p.places, mean[j]+math.Sqrt(1-h*h)*(v-mean[j]))
		}
	}
	entries := float64(m.Meta.N*m.D - m.Meta.Missing.Entries)
	p.setNoise(m.Meta.MeanLoss * float64(m.Meta.N) / freeEntries(entries, m.Meta.N, p.f.Shape))
	return p, nil
}

const (
	// noisePoints and noiseReach are the number of points of the density of the noise, and
	// how far they reach, in lengths whose loss is about the mean one.
	noisePoints, noiseReach = 2048, 64
	// leastNoise is the least such length, relative to the coordinates.
	leastNoise = 1e-7
)

// setNoise finds the density exp(-loss(r)/a) of an entry that has this mean loss.
func (p *posterior) setNoise(mean float64) {
	var one [1]float64
	phi := func(r float64) float64 {
		p.loss.Phi(one[:], nil, nil, []float64{r * p.unit})
		return one[0]
	}
	length := 1.
	for length > leastNoise && phi(length) > mean {
		length /= 2
	}
	for length < 1/leastNoise && phi(2*length) <= mean {
		length *= 2
	}
	mean = math.Max(mean, phi(length))
	r, values := make([]float64, noisePoints), make([]float64, noisePoints)
	for i := range r {
		r[i] = (float64(i) + 0.5) * noiseReach / noisePoints * length * p.unit
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
			square += w * (r[i] / p.unit) * (r[i] / p.unit)
		}
		p.temperature, p.noise = a, square/total
		if sum > mean*total {
			hi = a
		} else {
			lo = a
		}
	}
}

// rowPosterior finds the posterior of one row after the other.
type rowPosterior struct {
	*posterior
	newton *imputeStep

	there   []int     // the entries that are
	r, phi  []float64 // K x len(there): residuals of the places, and their losses
	weights []float64 // K: logarithms, then the weights
	z       []float64 // K x m
	root    []float64 // K x m x d: G with GG' the covariance of z at the place
}

// fill fills the missing entries of x.
func (p *rowPosterior) fill(x, std []float64) {
	f, m, d := p.f, p.f.M, p.f.Latent
	p.there = p.there[:0]
	for j, v := range x {
		if v == v {
			p.there = append(p.there, j)
		}
	}
	p.newton.load(x, p.unit, p.there)
	count, n := len(p.places)/d, len(p.there)
	p.weights, p.z, p.root = dense.Grow(p.weights, count), dense.Grow(p.z, count*m), dense.Grow(p.root, count*m*d)
	p.r, p.phi = dense.Grow(p.r, count*n), dense.Grow(p.phi, count*n)
	for k := range count {
		z := p.z[k*m : (k+1)*m]
		p.weights[k] = p.newton.settle(z, p.root[k*m*d:(k+1)*m*d], p.places[k*d:(k+1)*d], p.posterior)
		for i, j := range p.there {
			r := f.C[j] - x[j]/p.unit
			for a, v := range z {
				r += v * f.QT[a*f.D+j]
			}
			p.r[k*n+i] = r * p.unit
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
	mean, covariance := p.moments()
	q := make([]float64, m)
	for j, v := range x {
		if v == v {
			continue
		}
		for a := range q {
			q[a] = f.QT[a*f.D+j]
		}
		variance := p.noise
		for a, v := range q {
			variance += v * floats.Dot(q, covariance[a*m:(a+1)*m])
		}
		x[j], std[j] = p.unit*(f.C[j]+floats.Dot(q, mean)), p.unit*math.Sqrt(variance)
	}
}

// moments returns the mean and the covariance of z.
func (p *rowPosterior) moments() (mean, covariance []float64) {
	m, d := p.f.M, p.f.Latent
	mean, covariance = make([]float64, m), make([]float64, m*m)
	for k, w := range p.weights {
		floats.AddScaled(mean, w, p.z[k*m:(k+1)*m])
	}
	for k, w := range p.weights {
		if w == 0 {
			continue
		}
		z, root := p.z[k*m:(k+1)*m], p.root[k*m*d:(k+1)*m*d]
		for a := range m {
			for b := range m {
				covariance[a*m+b] += w * ((z[a]-mean[a])*(z[b]-mean[b]) + floats.Dot(root[a*d:(a+1)*d], root[b*d:(b+1)*d]))
			}
		}
	}
	return mean, covariance
}

// imputeStep minimises, for one row with the entries A,
//
//	|f_A(tau) - x_A|^2/noise + (tau - t)'B(tau - t) = (z'Mz - 2b'z)/noise + (tau - t)'B(tau - t) + const,
//
// with M = Q_A'Q_A and b = Q_A'(x - c)_A, by Gauss-Newton steps from t.
type imputeStep struct {
	f              *sheet.Sheet
	gram, b        []float64 // M and b
	tau, next, gap []float64 // d
	phi, e         []float64 // q, m x d
	h, g, pull, me []float64 // d x d, d, m, m x d
}

func newImputeStep(f *sheet.Sheet) *imputeStep {
	m, d := f.M, f.Latent
	vec := func(n int) []float64 { return make([]float64, n) }
	return &imputeStep{
		f: f, gram: vec(m * m), b: vec(m), tau: vec(d), next: vec(d), gap: vec(d),
		phi: vec(f.Q), e: vec(m * d), h: vec(d * d), g: vec(d), pull: vec(m), me: vec(m * d),
	}
}

// load takes a row of these entries.
func (s *imputeStep) load(x []float64, unit float64, there []int) {
	f := s.f
	clear(s.gram)
	clear(s.b)
	for _, j := range there {
		for a := range f.M {
			u := f.QT[a*f.D+j]
			s.b[a] += u * (x[j]/unit - f.C[j])
			for b := range f.M {
				s.gram[a*f.M+b] += u * f.QT[b*f.D+j]
			}
		}
	}
}

// settle writes z at the minimum and G, of which GG' is its covariance, and returns
// the logarithm of the weight of the place, but for the loss of the row.
func (s *imputeStep) settle(z, root, place []float64, p *posterior) float64 {
	d, m := s.f.Latent, s.f.M
	copy(s.tau, place)
	value := s.evaluate(z, s.tau, place, p)
	for range imputeSteps {
		s.linearise(s.tau, p)
		floats.Scale(1/p.noise, s.g)
		for i := range d {
			s.g[i] += floats.Dot(p.precision[i*d:(i+1)*d], s.gap)
		}
		dense.SolveCholesky(s.g, s.h, d)
		floats.SubTo(s.next, s.tau, s.g)
		next := s.evaluate(z, s.next, place, p)
		if !(next < value) {
			s.evaluate(z, s.tau, place, p)
			break
		}
		value = next
		copy(s.tau, s.next)
	}
	s.linearise(s.tau, p)
	var weight float64
	for i := range d {
		weight -= floats.Dot(p.precision[i*d:(i+1)*d], s.gap)*s.gap[i]/2 + math.Log(s.h[i*d+i])
	}
	copy(root, s.e)
	for a := range m {
		dense.ForwardCholesky(root[a*d:(a+1)*d], s.h, d)
	}
	return weight
}

// evaluate writes z at tau, with the gap from the place and pull = Mz - b, and returns the sum.
func (s *imputeStep) evaluate(z, tau, place []float64, p *posterior) float64 {
	d, m := s.f.Latent, s.f.M
	s.f.Coordinates(z, s.phi, tau)
	floats.SubTo(s.gap, tau, place)
	var sum float64
	for a := range m {
		mz := floats.Dot(s.gram[a*m:(a+1)*m], z)
		s.pull[a] = mz - s.b[a]
		sum += z[a] * (mz - 2*s.b[a])
	}
	sum /= p.noise
	for i, v := range s.gap {
		sum += v * floats.Dot(p.precision[i*d:(i+1)*d], s.gap)
	}
	return sum
}

// linearise leaves E, g = E'pull and the Cholesky factor of H = E'ME/noise + B at tau, which
// was evaluated last.
func (s *imputeStep) linearise(tau []float64, p *posterior) {
	d, m := s.f.Latent, s.f.M
	s.f.Jacobian(s.e, tau)
	clear(s.me)
	clear(s.g)
	for a := range m {
		floats.AddScaled(s.g, s.pull[a], s.e[a*d:(a+1)*d])
		for b := range m {
			floats.AddScaled(s.me[a*d:(a+1)*d], s.gram[a*m+b]/p.noise, s.e[b*d:(b+1)*d])
		}
	}
	copy(s.h, p.precision)
	for a := range m {
		for i := range d {
			floats.AddScaled(s.h[i*d:(i+1)*d], s.e[a*d+i], s.me[a*d:(a+1)*d])
		}
	}
	dense.JitteredCholesky(s.h, d)
}
