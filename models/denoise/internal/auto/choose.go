package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// The number of rows of charts near a point has the least estimated risk (C. M. Stein): the squared distance of rows
// from their projections plus twice the noise variance times the divergence, averaged nearby.

const (
	// minReach is the least size of a neighbourhood, in units of the noise. Smaller ones are not used.
	minReach = 4
	// MaxNeighbors or, if larger, min(n/mostOf, mostNeighbors), for n rows in all, bounds the number of rows of a
	// chart, unless strong noise requires more.
	MaxNeighbors, mostOf, mostNeighbors = 320, 3, 2000
	// likely is the number of standard errors above which an increase of the risk is significant.
	likely = 2
	// beyondPlanes and beyondReach define by how much the divergence exceeds the influence, see [setting.divergence].
	beyondPlanes, beyondReach = 0.15, 4.2
	// farDifference bounds the distance of a difference of risks from the median, in median absolute deviations.
	farDifference = 15
)

// choose chooses the number of rows of charts at every point.
func (p *preparation) choose() error {
	s := p.setting
	s.pilot, s.Ridge = false, 0
	s.creased = p.inSpace() && s.noisy && !p.method.LeastSquares
	l, err := p.charts.newLadder()
	if err != nil {
		return err
	}
	c := &choice{ladder: l, p: p, s: s}
	if err := c.climbAll(); err != nil {
		return err
	}
	if !p.charts.sided() && c.large(c.best) {
		c.takeNoise()
	}
	if linear := p.method.linear; linear != nil {
		if charts, better := c.linearBetter(); better {
			p.takeLinear(charts)
			return nil
		}
	}
	places := c.settled()
	c.s.neighbors = c.rungs[c.best].neighbors
	p.setting = c.s
	return p.charts.take(l, places)
}

// choice compares the rungs of a ladder.
type choice struct {
	*ladder
	p       *preparation
	s       setting
	counted []bool      // points that count in the risk
	risk    [][]float64 // by rung and point
	best    int         // rung of the least total risk
}

// sizes lists the numbers of neighbours to compare.
func (p *preparation) sizes() []int {
	if p.method.Neighbors > 0 {
		return []int{min(p.method.Neighbors, p.n)}
	}
	var list []int
	for _, k := range p.rungSizes(p.fewest()) {
		if 4*k > 3*p.n && list != nil {
			break
		}
		list = append(list, k)
	}
	return list
}

// enough returns the number of neighbours that is exceeded only for strong noise.
func (p *preparation) enough() int { return max(MaxNeighbors, min(p.n/mostOf, mostNeighbors)) }

// climbAll makes charts with increasing numbers of rows while the total risk falls.
func (c *choice) climbAll() error {
	c.count()
	for k, size := range c.p.sizes() {
		if k > 0 && size > c.p.enough() && c.large(c.best) {
			break
		}
		r, err := c.climb(size, c.s)
		if err != nil {
			return err
		}
		c.risk = append(c.risk, c.risks(r))
		if k == 0 {
			continue
		}
		if c.better(k) {
			c.best = k
		} else if mean, chance := c.over(c.risk[k], c.risk[c.best]); mean > likely*chance && c.large(c.best) {
			break
		}
	}
	return nil
}

// takeNoise replaces the noise of the pilot by that of the best charts, and repeats the comparison.
func (c *choice) takeNoise() {
	ratio := min(max(c.seen(c.best), 1/mostLocal), mostLocal)
	for i := range c.cloudCharts.about {
		c.cloudCharts.about[i].scale *= ratio
	}
	c.p.setScale(&c.s, ratio*c.s.Scale, !c.p.method.LeastSquares)
	c.best = 0
	for k, r := range c.rungs {
		c.risk[k] = c.risks(r)
		if c.better(k) {
			c.best = k
		}
	}
}

// better reports whether a rung has less risk than the best. If it takes more rows than usual, which is expensive,
// the difference must be significant.
func (c *choice) better(k int) bool {
	mean, chance := c.over(c.risk[k], c.risk[c.best])
	if c.rungs[k].neighbors > MaxNeighbors {
		mean += chance
	}
	return mean < 0 || !c.large(c.best) && c.large(k)
}

// seen returns the noise estimated by the charts of rung k, in units of the noise of the setting.
func (c *choice) seen(k int) float64 {
	r := c.rungs[k]
	var far, own []float64
	for j, i := range c.rows {
		if c.counted[j] && r.size[j] > 0 {
			far = append(far, math.Sqrt(r.square[j])/c.cloudCharts.about[i].scale)
			own = append(own, c.s.divergence(c.p.q, r.own[j], r.size[j]))
		}
	}
	return c.p.tune.Typical(far) * math.Sqrt(c.p.q/max(c.p.q-stat.Mean(own, nil), c.p.q/4))
}

// large reports whether most neighbourhoods of a rung are larger than the noise.
func (c *choice) large(k int) bool {
	var ratio []float64
	for j, i := range c.rows {
		if v := c.rungs[k].size[j]; v > 0 {
			a := &c.cloudCharts.about[i]
			ratio = append(ratio, v/math.Hypot(a.scale, a.sides))
		}
	}
	return !c.s.noisy || core.Median(ratio) >= minReach
}

// count determines the points that count in the risk: it excludes rows that the pilot finds far from every surface.
func (c *choice) count() {
	c.counted = make([]bool, len(c.rows))
	n := 0
	for j, i := range c.rows {
		if c.counted[j] = !c.s.noisy || c.cloudCharts.places.trust[i] > 0; c.counted[j] {
			n++
		}
	}
	if 3*n < 2*len(c.rows) { // it is the charts that are far from the rows
		for j := range c.counted {
			c.counted[j] = true
		}
	}
}

// risks returns the risks of a rung, NaN at points that were not examined.
func (c *choice) risks(r *rung) []float64 {
	out := make([]float64, len(c.rows))
	for j, i := range c.rows {
		if out[j] = math.NaN(); r.size[j] == 0 {
			continue
		}
		s := c.settingAt(i, c.s)
		out[j] = s.riskOf(r.square[j], s.divergence(c.p.q, r.own[j], r.size[j]), c.p.q)
	}
	return out
}

// over returns the mean of the differences of two risks over the counted points, and its standard error. Large
// differences are bounded as clip does.
func (c *choice) over(a, b []float64) (mean, chance float64) {
	var d []float64
	for j, counts := range c.counted {
		if v := a[j] - b[j]; counts && !math.IsNaN(v) {
			d = append(d, v)
		}
	}
	clip(d)
	mean, deviation := stat.MeanStdDev(d, nil)
	return mean, deviation / math.Sqrt(float64(len(d)))
}

// clip bounds the distance of differences from their median. Without bounds, the risks of outliers near the surface
// vary by more than those of all other rows together.
func clip(d []float64) {
	middle := core.Median(slices.Clone(d))
	apart := make([]float64, len(d))
	for j, v := range d {
		apart[j] = math.Abs(v - middle)
	}
	most := farDifference * core.Median(apart)
	for j, v := range d {
		d[j] = min(max(v, middle-most), middle+most)
	}
}

// Flat is the result of Auto if a linear model is better.
type Flat struct {
	principal.Shrunk
	Why string
}

// takeLinear replaces the charts by the linear model. charts is the estimated mean squared error of the charts.
func (p *preparation) takeLinear(charts float64) {
	m := p.method
	p.flat = &Flat{principal.Shrunk{Plane: m.plane}, m.linear.Why(m.Latent, "", charts)}
}

// linearBetter reports whether the linear model has less risk than the chosen charts. It also returns the risk of the
// charts on the selected rows, computed with the noise of the linear model.
func (c *choice) linearBetter() (charts float64, better bool) {
	p, r := c.p, c.rungs[c.best]
	linear, s := p.method.linear, c.s
	s.Scale = linear.Noise
	counted := 0.0
	for j, counts := range c.counted {
		if counts {
			charts += s.riskOf(r.square[j], s.divergence(p.q, r.own[j], r.size[j]), p.q)
			counted++
		}
	}
	// The part along the surface, what is no error but noise, and what is off the axes.
	charts = charts/max(counted, 1) + s.Scale*s.Scale*(2*float64(p.method.Latent)-float64(p.D)) + linear.Off
	return charts, counted > 0 && linear.Risk < charts
}

// settled returns the results at each point of the rung that was chosen there.
func (c *choice) settled() []about {
	list := make([]about, len(c.rows))
	for j, i := range c.rows {
		list[j] = c.cloudCharts.about[i]
		list[j].neighbors = c.rungs[c.at(j)].neighbors
	}
	return list
}

// at returns the rung of the least risk at point j. This is the rung of the least total risk unless another rung is
// significantly better.
func (c *choice) at(j int) int {
	best, least := c.best, 0.0
	for k, risk := range c.risk[:min(c.best+2, len(c.risk))] {
		var d []float64
		for _, m := range c.near[j] {
			if v := risk[m] - c.risk[c.best][m]; c.counted[m] && !math.IsNaN(v) {
				d = append(d, v)
			}
		}
		a := &c.cloudCharts.about[c.rows[j]]
		if len(d) < 2 || c.s.noisy && c.ladder.about(c.rungs[k].size, j) < minReach*math.Hypot(a.scale, a.sides) {
			continue
		}
		mean, deviation := stat.MeanStdDev(d, nil)
		if mean < least && mean < -deviation/math.Sqrt(float64(len(d))) {
			best, least = k, mean
		}
	}
	return best
}

// divergence returns the normal divergence of a projection given the influence of its row. The divergence exceeds the
// influence because the plane and the weights of a chart also depend on the row. If charts are hardly larger than the
// noise, the choice of their rows does, too.
func (s *setting) divergence(q, own, size float64) float64 {
	beyond := beyondPlanes
	if noise := beyondReach * s.Scale / size; noise < math.Inf(1) { // else all rows are at one place
		beyond += noise * noise
	}
	return q * own * (1 + beyond)
}

// oneDirection holds quantiles of noise in one direction. There Tukey's loss with this cut is at most 5 % less
// efficient than least squares.
var oneDirection = core.NewQuantiles(1)

// bound returns the squared distance from which on Tukey's loss gives rows no weight.
func (s *setting) bound(q float64) float64 {
	return q * oneDirection.Cut * oneDirection.Cut * s.Scale * s.Scale
}

// riskOf returns the term of a row in Stein's estimate, given the squared distance from its projection in q directions
// of noise and the normal divergence. The tangential divergence is left out: it is the same for all rows, and would
// favour rows beyond the bound, which do not count.
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

const (
	// perturbation is the length of the perturbation of the rows, in units of the noise. Projections jump when
	// neighbours change, which derivatives at a point miss but steps of this size detect (J. Ye, JASA 93 (1998),
	// takes half of the noise).
	perturbation = 0.3
)

// Probed estimates the risk of methods from the noise of a pilot fit, and from their response to perturbations of the
// rows of the same length in random directions.
type Probed struct {
	*cloudCharts
	eps   float64
	z     []float64 // n x D: signs
	moved *core.Cloud
}

// NewProbed estimates the noise of a cloud.
func NewProbed(ctx context.Context, m Auto, c *core.Cloud, o core.Options) (*Probed, error) {
	p, err := newPreparation(m, len(c.Used), c.D)
	if err != nil {
		return nil, err
	}
	p.charts = newCloudCharts(ctx, p.settings, c, o)
	if err := p.pilot(); err != nil {
		return nil, err
	}
	p.charts.setting = p.setting
	out := &Probed{cloudCharts: p.charts, eps: perturbation * p.setting.Scale, z: make([]float64, len(c.X))}
	moved, rng := slices.Clone(c.X), rand.NewPCG(core.PerturbationSeed, 0)
	for j := range moved {
		out.z[j] = core.RandomSign(rng.Uint64())
		moved[j] += out.eps * out.z[j]
	}
	out.moved = &core.Cloud{Data: c.Data, Index: lookup.NewIndex(moved, c.D, c.Used), Used: c.Used}
	out.moved.X = moved
	return out, nil
}

// divergence estimates the divergence of row i from random signs, for which its projection moves from f to fp.
func (p *Probed) divergence(i int, f, fp []float64) float64 {
	D := p.cloud.D
	var sum float64
	for j, z := range p.z[i*D : (i+1)*D] {
		sum += z * (fp[j] - f[j])
	}
	return min(max(sum/p.eps, -2*float64(D)), 3*float64(D))
}

// RiskOf estimates the mean risk of a method on some of the rows.
func (p *Probed) RiskOf(of core.Method, most int) (float64, error) {
	list := p.cloud.Some(most)
	f, err := core.DenoiseSome(p.ctx, of, p.cloud, list, p.o)
	if err != nil {
		return 0, err
	}
	c, D := p.cloud, p.cloud.D
	fp, err := core.DenoiseSome(p.ctx, of, p.moved, list, p.o)
	if err != nil {
		return 0, err
	}
	counted := p.counted(list)
	var sum float64
	for k, i := range list {
		if !counted(i) {
			continue
		}
		far := rows.Distance(c.Row(i), f.X[k*D:(k+1)*D])
		divergence := p.divergence(i, f.X[k*D:(k+1)*D], fp.X[k*D:(k+1)*D])
		sum += p.setting.riskOf(far*far, divergence-float64(p.method.Latent), p.q)
	}
	return sum / float64(len(list)), nil
}

// counted decides which of the listed rows count in the risk. Rows that the pilot finds far from any surface do not,
// because the smallest neighbourhoods fit them best. If they are more than a third, all rows count: then the charts
// of the pilot are far off.
func (p *Probed) counted(list []int) func(i int) bool {
	near := func(i int) bool { return p.places.trust == nil || p.places.trust[i] > 0 }
	left := 0
	for _, i := range list {
		if near(i) {
			left++
		}
	}
	if 3*left < 2*len(list) {
		return func(int) bool { return true }
	}
	return near
}
