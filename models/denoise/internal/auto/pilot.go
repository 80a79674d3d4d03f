package auto

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// The noise is that of the smallest charts that are larger than it. Charts of growing numbers of rows are made about up to [MostPlaces] rows,
// and what they see is averaged over places near each other. Noise is the same for charts of all sizes; what a surface bends by, an edge or another
// sheet grows with them. So the noise about a place is what the first charts there see whose size is [noiseReach] times that, less by the square of
// the factor by which it grows over the next two numbers of rows: what charts of fewer rows than can be made would see.

const (
	// MostPlaces bounds the rows at which charts of several sizes are compared.
	MostPlaces = 800
	// growth is the ratio of successive numbers of rows of the compared charts.
	growth = 1.5
	// rungWork bounds the total number of rows in charts of one size. There are at least fewestPlaces charts.
	rungWork, fewestPlaces = 500_000, 400
	// nearPlaces is the number of nearest points over which noise and risks are averaged.
	nearPlaces = 40
	// noiseReach is the size of a neighbourhood, in units of the noise, from which on its chart shows most of the
	// noise.
	noiseReach = 5.5
	// mostRungs is the number of chart sizes that are examined beyond the first suitable one.
	mostRungs = 2
	// pilotRidge is the ridge of charts whose ridge is not chosen. pilotRows is the largest number of rows per basis
	// function in the pilot.
	pilotRidge, pilotRows = 0.03, 10
	// tooLow is the coefficient of the bias of the noise estimate. The relative bias is tooLow over the fourth power
	// of the noise in units of the chart size, as found in clouds with noise of all sizes.
	tooLow = 64
	// growthByChance is the factor by which the noise estimate may grow by chance.
	growthByChance = 1.05
	// leastNoise is the noise, in units of the neighbourhood size, below which the residuals are due to the deviation
	// of charts from the surface.
	leastNoise = 0.01
	// unevenQuartiles is the logarithm of the ratio of the quartiles of the noise from which on it is uneven.
	unevenQuartiles = 0.5
)

// rung holds the results at all points of charts with one number of rows.
type rung struct {
	neighbors int
	size      []float64 // distance of the first row left out
	noise     []float64 // by the residuals of the nearer rows, 0 without a chart
	square    []float64 // squared distance of the row from its projection
	own       []float64 // influence of the row on its projection
}

func newRung(neighbors, n int) *rung {
	vec := func() []float64 { return make([]float64, n) }
	return &rung{neighbors, vec(), vec(), vec(), vec()}
}

// ladder makes charts of several sizes at points.
type ladder struct {
	*cloudCharts
	rows  []int   // of the places
	near  [][]int // nearby points of each, by their index in rows
	rungs []*rung
	// asksNoise requests that each chart also estimates the noise.
	asksNoise bool
}

// newLadder chooses some rows as points.
func (p *cloudCharts) newLadder() (*ladder, error) {
	l := &ladder{cloudCharts: p, rows: p.cloud.Some(MostPlaces)}
	l.near = make([][]int, len(l.rows))
	number := make([]int, p.cloud.N)
	for j, i := range l.rows {
		number[i] = j
	}
	index, D := p.placesOf(l.rows), p.cloud.D
	err := p.each(l.rows, func(w *worker, j, i int) {
		for _, f := range w.rows.Search.Find(index, p.places.y[i*D:(i+1)*D], nearPlaces) {
			l.near[j] = append(l.near[j], number[f.Row])
		}
	})
	return l, err
}

// about returns the median of the positive values at the points nearest to the given one.
func (l *ladder) about(values []float64, place int) float64 {
	var v [nearPlaces]float64
	n := 0
	for _, k := range l.near[place] {
		if values[k] > 0 {
			v[n] = values[k]
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return core.Median(v[:n])
}

// climb makes charts with the given number of rows at the points.
func (l *ladder) climb(neighbors int, s setting) (*rung, error) {
	r := newRung(neighbors, len(l.rows))
	l.rungs = append(l.rungs, r)
	D := l.cloud.D
	return r, l.each(l.rows[:min(len(l.rows), max(rungWork/neighbors, fewestPlaces))], func(w *worker, j, i int) {
		s := l.settingAt(i, s)
		s.neighbors = neighbors
		ok := w.chartRow(w.foot, i, &s)
		r.size[j] = w.rows.Next
		if !ok {
			return
		}
		x := l.cloud.Row(i)
		for k, v := range w.foot[:D] {
			r.square[j] += (x[k] - v) * (x[k] - v)
		}
		if own := w.rows.Place(i); own >= 0 {
			r.own[j] = w.chart.Influence(own)
		}
		if l.asksNoise {
			r.noise[j] = max(w.seenNoise(i, &s), core.Exact*w.rows.Next)
		}
	})
}

// fewest is the least number of rows of the compared charts: planes of fewer rows fit the rows in many directions.
func (p *preparation) fewest() int {
	return 3*chart.Quadratics(p.method.Latent) + 2*(p.D-p.method.Latent-1)
}

// rungSizes returns the numbers of rows of charts to compare, from the given fewest upwards.
func (p *preparation) rungSizes(fewest int) (sizes []int) {
	for k := float64(min(fewest, p.n-1)); k < float64(p.n); k *= growth {
		sizes = append(sizes, int(k))
	}
	return sizes
}

// pilot estimates the noise from charts of several sizes, and then denoises the rows once.
func (p *preparation) pilot() error {
	functions := chart.Quadratics(p.method.Latent)
	l, err := p.charts.newLadder()
	if err != nil {
		return err
	}
	l.asksNoise = true
	s := setting{Setting: chart.Setting{Ridge: pilotRidge, Rounds: 2, Cut: math.Inf(1)}}
	var noise, sizes [][]float64 // by rung and place, as seen near by
	most := -1                   // rung of the noise of most places
	for k, size := range p.rungSizes(p.fewest()) {
		r, err := l.climb(size, s)
		if err != nil {
			return err
		}
		noise, sizes = append(noise, make([]float64, len(l.rows))), append(sizes, make([]float64, len(l.rows)))
		for j := range l.rows {
			noise[k][j], sizes[k][j] = l.about(r.noise, j), l.about(r.size, j)
		}
		if most < 0 && core.Median(reaches(noise[k], sizes[k])) >= noiseReach {
			most = k
		}
		if size >= pilotRows*functions && most >= 0 && k >= most+mostRungs || 2*size > p.n {
			break
		}
	}
	if err := p.takeNoise(l, firstRungs(noise, sizes), noise, sizes); err != nil {
		return err
	}
	if !p.charts.sided() {
		return p.advance(p.setting)
	}
	return p.chartSides()
}

// reaches returns sizes of neighbourhoods divided by the noise.
func reaches(noise, sizes []float64) []float64 {
	v := make([]float64, len(noise))
	for j := range v {
		v[j] = sizes[j] / noise[j]
	}
	return v
}

// firstRungs returns, for each point, the first rung large enough to show its noise.
func firstRungs(noise, sizes [][]float64) []int {
	last := len(noise) - 1
	first := make([]int, len(noise[0]))
	for j := range first {
		for first[j] < last {
			if sizes[first[j]][j] >= noiseReach*noise[first[j]][j] {
				break
			}
			first[j]++
		}
	}
	return first
}

// chartSides makes charts of the surface between two sheets, and then charts of the sheet on which each row lies.
func (p *preparation) chartSides() error {
	known := p.charts.about
	p.charts.about = slices.Clone(known)
	for i := range known {
		a := &p.charts.about[i]
		a.scale, a.sides = math.Hypot(a.scale, a.sides), 0
	}
	if err := p.advance(p.setting); err != nil {
		return err
	}
	p.charts.about = known
	return p.advance(p.setting)
}

// takeNoise sets the noise and the number of rows of the pilot charts at every point.
func (p *preparation) takeNoise(l *ladder, first []int, noise, sizes [][]float64) error {
	last := len(noise) - 1
	places := make([]about, len(l.rows))
	scales := make([]float64, len(l.rows))
	var all, growths []float64
	for j := range l.rows {
		k := first[j]
		up := min(k+mostRungs, last)
		v := noise[k][j]
		if v > 0 {
			v *= 1 + tooLow*math.Pow(v/sizes[k][j], 4)
			growths = append(growths, noise[up][j]/noise[k][j])
			grows := max(1, noise[up][j]/v/growthByChance)
			v /= grows * grows
		}
		scales[j], places[j].scale = v, v
		all = append(all, sizes[k][j])
	}
	size := core.Median(all)
	if !(size > 0) {
		return fmt.Errorf("denoise: auto: squares of the distances to the nearest neighbours of most rows are beyond the numbers; rescale the rows: %w", core.ErrInput)
	}
	scale := max(core.Median(slices.Clone(scales)), core.Exact*size)
	s := &p.setting
	s.Setting = chart.Setting{Ridge: pilotRidge, Rounds: 3}
	s.noisy, s.pilot, s.many = scale > leastNoise*size, true, p.n > MostPlaces
	s.uneven = s.noisy && isUneven(scales)
	p.setScale(s, scale, !p.method.LeastSquares)
	functions := float64(chart.Quadratics(p.method.Latent))
	for j := range places {
		a := &places[j]
		if !s.uneven {
			a.scale = scale
		}
		a.scale = min(max(a.scale, core.Exact*scale), mostLocal*scale)
		a.neighbors = l.rowsOfLeastRisk(j, first[j], noise, a.scale, functions)
	}
	if err := p.judgeNoise(l, scales, growths); err != nil {
		return err
	}
	if p.charts.sparse && !s.many { // few rows fit two sheets by chance
		return p.charts.take(l, places)
	}
	r, pair, err := p.findSheets(l, setting{Setting: chart.Setting{Ridge: pilotRidge, Rounds: 2, Cut: p.tune.Cut * scale}})
	if err != nil {
		return err
	}
	if r != nil && p.charts.sparse { // between two sheets the noise was too large
		if err := p.judgeNoise(l, slices.Repeat([]float64{pair.scale}, len(scales)), growths); err != nil {
			return err
		}
	}
	if r != nil && !p.charts.sparse {
		takeSheets(r, pair, places)
		p.charts.sheets = pair
	}
	return p.charts.take(l, places)
}

// rowsOfLeastRisk returns the number of rows of the charts of least risk near a point, given the noise estimated by
// the rungs from first on.
func (l *ladder) rowsOfLeastRisk(place, first int, noise [][]float64, scale, functions float64) (neighbors int) {
	least, rises := math.Inf(1), 0
	for k := first; k < len(noise) && rises < 2 && noise[k][place] > 0; k++ {
		v := noise[k][place]
		rises++
		if risk := v*v + 2*scale*scale*functions/float64(l.rungs[k].neighbors); risk < least {
			neighbors, least, rises = l.rungs[k].neighbors, risk, 0
		}
	}
	return neighbors
}

// judgeNoise leaves all rows unchanged if the nearest rows and the growth of the noise with the chart size together
// refute the noise. Growth by twice the chance value counts as one standard error.
func (p *preparation) judgeNoise(l *ladder, noise, growths []float64) error {
	if !p.setting.noisy || len(growths) == 0 {
		return nil
	}
	off, within, err := l.nearestRefute(noise)
	if p.setting.many { // the nearest rows alone tell enough, unless noise hardly reaches from one to the other
		off *= math.Sqrt(within)
	} else {
		off += math.Log(core.Median(growths)) / (2 * math.Log(growthByChance))
	}
	p.charts.sparse = off > likely
	return err
}

// mostLocal bounds the noise near a point, in units of the overall noise: parts as thin as neighbourhoods look like
// noise.
const mostLocal = 2.5

// isUneven reports whether the noise varies in space beyond chance. It compares the quartiles, so that edges and
// outliers do not count.
func isUneven(scales []float64) bool {
	v := slices.Clone(scales)
	slices.Sort(v)
	n := len(v)
	return v[n/4] > 0 && math.Log(v[n*3/4]/v[n/4]) > unevenQuartiles
}

// seenNoise estimates the noise by the residuals of all rows from the least-squares chart of row i. If those of the
// nearer rows are much smaller, it uses a chart by Tukey's loss, as outliers and other faces are among the more
// distant rows.
func (w *worker) seenNoise(i int, s *setting) float64 {
	all, near := w.chart.Noise(), w.nearNoise()
	if !math.IsInf(s.Cut, 1) || all < farNoise*near {
		return all
	}
	robust := *s
	robust.Cut = w.tune.Cut * farNoise * near
	if !w.chartRow(w.foot, i, &robust) {
		return all
	}
	return w.chart.Noise()
}

// nearNoise estimates the noise by the residuals of the nearer rows from the chart.
func (w *worker) nearNoise() float64 {
	n := len(w.rows.Prior)
	w.all = dense.Grow(w.all, n)
	w.chart.Residuals(w.all[:n])
	near := max(2*n/3, 1)
	functions := float64(chart.Quadratics(w.method.Latent))
	return w.tune.Typical(w.all[:near]) / math.Sqrt(max(1-functions/float64(n), .2))
}

// A surface that is as thin as its rows are far apart, such as the legs of a chair of few rows, looks to every chart like one with noise. The nearest rows tell
// the two apart: within the noise they lie on all sides of each other, and their numbers grow with the distance r as r^D; on a surface as r^d. Of r_1 to r_k,
// the distances of the k nearest rows, the sum of log(r_k/r_j) is (k-1)/m in the mean where numbers grow as r^m, with the variance (k-1)/m^2.
//
// Source: E. Levina, P. J. Bickel, Maximum likelihood estimation of intrinsic dimension, NIPS 17 (2004).

const (
	// nearestRows is k.
	nearestRows = 4
	// chiQuantiles is the number of quantiles used to average over the noise. dimensionStep is the ratio of the two
	// distances at which numbers of rows are compared.
	chiQuantiles, dimensionStep = 64, 1.4
)

// nearestRefute returns the number off of standard errors by which nearest rows refute the noise of the charts. It also
// returns how far these rows are within that noise: 1 if their number grows as r^D, 0 if it grows as r^d.
func (l *ladder) nearestRefute(noise []float64) (off, within float64, err error) {
	d, q := float64(l.method.Latent), l.q
	squares := make([]float64, chiQuantiles)
	for k, chi := 0, (distuv.ChiSquared{K: q}); k < chiQuantiles; k++ {
		squares[k] = chi.Quantile((float64(k) + .5) / chiQuantiles)
	}
	sums, n, parts := make([]float64, len(l.rows)), make([]float64, len(l.rows)), make([]float64, len(l.rows))
	err = l.each(l.rows, func(w *worker, j, i int) {
		found := w.rows.Search.Find(l.cloud.Index, l.cloud.Row(i), nearestRows+1)
		if len(found) <= nearestRows || !(found[1].Distance > 0) || !(noise[j] > 0) {
			return
		}
		last := found[nearestRows].Distance
		for _, f := range found[1:nearestRows] {
			sums[j] += math.Log(last/f.Distance) / 2
		}
		m := growthOfNumbers(math.Sqrt(last)/noise[j], d, q, squares)
		sums[j] *= m
		n[j], parts[j] = nearestRows-1, (nearestRows-1)*(m-d)/q
	})
	many := max(floats.Sum(n), 1)
	return (floats.Sum(sums) - floats.Sum(n)) / math.Sqrt(many), floats.Sum(parts) / many, err
}

// growthOfNumbers is the exponent m with which the number of rows grows up to the distance in units of the noise. It
// assumes that rows are uniform along the surface. The squared normal distance of two rows is twice the variance of
// the noise times a variable with the given quantiles, in q directions.
func growthOfNumbers(distance, d, q float64, squares []float64) float64 {
	number := func(distance float64) (sum float64) {
		for _, square := range squares {
			if left := distance*distance/2 - square; left > 0 {
				sum += math.Pow(left, d/2)
			}
		}
		return sum
	}
	low := number(distance / dimensionStep)
	if low == 0 {
		return d + q
	}
	return min(math.Log(number(distance)/low)/math.Log(dimensionStep), d+q)
}
