package denoise

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
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

	size, more float64 // their median, and the mean of extra
	risk       []float64
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
	race = 4
	// raceRows is the number of rows that are many: rows of parts of fewer would have charts in common, which were made for each part.
	raceRows = 5 * selectionRows
)

// parts is the number of parts that the selection is compared by: sizes that are surely worse by the first are not looked at by others. Where noise is
// uneven a few rows make most of the risk, and a part of them says little.
func (t *trials) parts() int {
	if t.n >= raceRows && !t.setting.uneven {
		return race
	}
	return 1
}

// run returns the best candidate, nil where the first are surely worse than the rival.
func (t *trials) run() (best *compared, err error) {
	if best, err = t.qualify(); best == nil || err != nil {
		return nil, err
	}
	for k := 1; k < t.parts(); k++ {
		t.tried = slices.DeleteFunc(t.tried, func(out []*compared) bool { return leastRisk(out).surelyWorse(best) })
		for _, out := range t.tried {
			if err := t.compareBy(portion{k, t.parts()}, out); err != nil {
				return nil, err
			}
		}
		best = t.again()
	}
	return best, nil
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
		t.estimateLast(len(t.tried))
		here := leastRisk(out)
		if best == nil && t.rival != nil && here.surelyWorse(t.rival) {
			return nil, nil
		}
		if best == nil || here.total() < best.total() {
			best = here
		} else if t.brief || here.surelyWorse(best) {
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

// again estimates the risk of all, which depends on those of fewer neighbours, and returns the best.
func (t *trials) again() (best *compared) {
	for k, out := range t.tried {
		t.estimateLast(k + 1)
		if here := leastRisk(out); best == nil || here.total() < best.total() {
			best = here
		}
	}
	return best
}

// try compares the candidates of a size. Unless it is large, neighbourhoods are hardly larger than the noise.
func (t *trials) try(k int) (out []*compared, large bool, err error) {
	ridges := candidateRidges
	if t.setting.from > 0 { // with a ridge charts lose more rows near edges, which the risk does not see
		ridges = ridges[:1]
	}
	for _, ridge := range ridges {
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
		c.trustMost()
		c.size = median(slices.Clone(c.sizes))
	}
	return nil
}

// estimateLast estimates the risk of the last of the first n.
func (t *trials) estimateLast(n int) {
	for l, c := range t.tried[n-1] {
		var before *compared
		if n > 1 {
			before = t.tried[n-2][l]
		}
		t.estimate(c, before)
	}
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
func (c *compared) surelyWorse(best *compared) bool {
	mean, err := c.over(best)
	return mean > likely*err
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

// estimate computes the risk of every row as Stein does, bounded where Tukey's loss is.
func (p *autoPrepare) estimate(c, before *compared) {
	c.more = p.beyond(c, before)
	c.risk = make([]float64, len(c.extra))
	s, steep := p.setting, 1.0
	if p.n > fewRows && !math.IsInf(s.Cut, 1) {
		steep = steepness(p.q)
	}
	for i := range c.risk {
		counted := 0.0
		for r := range crowdRows {
			if s.Scale = c.scale[r][i]; c.trusted[r][i] > 0 {
				c.risk[i] += s.riskOf(c.square[r][i], steep*(p.q*c.own[r][i]+c.more), p.q)
				counted++
			}
		}
		c.risk[i] /= max(counted, 1)
	}
}

// beyond is the divergence beyond that of the influences. What probes say of it has more chance in it than the difference of two candidates: where it is
// known beforehand what it is likely to be, that counts as well; elsewhere it falls no slower than one over the number of neighbours from that of
// the candidate before, of fewer neighbours.
func (p *autoPrepare) beyond(c, before *compared) float64 {
	var probed []float64
	for i, v := range c.extra {
		if !math.IsNaN(v) && c.trusted[0][i] > 0 {
			probed = append(probed, v)
		}
	}
	if p.knowsBeyond() && len(probed) > 1 && c.size > 0 {
		mean, deviation := stat.MeanStdDev(probed, nil)
		return max(p.likelyBeyond(c).given(mean, deviation/math.Sqrt(float64(len(probed)))), 0)
	}
	more := max(floats.Sum(probed)/max(float64(len(probed)), 1), 0)
	if before != nil {
		more = min(more, before.more*float64(before.neighbors)/float64(c.neighbors))
	}
	return more
}

// knowsBeyond tells whether likelyBeyond holds: for many points of a surface in space with noise that is even.
func (p *autoPrepare) knowsBeyond() bool {
	return p.D == lookup.Space && p.method.Latent == lookup.Space-1 && p.n > fewRows && !p.setting.uneven
}

// likelyBeyond is what the divergence beyond that of the influences is likely to be, in units of these: a constant, for planes and weights that follow the
// rows, and the square of the noise over the size of neighbourhoods, for where these are hardly larger the noise decides which rows are in them.
func (p *autoPrepare) likelyBeyond(c *compared) normal {
	noise := beyondReach * p.setting.Scale / c.size
	mean := p.q * stat.Mean(c.own[0], nil) * (beyondPlanes + noise*noise)
	return normal{mean, beyondUnsure * mean}
}

const (
	// beyondPlanes is the constant, beyondReach the size of neighbourhoods in units of the noise for which the square is 1, and beyondUnsure the standard
	// deviation in units of the mean: read off what rows and their noise say with the truth at hand (docs/adr/0119).
	beyondPlanes, beyondReach = 0.15, 4.2
	beyondUnsure              = 0.4
)

// normal is a normal distribution.
type normal struct{ mean, deviation float64 }

// given is the mean once a value has been seen that has a standard error.
func (d normal) given(value, err float64) float64 {
	a, b := d.deviation*d.deviation, err*err
	if !(a+b > 0) {
		return value
	}
	return (value*a + d.mean*b) / (a + b)
}

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
