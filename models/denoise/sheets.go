package denoise

import (
	"math"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// Rows on the two sides of a thin sheet lie about the surface between them, at the distance half on either
// side, with the noise. Where the sides are less than four standard deviations of the noise apart nothing in one place
// tells them from one sheet with more noise, but the distances r >= 0 of hundreds of rows from large charts do: those of two
// sheets have the density
//
//	f(r) = (1 - far) (N(r; half, scale) + N(r; -half, scale)) + far 2N(r; 0, wide)
//
// where far is the part of outliers. Its likelihood is compared with that of one sheet, half = 0, and of noise with flatter
// distributions, for which the first factor is proportional to exp(-(r/a)^b) with b > 2.

// distances is a histogram of distances in units of the median.
type distances struct {
	unit  float64
	count []float64
	n     float64
}

const (
	// distanceBins is the number of bins, binWidth their width in units of the median. Larger distances do not
	// count.
	distanceBins = 240
	binWidth     = 0.05
	// sheetSteps is the largest number of steps of expectation and maximization, sheetSettled the relative change from which on
	// these end: the likelihood changes by its square.
	sheetSteps   = 150
	sheetSettled = 1e-6
)

// flatShapes are the exponents b of noise that two sheets are compared with; the last is that of even noise but
// for rounding.
var flatShapes = []float64{3, 4, 6, 10, 30}

func newDistances(far []float64) distances {
	h := distances{unit: median(far), count: make([]float64, distanceBins)}
	if !(h.unit > 0) {
		return h
	}
	for _, v := range far {
		if b := int(v / (h.unit * binWidth)); b < distanceBins {
			h.count[b]++
			h.n++
		}
	}
	return h
}

// middle is that of a bin.
func (h *distances) middle(bin int) float64 { return (float64(bin) + .5) * binWidth }

// sheetPair are two sheets at the distance half from the surface between them, 0 for one, and the noise.
type sheetPair struct {
	half, scale float64
	// overOne and overFlat are the logarithms of the likelihood over that of one sheet with normal noise, and
	// with noise of flatter distributions.
	overOne, overFlat float64
}

const (
	// perhapsSheets and surelySheets are what the logarithm of the likelihood of two sheets is over that of one from which on larger
	// charts are worth a look, and there are two.
	perhapsSheets, surelySheets = 1, 6
	// leastFlat is the same over flat distributions: sheets less than three standard deviations of the noise apart are hardly to be
	// told from these by the rows that are judged, and more often seen.
	leastFlat = -3
	// leastApart is the distance of sheets from the surface between them, in units of the noise, below which their
	// sides gain nothing.
	leastApart = 0.7
	// sheetGrowth is the factor by which the noise that charts see by least squares grows at least where larger ones have come to lie between
	// sheets: it is three times as large where these are four standard deviations of the noise apart, and 1.4 times for two.
	sheetGrowth = 1.2
	// firstWide is the ratio of the neighbours of charts that are looked at for sheets to those of the pilot.
	firstWide = 2.0
	// mostSheets bounds the number of neighbours.
	mostSheets = 2 * maxNeighbors
)

// surely tells whether there are two sheets, so far apart that their sides matter.
func (s sheetPair) surely() bool {
	return s.overOne > surelySheets && s.overFlat > leastFlat && s.half > leastApart*s.scale
}

// density is that of distances, without its factor of sqrt(2/pi)/scale.
func (s sheetPair) density(r float64) float64 {
	a, b := (r-s.half)/s.scale, (r+s.half)/s.scale
	return .5 * (math.Exp(-a*a/2) + math.Exp(-b*b/2))
}

// wide is the part of rows far away, with normal distances of the standard deviation scale, which is no less than
// leastWide times that of the others.
type wide struct{ part, scale float64 }

const (
	// leastFar bounds the part from below, firstFar is that to begin with.
	leastFar, firstFar = 1e-4, 0.1
	leastWide          = 2.5
)

func (w wide) density(r float64) float64 {
	r /= w.scale
	return w.part * math.Sqrt(2/math.Pi) / w.scale * math.Exp(-r*r/2)
}

// expect calls density and then take with the middle of each bin, and take with the number of rows there that are near by that density. It
// returns the logarithm of the likelihood, of the last step only, and what is far away.
func (h *distances) expect(last bool, w wide, density func(r float64) float64, take func(r, n float64)) (float64, wide) {
	var likelihood, far, square float64
	for b, n := range h.count {
		if n == 0 {
			continue
		}
		r := h.middle(b)
		f, g := (1-w.part)*density(r), w.density(r)
		if last {
			likelihood += n * math.Log(f+g)
		}
		take(r, n*f/(f+g))
		g *= n / (f + g)
		far += g
		square += g * r * r
	}
	w.part = max(far/h.n, leastFar)
	if far > 0 {
		w.scale = math.Sqrt(square / far)
	}
	return likelihood, w
}

// fitPair is the pair, in units of the median, of the largest likelihood near the one given, and its logarithm. Of
// one sheet half stays 0.
func (h *distances) fitPair(s sheetPair) (sheetPair, float64) {
	far := wide{firstFar, 2 * leastWide * math.Hypot(s.half, s.scale)}
	var likelihood float64
	for step, last := 1, false; ; step++ {
		var inside, first, second float64
		factor := math.Sqrt(2/math.Pi) / s.scale
		likelihood, far = h.expect(last, far, func(r float64) float64 { return factor * s.density(r) }, func(r, w float64) {
			inside += w
			first += w * r * math.Tanh(s.half*r/(s.scale*s.scale))
			second += w * r * r
		})
		before := s
		s.half = first / inside
		s.scale = math.Sqrt(max(second/inside-s.half*s.half, binWidth*binWidth))
		far.scale = max(far.scale, leastWide*math.Hypot(s.half, s.scale))
		if last {
			return s, likelihood
		}
		settled := math.Abs(s.half-before.half) <= sheetSettled*s.scale && math.Abs(s.scale-before.scale) <= sheetSettled*s.scale
		last = settled || step == sheetSteps-1
	}
}

// flat is the logarithm of the likelihood of noise of density exp(-(r/a)^b).
func (h *distances) flat(b float64) float64 {
	a := 1.5
	far := wide{firstFar, 2 * leastWide * a}
	gamma, _ := math.Lgamma(1 / b)
	var likelihood float64
	for step, last := 1, false; ; step++ {
		var inside, power, second, u float64
		factor := b / a * math.Exp(-gamma)
		density := func(r float64) float64 {
			u = math.Pow(r/a, b)
			return factor * math.Exp(-u)
		}
		likelihood, far = h.expect(last, far, density, func(r, w float64) {
			inside += w
			power += w * u
			second += w * r * r
		})
		change := math.Pow(b*power/inside, 1/b)
		a *= change
		far.scale = max(far.scale, leastWide*math.Sqrt(second/inside))
		if last {
			return likelihood
		}
		last = math.Abs(change-1) <= sheetSettled || step == sheetSteps-1
	}
}

// findPair is the most likely pair of sheets that are so far from the surface between them.
func (a *autoSettings) findPair(far []float64) (best sheetPair) {
	h, normal := newDistances(far), 1/a.tune.median
	if h.n == 0 {
		return sheetPair{}
	}
	_, one := h.fitPair(sheetPair{scale: normal})
	two := math.Inf(-1)
	for _, ratio := range []float64{1, 3} {
		scale := normal / math.Sqrt(1+ratio*ratio)
		if s, l := h.fitPair(sheetPair{half: ratio * scale, scale: scale}); l > two {
			best, two = s, l
		}
	}
	flat := math.Inf(-1)
	if two-one > surelySheets { // else nothing asks for it
		for _, b := range flatShapes {
			flat = max(flat, h.flat(b))
		}
	}
	return sheetPair{best.half * h.unit, best.scale * h.unit, two - one, two - flat}
}

// lookWide looks at the noise of larger charts, after what smaller ones have seen, of which pair is the most likely pair of sheets. It is false where these
// are not worth that: charts between two sheets would see more by least squares than smaller ones on either.
func (p *autoPrepare) lookWide(s *setting, before look, pair sheetPair) (look, bool, error) {
	seen, _, err := p.lookPlainly(s)
	if err != nil || pair.overOne < perhapsSheets && seen.plain < sheetGrowth*before.plain {
		return before, false, err
	}
	seen, _, err = p.lookRobustly(s, seen)
	return seen, true, err
}

// lookForSheets looks whether charts as large as those of the pilot or larger lie between two sheets, as far as the
// rows of the selection tell, given what the pilot has seen. Where they do it charts all rows between the sheets and then
// each on its side.
func (p *autoPrepare) lookForSheets(s setting, seen look) (found bool, err error) {
	if p.method.LeastSquares || p.D != lookup.Space || p.method.Latent != lookup.Space-1 || !s.noisy {
		return false, nil
	}
	s.uneven = false
	floor, pair := p.floor, p.findPair(seen.far)
	for factor := firstWide; ; factor = pilotGrowth {
		large := seen.size >= pilotReach*seen.scale || s.neighbors >= mostSheets
		if found = large && pair.surely(); found {
			break
		}
		if factor < firstWide && (large || pair.overOne < perhapsSheets) {
			break
		}
		if s.neighbors = int(factor * float64(s.neighbors)); s.neighbors > p.n/2 {
			break
		}
		if seen, found, err = p.lookWide(&s, seen, pair); err != nil || !found {
			break
		}
		pair = p.findPair(seen.far)
	}
	if p.floor = floor; !found || err != nil {
		return false, err
	}
	s.neighbors = min(s.neighbors, mostSheets)
	if _, err := p.charts.chart(order{keep: true, setting: s}); err != nil {
		return false, err
	}
	s.pilot, s.Sides = false, pair.half
	p.setScale(&s, pair.scale, true)
	p.setting = s
	_, err = p.charts.chart(order{keep: true, setting: s})
	return true, err
}
