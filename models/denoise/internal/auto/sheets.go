package auto

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
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
	// sheetSteps bounds the steps of expectation-maximization, which end at the relative change sheetSettled. The
	// likelihood then changes by its square.
	sheetSteps   = 150
	sheetSettled = 1e-6
)

// flatShapes are the exponents b of noise distributions with which two sheets are compared. The last is nearly
// uniform noise.
var flatShapes = []float64{3, 4, 6, 10, 30}

func newDistances(far []float64) distances {
	h := distances{unit: core.Median(far), count: make([]float64, distanceBins)}
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

// middle returns the distance at the middle of a bin.
func (h *distances) middle(bin int) float64 { return (float64(bin) + .5) * binWidth }

// sheetPair is a pair of sheets at the distance half from the surface between them, 0 for one sheet, and the noise.
type sheetPair struct {
	half, scale float64
	// overOne and overFlat are log likelihood ratios, compared with one sheet with normal noise and with noise of
	// flatter distributions.
	overOne, overFlat float64
}

const (
	// perhapsSheets and surelySheets are thresholds of the log likelihood ratio of two sheets to one. Above the
	// first, larger charts are examined; above the second, there are two sheets.
	perhapsSheets, surelySheets = 1, 5
	// leastApart is the distance of sheets from the surface between them, in units of the noise, below which separate
	// sides give no gain.
	leastApart = 0.7
)

// surely reports whether two sheets are significant, more likely than flat noise, and far enough apart that separate
// charts improve the result.
func (s sheetPair) surely() bool {
	return s.overOne > surelySheets && s.overFlat > 0 && s.half > leastApart*s.scale
}

// density is the density of distances, without its factor of sqrt(2/pi)/scale.
func (s sheetPair) density(r float64) float64 {
	a, b := (r-s.half)/s.scale, (r+s.half)/s.scale
	return .5 * (math.Exp(-a*a/2) + math.Exp(-b*b/2))
}

// wide is the fraction of distant rows. Their distances are normal with the standard deviation scale, which is at
// least leastWide times that of the others.
type wide struct{ part, scale float64 }

const (
	// firstFar is the initial fraction of distant rows; the fraction never falls below one row.
	firstFar  = 0.1
	leastWide = 2.5
)

func (w wide) density(r float64) float64 {
	r /= w.scale
	return w.part * math.Sqrt(2/math.Pi) / w.scale * math.Exp(-r*r/2)
}

// expect calls density and then take with the middle of each bin. take also gets the expected number of rows of the
// bin that are near under that density. expect returns the log likelihood of the last step, and the distant fraction.
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
	w.part = max(far, 1) / h.n
	if far > 0 {
		w.scale = math.Sqrt(square / far)
	}
	return likelihood, w
}

// fitPair returns the pair of largest likelihood near the given one, in units of the median, and its log likelihood.
// If half is 0 it stays 0.
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

// flat returns the log likelihood of the distances under one sheet with noise of density exp(-(r/a)^b).
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

// findPair is the most likely pair of sheets at the given distance from the surface between them.
func (a *settings) findPair(far []float64) (best sheetPair) {
	h, normal := newDistances(far), 1/a.tune.Median
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

// findSheets tests whether charts of twice as many rows as the largest pilot charts lie between two sheets. If that is
// more than a third of all rows, it tests smaller charts first. It returns the charts that do and the distance of the
// sheets from them.
func (p *preparation) findSheets(l *ladder, plain setting) (*rung, sheetPair, error) {
	if p.method.LeastSquares || !p.inSpace() || !p.setting.noisy {
		return nil, sheetPair{}, nil
	}
	usual := 2 * pilotRows * chart.Quadratics(p.method.Latent)
	most := min(p.n, max(p.n/2, usual), 2*MaxNeighbors)
	for k := min(usual, p.n/3); k < most; k = int(growth * float64(k)) {
		r, err := l.climb(k, plain)
		if err != nil {
			return nil, sheetPair{}, err
		}
		var reach, far []float64
		for j := range l.rows {
			if r.noise[j] > 0 {
				reach = append(reach, r.size[j]/r.noise[j])
				far = append(far, math.Sqrt(r.square[j])/(1-min(r.own[j], core.OwnWeight)))
			}
		}
		pair := p.findPair(far)
		large := core.Median(reach) >= noiseReach || growth*float64(k) >= float64(most)
		if math.Hypot(pair.half, pair.scale) > sheetGrowth*p.setting.Scale {
			break // smaller charts see one
		}
		if large && pair.surely() {
			return r, pair, nil
		}
		if large && k >= usual && pair.overOne < perhapsSheets {
			break
		}
	}
	return nil, sheetPair{}, nil
}

// sided reports whether rows are on two sheets.
func (a *fit) sided() bool { return a.sheets.half > 0 }

// takeSheets makes all places those of two sheets, which charts of rung r lie between.
func takeSheets(r *rung, pair sheetPair, places []about) {
	for j := range places {
		places[j] = about{scale: pair.scale, neighbors: r.neighbors, sides: pair.half}
	}
}

// sheetGrowth is the noise of charts between sheets, in units of that of the pilot. Beyond it the smaller charts of the
// pilot are on either sheet.
const sheetGrowth = 1.4

// closeSides is the distance of two sheets, in units of the noise, below which more than one row in forty is moved to
// the wrong one.
const closeSides = 4

// Note reports that rows are on two sheets too close for all rows to be moved to the right one, or that all rows stay
// unchanged.
func (a *fit) Note() string {
	if a.sparse {
		return "auto: rows are too far apart to tell noise from thin parts of the surface, and are left where they are; more rows would tell"
	}
	if apart := 2 * a.sheets.half / a.sheets.scale; a.sheets.half > 0 && apart < closeSides {
		return fmt.Sprintf("auto: rows are on two sheets, %.1f standard deviations of the noise apart, and have gone to the one that they are nearer to, which is not that of all", apart)
	}
	return ""
}
