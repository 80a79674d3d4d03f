package denoise

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/models/denoise/internal/chart"
)

// candidate is what auto chooses.
type candidate struct {
	neighbors int
	ridge     float64
}

// likely is the number of standard errors by which a number of neighbours must be
// worse than the best so far for larger ones not to be looked at.
const likely = 2

// sizes are the candidates for K.
func (p *autoPrepare) sizes() []int {
	if p.method.Neighbors > 0 {
		return []int{min(p.method.Neighbors, p.n)}
	}
	n, least := p.n, 6*chart.Quadratics(p.method.Latent)
	most := min(float64(n)*0.75, maxNeighbors)
	var list []int
	for k := float64(least); k <= most; k *= growth {
		list = append(list, int(k))
	}
	if list == nil {
		list = append(list, max(min(least, n*3/4), chart.Quadratics(p.method.Latent)+2))
	}
	return list
}

// compared is a candidate with what tells its risk, by row of the selection.
type compared struct {
	candidate
	// For each of the crowd of the row: the square of the distance from the mean foot, the
	// influence of the row on it, the noise about the row; trusted is 0 for rows that the loss
	// did not count, by their places, or that are not there: a chart of few rows can follow
	// those, which is no gain.
	square, own, scale, trusted [crowdRows][]float64
	extra                       []float64 // of the divergence over what influences say, NaN where not probed
	sizes                       []float64 // of neighbourhoods

	size, more float64 // their median, and the mean of the divergence beyond influences
	risk       []float64
	parts      int  // of the selection that it has been compared by
	trustsAll  bool // so many rows did not count that all do, those of other parts of the selection too
}

func newCompared(c candidate, n int) *compared {
	out := &compared{candidate: c, extra: make([]float64, n), sizes: make([]float64, n)}
	for r := range crowdRows {
		for _, v := range []*[crowdRows][]float64{&out.square, &out.own, &out.scale, &out.trusted} {
			v[r] = make([]float64, n)
		}
	}
	return out
}

// add takes what the same candidate is compared by in another part of the selection.
func (c *compared) add(other *compared) {
	c.extra, c.sizes = append(c.extra, other.extra...), append(c.sizes, other.sizes...)
	for r := range crowdRows {
		c.square[r], c.own[r] = append(c.square[r], other.square[r]...), append(c.own[r], other.own[r]...)
		c.scale[r], c.trusted[r] = append(c.scale[r], other.scale[r]...), append(c.trusted[r], other.trusted[r]...)
	}
}

// columns are the vectors by row.
func (c *compared) columns() [][]float64 {
	list := [][]float64{c.extra, c.sizes}
	for r := range crowdRows {
		list = append(list, c.square[r], c.own[r], c.scale[r], c.trusted[r])
	}
	return list
}

// exactRounds is the number of times that charts of rows nearly without noise are placed.
const exactRounds = 5

// choose takes the K and the ridge of the least estimated risk, and the noise that these
// tell. Numbers of neighbours go up until the risk does, and down from the first while it falls.
func (p *autoPrepare) choose() (*compared, error) {
	s := p.setting
	s.pilot, s.thin, s.keepsSides, s.Ridge = false, false, false, pilotRidge
	if !s.noisy {
		s.Ridge, s.Rounds = 0, exactRounds // which is exact for quadratic surfaces
	}
	sizes := p.sizes()
	s.least = sizes[0]
	s.creased = p.mayCrease(&s)
	sizes, err := p.largeEnough(s, sizes)
	if err != nil {
		return nil, err
	}
	t := trials{autoPrepare: p, setting: s, sizes: sizes, first: min(firstSize, len(sizes)-1)}
	best, err := t.run()
	if err != nil {
		return nil, err
	}
	if best, s.from, err = t.chooseGrowing(best); err != nil {
		return nil, err
	}
	if best, s.creased, err = t.chooseCreased(best); err != nil {
		return nil, err
	}
	if s.from == 0 && len(t.ridges()) == 1 {
		if best.ridge, err = t.bestRidge(best); err != nil {
			return nil, err
		}
	}
	s.neighbors, s.Ridge = best.neighbors, best.ridge
	p.setting = s
	p.setScale(&p.setting, p.spreadOf(best), !p.method.LeastSquares)
	p.setting.between = p.setting.noisy && p.method.Latent == p.D-1 && best.betweenSheets(p.n)
	return best, nil
}

// trials are candidates that have been compared, by the number of neighbours.
type trials struct {
	*autoPrepare
	setting setting
	sizes   []int
	first   int       // of the sizes that is tried first
	rival   *compared // that the first must not be surely worse than, if any
	brief   bool      // sizes go up until one is worse, surely or not, as where charts grow, which cost more
	tried   [][]*compared
}

const (
	// race is the number of parts that the selection of many rows is compared by.
	race = 8
	// raceRows is the number of rows that are many: rows of parts of fewer would have charts in common, which were made for each part.
	raceRows = 5 * selectionRows
	// leastParts is the number of parts without which no choice is settled, surelyRaced the number of standard errors by which a size is worse that other
	// parts do not look at.
	leastParts, surelyRaced = 2, 1.5
	// tolerable is what a choice may be expected to lose, in units of the variance of the feet, for the other parts to be left.
	tolerable = 0.01
)

// parts is the number of parts that the selection is compared by: sizes that are surely worse by the first are not looked at by others. Where probes say what the
// divergence is parts are larger, and where noise is uneven as well there is one: a few rows make most of the risk then.
func (t *trials) parts() int {
	switch {
	case t.n < raceRows || t.method.linear != nil:
		return 1
	case t.knowsBeyond():
		return race
	case t.setting.uneven:
		return 1
	}
	return race / 2
}

// ridges are those that sizes are compared with. With any ridge charts that grow lose more rows near edges, which the risk does not see.
func (t *trials) ridges() []float64 {
	switch {
	case t.setting.from > 0:
		return candidateRidges[:1]
	case t.parts() == race && t.setting.noisy:
		return []float64{pilotRidge}
	}
	return candidateRidges
}

// run returns the best candidate, nil where the first are surely worse than the rival.
func (t *trials) run() (best *compared, err error) {
	if best, err = t.qualify(); best == nil || err != nil {
		return nil, err
	}
	for part := 1; part < t.parts() && (part < leastParts || t.mayLose(best) > tolerable); part++ {
		t.tried = slices.DeleteFunc(t.tried, func(out []*compared) bool { return leastRisk(out).worseBy(surelyRaced, best) })
		for _, out := range t.tried {
			if err := t.compareBy(portion{part, t.parts()}, out); err != nil {
				return nil, err
			}
		}
		best = t.again()
	}
	return best, nil
}

// mayLose is the most that the best candidate so far is expected to be worse by than another, as normal risks say, in units of the variance of its
// feet.
func (t *trials) mayLose(best *compared) (most float64) {
	if !t.knowsBeyond() {
		return math.Inf(1) // the risk has more chance in it than it says
	}
	scale := t.noiseSeen() * t.autoPrepare.setting.Scale
	for _, out := range t.tried {
		for _, c := range out {
			if mean, err := c.over(best); err > 0 {
				most = max(most, err*distuv.UnitNormal.Prob(mean/err)-mean*distuv.UnitNormal.Survival(mean/err))
			}
		}
	}
	return most / (scale * scale * t.q * stat.Mean(best.own[0], nil))
}

// bestRidge compares ridges for the best number of neighbours: these differ so little by chance that the next part of the selection is enough.
func (t *trials) bestRidge(best *compared) (float64, error) {
	var list []*compared
	for _, ridge := range candidateRidges {
		list = append(list, newCompared(candidate{best.neighbors, ridge}, 0))
	}
	if err := t.compareBy(portion{best.parts % t.parts(), t.parts()}, list); err != nil {
		return 0, err
	}
	for _, c := range list {
		t.estimate(c, nil)
	}
	return leastRisk(list).ridge, nil
}

// qualify returns the best candidate by the first part of the selection, nil where the first are surely worse than the rival.
func (t *trials) qualify() (best *compared, err error) {
	from := t.first
	for k := from; k < len(t.sizes); k++ {
		out, large, err := t.try(k)
		if err != nil {
			return nil, err
		}
		if !large {
			from = 0 // nor are smaller ones
			continue
		}
		t.tried = append(t.tried, out)
		best = t.again()
		if here := leastRisk(out); len(t.tried) == 1 && t.rival != nil && here.surelyWorse(t.rival) {
			return nil, nil
		} else if here != best && (t.brief || here.surelyWorse(best)) {
			break
		}
	}
	for k := from - 1; k >= 0 && best.neighbors == t.sizes[k+1]; k-- {
		out, large, err := t.try(k)
		if err != nil {
			return nil, err
		}
		if !large {
			break
		}
		t.tried = slices.Insert(t.tried, 0, out)
		best = t.again()
	}
	return best, nil
}

// again estimates the risk of all, and the noise that it depends on where that is better known than by the pilot, and returns the best.
func (t *trials) again() (best *compared) {
	t.seen = 1
	best = t.estimateAll()
	if !t.seesNoise() {
		return best
	}
	t.seen = min(max(t.spreadOf(t.tried[0][0])/t.autoPrepare.setting.Scale, leastSeen), 1)
	return t.estimateAll()
}

// noiseSeen is the noise that risks are estimated with, in units of that of the pilot.
func (p *autoPrepare) noiseSeen() float64 { return cmp.Or(p.seen, 1) }

// seesNoise tells whether the fewest neighbours compared tell the noise, which is little: the pilot, of which charts have more, takes what a surface bends
// by for noise.
func (t *trials) seesNoise() bool {
	return t.knowsBeyond() && t.tried[0][0].size >= littleNoise*t.autoPrepare.setting.Scale
}

const (
	// littleNoise is the size of the smallest charts compared, in units of the noise, from which on that is little.
	littleNoise = 12.0
	// leastSeen bounds the noise that these see, in units of that of the pilot.
	leastSeen = 0.5
)

// estimateAll estimates the risk of all, which may depend on those of fewer neighbours, and returns the best.
func (t *trials) estimateAll() (best *compared) {
	for k, out := range t.tried {
		for l, c := range out {
			var before *compared
			if k > 0 {
				before = t.tried[k-1][l]
			}
			t.estimate(c, before)
		}
		if here := leastRisk(out); best == nil || here.total() < best.total() {
			best = here
		}
	}
	return best
}

// try compares the candidates of a size. Unless it is large, neighbourhoods are hardly larger than the noise.
func (t *trials) try(k int) (out []*compared, large bool, err error) {
	for _, ridge := range t.ridges() {
		out = append(out, newCompared(candidate{t.sizes[k], ridge}, 0))
	}
	if err = t.compareBy(portion{0, t.parts()}, out); err != nil {
		return nil, false, err
	}
	return out, k == len(t.sizes)-1 || out[0].size >= minReach*t.autoPrepare.setting.Scale, nil
}

// compareBy compares candidates of one size by a part of the selection as well.
func (t *trials) compareBy(of portion, list []*compared) error {
	s := t.setting
	s.neighbors = list[0].neighbors
	var some []candidate
	for _, c := range list {
		some = append(some, c.candidate)
	}
	out, err := t.charts.compare(s, some, of)
	if err != nil {
		return err
	}
	for l, c := range list {
		c.add(out[l])
		c.parts++
		c.trustMost()
		c.size = median(slices.Clone(c.sizes))
	}
	return nil
}

// firstSize is the first of the sizes that are compared: those before it are only where it is the best of those from it on.
const firstSize = 1

// largeEnough leaves out the first sizes where neighbourhoods are surely hardly larger than the noise, as the last size of
// the pilot tells that some may be: what they cost to compare would be for nothing.
func (p *autoPrepare) largeEnough(s setting, sizes []int) ([]int, error) {
	if !p.grown {
		return sizes, nil
	}
	s.Rounds, s.Steps = 1, 0
	p.setScale(&s, s.Scale, false)
	last := len(sizes) // of the sizes beyond, one is enough: the first that is not too small
	if p.method.Neighbors == 0 && p.method.linear == nil {
		for k := growth * float64(sizes[last-1]); k <= float64(p.n)*0.75; k *= growth {
			sizes = append(sizes, int(k))
		}
	}
	var failure error
	first := sort.Search(len(sizes)-1, func(k int) bool {
		s.neighbors = sizes[k]
		c, err := p.charts.chart(order{some: true, setting: s})
		if err != nil {
			failure = err
			return true
		}
		return median(c.size) >= surelySmall*minReach*p.setting.Scale
	})
	if first >= last && sizes[first] < farBeyond*maxNeighbors {
		first = last - 1
	}
	return sizes[first:max(last, first+1)], failure
}

// farBeyond is the least number of neighbours in units of [maxNeighbors] for which rows are put into classes: with a little more than that the
// largest size is better.
const farBeyond = 2

// surelySmall is the size of neighbourhoods about rows, in units of the least, below which those of the charts that would be compared are
// below the least too.
const surelySmall = 0.9

const (
	// peaked is the part of distances from a surface below half of their median from which on down
	// they have two peaks: .26 for normal noise, .25 for noise that is as likely anywhere within its bounds,
	// less for two sheets four standard deviations of the noise or more from each
	// other, between which the surface lies. Outliers, which would hide that from moments, change it little.
	peaked = 0.2
	// single is what is expected of noise that is even, and surelyPeaked the number of
	// standard errors below it that is not chance.
	single, surelyPeaked = 0.25, 4
)

// twoPeaks tells whether distances from a surface, of so many rows, have two peaks. It changes their order.
func twoPeaks(far []float64, rows int) bool {
	if rows == 0 {
		return false
	}
	half, near := median(far)/2, 0
	for _, v := range far {
		if v < half {
			near++
		}
	}
	most := min(peaked, single-surelyPeaked*math.Sqrt(single*(1-single)/float64(rows)))
	return float64(near) < most*float64(len(far))
}

// betweenSheets tells whether rows are on two sides of their mean feet, and few of them near.
func (c *compared) betweenSheets(n int) bool {
	var far []float64
	for r := range crowdRows {
		for i, v := range c.square[r] {
			if c.trusted[r][i] > 0 {
				far = append(far, math.Sqrt(v))
			}
		}
	}
	return twoPeaks(far, min(n, len(far)))
}

// total is the risk of all rows.
func (c *compared) total() float64 { return floats.Sum(c.risk) }

// leastRisk returns the candidate of the least risk, the first of several.
func leastRisk(list []*compared) *compared {
	best, least := list[0], math.Inf(1)
	for _, c := range list {
		if risk := c.total(); risk < least {
			best, least = c, risk
		}
	}
	return best
}

// surelyWorse tells whether the risk is above that of another beyond chance.
func (c *compared) surelyWorse(best *compared) bool { return c.worseBy(likely, best) }

// worseBy tells whether it is above by so many standard errors.
func (c *compared) worseBy(errors float64, best *compared) bool {
	mean, err := c.over(best)
	return mean > errors*err
}

// over is the mean risk less that of another, and its standard error, by the rows that both are compared by.
func (c *compared) over(other *compared) (mean, err float64) {
	difference := make([]float64, min(len(c.risk), len(other.risk)))
	floats.SubTo(difference, c.risk[:len(difference)], other.risk[:len(difference)])
	mean, deviation := stat.MeanStdDev(difference, nil)
	return mean, deviation / math.Sqrt(float64(len(difference)))
}

// trustMost counts all rows where more than a third would not be: then it is the charts that
// are far from the rows, and not these from the surface.
func (c *compared) trustMost() {
	var left, all float64
	for _, v := range c.trusted {
		left += floats.Sum(v)
		all += float64(len(v))
	}
	c.trustsAll = c.trustsAll || 3*left < 2*all
	for _, v := range c.trusted {
		for i := range v {
			if c.trustsAll {
				v[i] = 1
			}
		}
	}
}

// estimate computes the risk of every row as Stein does, bounded where Tukey's loss is. before is the candidate of fewer neighbours, nil for none.
func (p *autoPrepare) estimate(c, before *compared) {
	known := p.knowsBeyond()
	if !known {
		c.more = p.probedBeyond(c, before)
	}
	c.risk = make([]float64, len(c.extra))
	s, steep := p.setting, 1.0
	if p.n > fewRows && !math.IsInf(s.Cut, 1) {
		steep = steepness(p.q)
	}
	var sum, all float64
	for i := range c.risk {
		counted := 0.0
		for r := range crowdRows {
			if s.Scale = p.noiseSeen() * c.scale[r][i]; c.trusted[r][i] > 0 {
				more := c.more
				if known {
					more = p.likelyBeyond(c.own[r][i], s.Scale/c.sizes[i])
					sum += more
					all++
				}
				c.risk[i] += s.riskOf(c.square[r][i], steep*(p.q*c.own[r][i]+more), p.q)
				counted++
			}
		}
		c.risk[i] /= max(counted, 1)
	}
	if known {
		c.more = sum / max(all, 1)
	}
}

// probedBeyond is the divergence beyond that of the influences as probes say. It falls no slower than one over the number of neighbours from that of the candidate before.
func (p *autoPrepare) probedBeyond(c, before *compared) float64 {
	probed := c.probed()
	more := max(floats.Sum(probed)/max(float64(len(probed)), 1), 0)
	if before != nil {
		more = min(more, before.more*float64(before.neighbors)/float64(c.neighbors))
	}
	return more
}

// probed is what probes say of the rows that count.
func (c *compared) probed() (list []float64) {
	for i, v := range c.extra {
		if !math.IsNaN(v) && c.trusted[0][i] > 0 {
			list = append(list, v)
		}
	}
	return list
}

// knowsBeyond tells whether likelyBeyond holds: for many points of a surface in space. What hundreds of probes say there has a standard
// error of .4 to 3 times what is known, which is surer (docs/adr/0119).
func (p *autoPrepare) knowsBeyond() bool { return p.inSpace() && p.n > fewRows }

// likelyBeyond is what the divergence beyond that of the influence of a row on its mean foot is likely to be, by the noise about the row in units of the size of neighbourhoods:
// that influence times a constant, for planes and weights that follow the
// rows, and the square of the noise over the size, for where these are hardly larger the noise decides which rows are in them.
func (p *autoPrepare) likelyBeyond(own, noise float64) float64 {
	beyond := beyondPlanes
	if noise *= beyondReach; noise < math.Inf(1) { // else all rows are at one place
		beyond += noise * noise
	}
	return p.q * own * beyond
}

const (
	// beyondPlanes is the constant, beyondReach the size of neighbourhoods in units of the noise for which the square is 1: read off what rows and their
	// noise say with the truth at hand, with a standard deviation of .4 (docs/adr/0119).
	beyondPlanes, beyondReach = 0.15, 4.2
)

// spreadOf is the standard deviation of the noise by the distances of rows from
// the mean feet of a candidate. The divergence says how far these follow their rows.
func (p *autoPrepare) spreadOf(c *compared) float64 {
	var own, counted float64
	var far []float64
	for r := range crowdRows {
		for i, v := range c.square[r] {
			if c.trusted[r][i] > 0 {
				far = append(far, math.Sqrt(v))
				own += c.own[r][i]
				counted++
			}
		}
	}
	if counted == 0 {
		return p.setting.Scale
	}
	left := max(p.q*(1-own/max(counted, 1))-c.more, p.q/4)
	return max(p.level(far)*math.Sqrt(p.q/left), p.floor)
}

// bound is the squared distance from which on Tukey's loss does not count rows.
func (s *setting) bound(q float64) float64 { return tukeyEfficient * q * s.Scale * s.Scale }

// riskOf is the part of a row in Stein's estimate by the square of its distance from its
// foot in q directions of noise and the divergence across the surface. That along it is the
// same for all, and would make rows beyond the bound, of which none counts, the better ones.
func (s *setting) riskOf(square, divergence, q float64) float64 {
	variance := s.Scale * s.Scale
	twice := 2 * variance * divergence
	if math.IsInf(s.Cut, 1) {
		return square + twice
	}
	bound := s.bound(q)
	if square >= bound {
		return bound / 3
	}
	u := 1 - square/bound
	return bound/3*(1-u*u*u) + twice
}

// steepness is the mean second derivative of half of Tukey's loss in q directions of normal noise: a foot
// that follows its row lowers that loss of the row by so much less than its square. Few rows do without:
// there K is much by chance, and one that is too small costs more than one that is too large.
func steepness(q float64) float64 {
	mean, square := 1/tukeyEfficient, (1+2/q)/(tukeyEfficient*tukeyEfficient)
	return 1 - 2*mean + square - 4/q*(mean-square)
}
