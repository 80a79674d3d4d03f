package principal

import (
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

// spectralGains returns the factors g_k on the singular values y_k of n rows of length D, with noise of variance
// s^2, that minimise Stein's unbiased risk estimate without rising as y falls. With a_k = y_k^2 this risk is, up to
// a constant,
//
//	sum_k a_k (g_k - h_k)^2,  h_k = 1 - s^2 ((|n - D| + 1)/a_k + 2 sum_(j != k) 1/(a_k - a_j)),
//
// so that g is the isotonic regression of h with the weights a, clipped to [0, 1]. Where few values exceed the noise, the
// factors are close to the factors of Gavish and Donoho; where the values fall slowly, as for images, values below the
// edge of the noise are kept in part. The values are the mean squares along all axes, descending, and n is the number of
// rows less 1.
//
// Sources: C. Stein, Estimation of a covariance matrix, Rietz lecture (1975); E. Candès, C. Sing-Long, J. Trzasko,
// Unbiased risk estimates for singular value thresholding and spectral estimators, IEEE Transactions on Signal
// Processing 61 (2013); J. Bun, R. Allez, J.-P. Bouchaud, M. Potters, Rotational invariant estimator for general noisy matrices, IEEE
// Transactions on Information Theory 62 (2016).
func spectralGains(values []float64, variance, n float64, D int) []float64 {
	count := len(values)
	for count > 0 && !(values[count-1] > chart.Rounding*values[0]) {
		count--
	}
	beside := besideSquare(count, len(values), n, D)
	gain := make([]float64, len(values))
	type block struct {
		mean, weight float64
		size         int
	}
	var blocks []block
	for k, v := range values[:count] {
		h := (beside + 1) / v
		for j, u := range values[:count] {
			if j != k && u != v {
				h += 2 / (v - u)
			}
		}
		last := block{1 - variance*h/(n+1), v, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].mean <= last.mean {
			b := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			last = block{(b.mean*b.weight + last.mean*last.weight) / (b.weight + last.weight), b.weight + last.weight, b.size + last.size}
		}
		blocks = append(blocks, last)
	}
	k := 0
	for _, b := range blocks {
		for range b.size {
			gain[k] = min(max(b.mean, 0), 1)
			k++
		}
	}
	return gain
}

// besideSquare returns |n - D|, the difference of the two dimensions of the noise. If only count of most singular
// values are positive, the rows do not vary in the other directions: these have no noise, and D is count.
func besideSquare(count, most int, n float64, D int) float64 {
	if count < most {
		D = count
	}
	return max(n+float64(D)-2*float64(count), math.Abs(n-float64(D)))
}

// spectrum is a linear model of all rows with a factor for each singular value.
type spectrum struct {
	plane     *Plane
	values    []float64 // mean squares along the axes
	own       []float64 // of each axis, the divergence of a row that lies along it alone
	trace     float64   // sum of the factors
	total, of float64   // weight of the rows; effective number of rows
}

// shrinkSpectrum computes the spectrum, or returns nil if there are too many rows and columns.
func (f *linearSearch) shrinkSpectrum() (*spectrum, error) {
	all := f.x
	all.Weights = f.kept
	order := min(f.x.D, f.x.N-1)
	if order > rows.MaxAll-1 || float64(f.x.N)*float64(order) > 1<<23 {
		return nil, nil
	}
	held, err := core.Footprint{}.Reserve(PCA{}, f.x, rows.ComponentsSize(f.x.N, f.x.D, order+1)+float64(f.x.N)*float64(order))
	if err != nil {
		return nil, err
	}
	defer held.Release()
	find := planeFit{ctx: f.ctx, x: f.x, threads: f.threads, least: 1, most: f.x.D, linear: true, given: order}
	p, err := find.axes(all)
	if err != nil || p == nil {
		return nil, err
	}
	s := &spectrum{plane: p, of: effective(all)}
	s.values, _, _ = p.spread(all, f.threads)
	for i := range all.N {
		s.total += all.Weight(i)
	}
	p.take(p.R, s.values, f.variance, s.of)
	p.Gain = spectralGains(s.values, f.variance, s.of, p.D)
	clear(p.Gain[min(512, p.R):]) // singular values are shrunk one by one
	s.diverge()
	return s, nil
}

// diverge computes the parts of the divergence. The derivative of a fitted row along axis l is the sum over k of
// the squared entry of the row in the k-th left singular vector times
//
//	(a_k g_k - a_l g_l)/(a_k - a_l),
//
// with g_k in directions in which no row varies, and g_l for the part of the row outside the left singular
// vectors.
func (s *spectrum) diverge() {
	p := s.plane
	s.own, s.trace = make([]float64, p.R), 0
	for k, g := range p.Gain {
		s.trace += g
		s.own[k] = g * float64(p.D-p.R+1)
		for l, h := range p.Gain {
			switch a, b := s.values[k], s.values[l]; {
			case l == k:
			case a == b:
				s.own[k] += g
			default:
				s.own[k] += (a*g - b*h) / (a - b)
			}
		}
	}
}

// risk is Stein's unbiased risk estimate for a row of weight w.
func (s *spectrum) risk(x []float64, w float64) float64 {
	p := s.plane
	z, rest := make([]float64, p.R), make([]float64, p.D)
	off := p.split(z, rest, x)
	variance, share := p.Noise*p.Noise, w/s.total
	square, left, divergence := off*off, 1-share, share*float64(p.D)
	for k, v := range z {
		square += (1 - p.Gain[k]) * (1 - p.Gain[k]) * v * v
		if s.values[k] > 0 {
			along := share * v * v / s.values[k]
			divergence += along * s.own[k]
			left -= along
		}
	}
	divergence += max(left, 0) * s.trace
	return square - float64(p.D)*variance + 2*variance*divergence
}

// cut returns the plane without the axes whose factor is 0.
func (s *spectrum) cut() *Plane {
	p := *s.plane
	p.R = max(p.shrinking(), 1)
	p.Axes, p.Gain = p.Axes[:p.R*p.D:p.R*p.D], p.Gain[:p.R:p.R]
	p.Reach = p.Noise * p.tail(1-core.TukeyTail)
	return &p
}

// takeSpectrum replaces the best model, whose risk for each row is best, by the spectrum if the spectrum has
// significantly less risk.
func (f *linearSearch) takeSpectrum(m *Linear, best []float64) (risk []float64, taken bool, err error) {
	s, err := f.shrinkSpectrum()
	if err != nil || s == nil {
		return best, false, err
	}
	risk = make([]float64, len(f.some))
	for k, i := range f.some {
		risk[k] = s.risk(f.x.Row(i), f.kept[i])
	}
	if !surelyLess(risk, best) {
		return best, false, nil
	}
	m.Plane, m.neighbors = s.cut(), 0
	return risk, true, nil
}
