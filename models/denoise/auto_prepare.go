package denoise

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
)

// autoPrepare finds the noise, K and the ridge, from what charts tell of the rows.
type autoPrepare struct {
	autoSettings
	n, D   int // rows of positive weight, and columns
	charts charts

	// flat is the linear model where it is better.
	flat *flatter

	// seen is the noise that the charts of the fewest neighbours compared see, in units of that of the pilot; 0 is 1.
	seen float64

	growing int     // the number of rows that charts may grow from, 0 where they do not
	lost    float64 // the part of the rows that does not count for the pilot

	grown  bool    // the pilot has more neighbours than it began with
	floor  float64 // of the noise
	eps    float64 // length of the perturbation
	probes int
}

// charts makes the charts of the rows of a cloud, wherever they are. Rows are those of
// positive weight, in their order.
type charts interface {
	// perturb makes so many probes, of which the rows move by eps in every column.
	perturb(probes int, eps float64) error
	// measure takes what charts about some rows tell of thin parts, for a pilot that looks for these.
	measure(s setting) error
	// chart makes the charts of an order.
	chart(o order) (*charted, error)
	// follow takes the feet of the probes on the charts of the rows for their places.
	follow(s setting) error
	// compare makes the charts of candidates of one number of neighbours for the selection,
	// and for probes of some of it, or for a part of the selection.
	compare(s setting, list []candidate, of portion) ([]*compared, error)
	// holdOut makes charts of the same rows with noise added, until that is taken back.
	holdOut(s autoSettings, noise heldNoise) (heldRows, error)
}

// order says which charts to make, at the places that rows have.
type order struct {
	// some is for the selection only, or a part of it.
	some bool
	of   portion
	// diverge asks probes for the divergence.
	diverge bool
	// keep takes the feet for the places, and keeps the charts.
	keep    bool
	setting setting
}

// asksBends tells whether charts of a pilot are to tell how much the surface bends.
func (o *order) asksBends() bool { return o.keep && o.setting.bent > 0 }

// rowsThemselves is the probe that is none.
const rowsThemselves = -1

// charted is what charts tell of rows, each by its place in the list.
type charted struct {
	size      []float64 // distance of the first row left out
	far       []float64 // of the row itself from the foot
	shrinkage []float64 // of that distance
	// local is the noise about the row in units of that of all, as looks of the pilot with Tukey's loss see it, trusted 0
	// for rows that the loss does not count.
	local, trusted []float64
	// divergence is what probes say, where that is asked for.
	divergence []float64
	// bend is how much the surface bends about the row, where that is asked for.
	bend []float64
	// noise is what the chart of the row sees, 0 without one, where that is asked for.
	noise []float64
}

func newCharted(n int, o *order) *charted {
	vec := func() []float64 { return make([]float64, n) }
	c := &charted{size: vec(), far: vec(), shrinkage: vec(), local: vec(), trusted: vec()}
	if o.diverge {
		c.divergence = vec()
	}
	if o.asksBends() {
		c.bend = vec()
	}
	if o.asksNoise() {
		c.noise = vec()
	}
	return c
}

// columns are the vectors by row.
func (c *charted) columns() [][]float64 {
	list := [][]float64{c.size, c.far, c.shrinkage, c.local, c.trusted}
	if c.divergence != nil {
		list = append(list, c.divergence)
	}
	if c.bend != nil {
		list = append(list, c.bend)
	}
	if c.noise != nil {
		list = append(list, c.noise)
	}
	return list
}

const (
	// selectionRows bounds the rows on which candidates are compared, whose differences
	// are paired, and probedRows those of them that are perturbed.
	selectionRows = 800
	probedRows    = 400
)

func median(v []float64) float64 {
	return dense.Select(v, len(v)/2)
}

// typical is the standard deviation of the noise by distances from the surface: their
// median over its value for unit noise, where those that noise hardly explains do not
// count. One row in five that is anywhere would raise it by a third.
func (a *autoSettings) typical(far []float64) float64 {
	n := len(far)
	middle := n / 2
	s := dense.Select(far, middle) / a.tune.median
	for range typicalSteps {
		within := 0
		for _, v := range far {
			if v < a.tune.far*s {
				within++
			}
		}
		before := middle
		if middle = min(within/2, n-1); middle == before {
			break
		}
		s = dense.Select(far, middle) / a.tune.median
	}
	return s
}

// level is what typical finds. A median of few rows has a standard error of 5 % and more: then it is the root mean square of the
// distances that noise explains but for nearTail, over that of noise without these, which has two thirds of it, unless the two differ
// by more than chance: then the distances are not those of one normal noise, as between two sheets.
func (p *autoPrepare) level(far []float64) float64 {
	s := p.typical(far)
	if p.n > levelRows {
		return s
	}
	slices.Sort(far)
	chi, wider := distuv.ChiSquared{K: p.q}, distuv.ChiSquared{K: p.q + 2}
	square := chi.Quantile(1 - nearTail)
	kept := math.Sqrt(p.q * wider.CDF(square) / chi.CDF(square))
	r := s
	for range typicalSteps {
		within, _ := slices.BinarySearch(far, math.Sqrt(square)*r)
		if within == 0 {
			break
		}
		r = floats.Norm(far[:within], 2) / math.Sqrt(float64(within)) / kept
	}
	if math.Abs(r-s)*math.Sqrt(float64(min(len(far), p.n))*p.q) > levelApart*s {
		return s
	}
	return r
}

const (
	// levelRows is the number of rows up to which a median says little of the noise.
	levelRows = 500
	// nearTail is the part of normal noise that counts for nothing in the noise of few rows.
	nearTail = 0.02
	// levelApart is three standard deviations of the relative difference of the two estimates, times the root of the number of rows
	// and directions.
	levelApart = 3 * 0.9
)

const (
	// typicalSteps is the number of times that distances are left out.
	typicalSteps = 6
	// typicalTail is the part of normal noise that is left out.
	typicalTail = 5e-4
)

// spread is the standard deviation of the noise by the median distance of the
// rows that have been charted from their feet. Each distance is
// first divided by what the chart, being pulled towards the row, has left of it:
// a chart that follows its own row would else pass for one without noise, and a
// loss that bends with that noise would make it follow the more.
func (p *autoPrepare) spread(c *charted) float64 { return p.typical(c.corrected()) }

// corrected are the distances from the feet over the shrinkage.
func (c *charted) corrected() []float64 {
	far := make([]float64, len(c.far))
	for k, v := range c.far {
		far[k] = v / c.shrinkage[k]
	}
	return far
}

// lost is the part of rows that do not count.
func (c *charted) lost() float64 {
	n := 0
	for _, v := range c.trusted {
		if !(v > 0) {
			n++
		}
	}
	return float64(n) / float64(len(c.trusted))
}

// mostFollowed bounds the correction: charts that jump between two sheets follow their rows
// more than any noise makes them.
const mostFollowed = 1.35

// spreadFollowed is the spread of rows from their feet, which probes have been asked
// for. Where neighbourhoods are hardly larger than the
// noise, neighbours are those that share the noise of a row, and pull the chart
// after it: the shrinkage does not know of that, the divergence does.
func (p *autoPrepare) spreadFollowed(c *charted, before float64) float64 {
	var sum, counted float64
	for k, v := range c.divergence {
		if c.trusted[k] > 0 {
			sum += v
			counted++
		}
	}
	left := max(float64(p.D)-sum/max(counted, 1), p.q/4)
	followed := p.typical(slices.Clone(c.far)) * math.Sqrt(p.q/left)
	return max(min(max(followed, p.spread(c)), mostFollowed*before), p.floor)
}

// pilot denoises once with a number of neighbours that errs on the large side.
func (p *autoPrepare) pilot() error {
	functions := chart.Quadratics(p.method.Latent)
	s := setting{neighbors: max(min(10*functions, p.n/3), functions+2), pilot: true, Setting: chart.Setting{Ridge: pilotRidge, Rounds: 3, Steps: chart.RobustSteps}}
	p.probes = maxProbes
	if p.n > fewRows {
		p.probes = 1
	}
	first := s.neighbors
	seen, err := p.grow(&s)
	if err != nil {
		return err
	}
	p.grown = s.neighbors > first
	if wide, err := p.lookForSheets(s, seen); err != nil || wide {
		return err
	}
	p.growing = p.growsFrom(&s, seen)
	s.thin, s.bent = p.mayBeThin(&s, seen), p.bentRows(&s, seen.size)
	if s.measured() {
		if err := p.charts.measure(s); err != nil {
			return err
		}
	}
	s.keepsSides = p.growing > 0
	return p.advance(s, true)
}

// grow takes more neighbours while these are hardly further than the noise, unless they are on another sheet. Correcting
// the noise makes it larger, so that it is done only where it decides. Numbers for which neighbourhoods, whose size grows no faster than the root of
// their number on a surface, are too small by the noise of fewer rows are passed over, unless another sheet may be what they would show.
func (p *autoPrepare) grow(s *setting) (seen look, err error) {
	skipped, skip := false, true
	for before := *s; ; {
		last := seen
		if seen, err = p.lookUncorrected(s); err != nil {
			return look{}, err
		}
		if before.Scale > 0 && s.Scale > otherSheet*before.Scale {
			*s = before
			if !skipped {
				return last, p.followScale(s)
			}
			seen, skipped, skip = last, false, false
			s.neighbors = p.moreNeighbors(s.neighbors)
			continue
		}
		plain, most := *s, s.neighbors >= p.n/2
		if most || seen.size >= pilotReach*s.Scale {
			if err = p.followScale(s); err != nil || most || seen.size >= pilotReach*s.Scale {
				return seen, err
			}
		}
		before, *s = plain, plain
		first := p.moreNeighbors(s.neighbors)
		s.neighbors = first
		for skip && s.neighbors < p.n/2 && seen.size*math.Sqrt(float64(s.neighbors)/float64(before.neighbors)) < pilotReach*before.Scale {
			s.neighbors = p.moreNeighbors(s.neighbors)
		}
		skipped = s.neighbors > first
	}
}

// moreNeighbors is the next number of neighbours that a pilot tries.
func (p *autoPrepare) moreNeighbors(k int) int {
	return min(int(math.Ceil(pilotGrowth*float64(k))), p.n)
}

// pilotGrowth is the ratio of the numbers of neighbours that a pilot tries.
const pilotGrowth = 1.4

// look is what charts of some rows show: their distances from these, corrected, the median size of neighbourhoods,
// and the noise, plain by charts of least squares.
type look struct {
	far                []float64
	size, scale, plain float64
}

// lookUncorrected finds the noise as lookAtNoise does, and whether it is uneven.
func (p *autoPrepare) lookUncorrected(s *setting) (look, error) {
	seen, c, err := p.lookAtNoise(s)
	if err != nil {
		return look{}, err
	}
	if s.uneven = s.noisy && p.n >= unevenRows && isUneven(c.local, unevenQuartiles); s.uneven {
		s.uneven, err = p.isUnevenOfFew(*s)
	}
	return seen, err
}

// isUnevenOfFew tells whether noise that charts see to be uneven is so for those of fewer rows: what a surface bends by, or an edge, is less
// for these, and the noise is the same. Where neighbourhoods of few rows are hardly larger than the noise they tell nothing. In space charts that
// grow, and keep away from edges, have to see it as well.
func (p *autoPrepare) isUnevenOfFew(s setting) (bool, error) {
	few := unevenFew * chart.Quadratics(p.method.Latent)
	if s.neighbors <= few {
		return true, nil
	}
	floor := p.floor
	defer func() { p.floor = floor }()
	s.neighbors, s.uneven = few, false
	seen, c, err := p.lookAtNoise(&s)
	if err != nil || seen.size < minReach*seen.scale {
		return true, err
	}
	if !isUneven(c.local, unevenOfFew) || !p.inSpace() || p.method.LeastSquares {
		return isUneven(c.local, unevenOfFew), nil
	}
	s.neighbors, s.from = edgeUneven, edgeRows
	_, c, err = p.lookRobustly(&s, seen) // for the noise of the look before
	return err == nil && isUneven(c.local, unevenOfFew), err
}

// lookAtNoise fits the rows at their own places, by least squares and then with Tukey's
// loss, and leaves the noise in s. Some of the rows are enough for that.
func (p *autoPrepare) lookAtNoise(s *setting) (seen look, c *charted, err error) {
	if seen, c, err = p.lookPlainly(s); err != nil || p.method.LeastSquares {
		return seen, c, err
	}
	return p.lookRobustly(s, seen)
}

// lookPlainly fits them by least squares, and bounds the noise from below by what these see.
func (p *autoPrepare) lookPlainly(s *setting) (look, *charted, error) {
	p.setScale(s, 0, false)
	c, err := p.charts.chart(order{some: true, setting: *s})
	if err != nil {
		return look{}, nil, err
	}
	size := median(slices.Clone(c.size))
	if !(size > 0) {
		return look{}, nil, fmt.Errorf("denoise: auto: squares of the distances to the %d nearest neighbours of most rows are beyond the numbers; rescale the rows: %w", s.neighbors, ErrInput)
	}
	first := max(median(c.corrected())/p.tune.median, exact*size)
	p.floor = pilotFloor * first
	p.setScale(s, first, !p.method.LeastSquares)
	return look{size: size, scale: first, plain: first}, c, nil
}

// lookRobustly fits them with Tukey's loss, after a look that has left a first value of the noise in s.
func (p *autoPrepare) lookRobustly(s *setting, seen look) (look, *charted, error) {
	var c *charted
	for range maxLooks {
		var err error
		if c, err = p.charts.chart(order{some: true, setting: *s}); err != nil {
			return look{}, nil, err
		}
		before := s.Scale
		p.setScale(s, max(p.spread(c), p.floor), true)
		if math.Abs(s.Scale-before) <= settled*before {
			break
		}
	}
	s.noisy = s.Scale > leastNoise*seen.size
	seen.far, seen.scale = c.corrected(), s.Scale
	return seen, c, nil
}

// otherSheet is the factor by which the noise grows with a few more neighbours where these
// are on another sheet: no more are then taken.
const otherSheet = 1.5

const (
	// maxLooks bounds the number of times that the noise is estimated anew with Tukey's loss,
	// until it changes by no more than the fraction settled.
	maxLooks = 6
	settled  = 0.03
)

// isUneven tells whether the noise about rows, in units of that of all, differs from place
// to place beyond chance: in the quartiles, so that edges and outliers are not meant.
func isUneven(local []float64, quartiles float64) bool {
	v := slices.Clone(local)
	slices.Sort(v)
	n := len(v)
	return v[n/4] > 0 && math.Log(v[n*3/4]/v[n/4]) > quartiles
}

// unevenQuartiles is the logarithm of the ratio of the quartiles from which on noise is
// uneven: twice that of estimates by 40 rows of even noise.
const unevenQuartiles = 0.5

// unevenOfFew is the same for charts of few rows, of which the chance in the logarithm is .39 in place of .25 for the same unevenness.
const unevenOfFew = 0.58

const (
	// unevenRows is the least number of rows among which noise can be told to be uneven.
	unevenRows = 1000
	// unevenFew is the number of rows for each function of the charts of few rows that have to see it too.
	unevenFew = 4
	// leastNoise is the least noise, in units of the size of neighbourhoods: below it is the
	// charts that differ from the surface by more or less, and the distance of a row from its
	// place says nothing about the row.
	leastNoise = 0.01
)

// followScale corrects the noise for what neighbours share with their row.
func (p *autoPrepare) followScale(s *setting) error {
	p.eps = perturbation * s.Scale
	if err := p.charts.perturb(p.probes, p.eps); err != nil {
		return err
	}
	c, err := p.charts.chart(order{some: true, diverge: true, setting: *s})
	if err == nil && s.uneven && p.spread(c) > mostFollowed*s.Scale {
		// Neighbourhoods that grow with the noise about them have met another sheet.
		s.uneven = false
		c, err = p.charts.chart(order{some: true, diverge: true, setting: *s})
	}
	if err == nil {
		p.setScale(s, p.spreadFollowed(c, s.Scale), !p.method.LeastSquares)
		p.lost = c.lost()
	}
	return err
}

// advance takes the feet for the places of the rows, and where probes are asked again those of these on the same
// charts for theirs.
func (p *autoPrepare) advance(s setting, probes bool) error {
	s.oneIn = p.oneIn(&s)
	c, err := p.charts.chart(order{keep: true, setting: s})
	if err != nil {
		return err
	}
	if c.bend != nil {
		s.bent, s.bends = 0, bendsOf(c.bend, s.bent)
	}
	if c.noise != nil {
		s.flat = flatNoise(c.noise, s.neighbors)
	}
	p.setting = s
	switch {
	case !probes:
		return nil
	case p.knowsBeyond():
		return p.charts.perturb(0, p.eps) // nothing asks them from here on
	}
	return p.charts.follow(s)
}
