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
	// sheetSteps is the largest number of steps of expectation and maximization, sheetSettled the relative change from which on
	// these end: the likelihood changes by its square.
	sheetSteps   = 150
	sheetSettled = 1e-6
)

// flatShapes are the exponents b of noise that two sheets are compared with; the last is that of even noise but
// for rounding.
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
)

// surely reports whether there are two sheets, so far apart that their sides matter.
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
	// firstFar is the part to begin with; it is never less than one row.
	firstFar  = 0.1
	leastWide = 2.5
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
	w.part = max(far, 1) / h.n
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

// findSheets looks whether charts of twice as many rows as the pilot takes, or a third of all, or of more, lie between two sheets. It
// returns these charts and how far from them the sheets are.
func (p *preparation) findSheets(l *ladder, plain setting) (*rung, sheetPair, error) {
	if p.method.LeastSquares || !p.inSpace() || !p.setting.noisy {
		return nil, sheetPair{}, nil
	}
	most := min(p.n/2, 2*MaxNeighbors)
	for k := min(2*pilotRows*chart.Quadratics(p.method.Latent), p.n/3); k < most; k = int(growth * float64(k)) {
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
		if large && pair.overOne < perhapsSheets {
			break
		}
	}
	return nil, sheetPair{}, nil
}

// sided reports whether some rows are on two sheets.
func (a *fit) sided() bool { return a.sheets.half > 0 }

// takeSheets sets the offset of two sheets, pair.half to either side, at the places where the mean squared distance
// of rows from the charts of rung r near by is that of two sheets so far apart, within a factor of sheetAgree. It
// reports whether there are any.
func (l *ladder) takeSheets(r *rung, pair sheetPair, places []about) (some bool) {
	want := pair.half*pair.half + pair.scale*pair.scale
	for j := range places {
		var sum, n float64
		for _, m := range l.near[j] {
			if r.size[m] > 0 && r.square[m] < ownSide*ownSide*want {
				sum += r.square[m]
				n++
			}
		}
		if n > 0 && sum/n < sheetAgree*want && sum/n > want/sheetAgree {
			places[j].sides, places[j].scale, places[j].neighbors, some = pair.half, pair.scale, r.neighbors, true
		}
	}
	return some
}

const (
	// sheetGrowth is the noise of charts between sheets, in units of that of the pilot, beyond which the smaller ones of the pilot are on either.
	sheetGrowth = 1.4
	// sheetAgree is the factor within which the mean square near a place has to be what two sheets make, of rows up to ownSide.
	sheetAgree = 2
)

// closeSides is the distance of two sheets, in units of the noise, below which more than one row in forty goes to the wrong one.
const closeSides = 4

// Note says that rows are on two sheets too near to each other for all to be on the right one, or that all stay where they are.
func (a *fit) Note() string {
	if a.sparse {
		return "auto: rows are too far apart to tell noise from thin parts of the surface, and are left where they are; more rows would tell"
	}
	if apart := 2 * a.sheets.half / a.sheets.scale; a.sheets.half > 0 && apart < closeSides {
		return fmt.Sprintf("auto: rows are on two sheets, %.1f standard deviations of the noise apart, and have gone to the one that they are nearer to, which is not that of all", apart)
	}
	return ""
}
