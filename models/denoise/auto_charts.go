package denoise

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// cloudCharts makes charts of the rows of a cloud in memory.
type cloudCharts struct {
	*autoFit
	ctx context.Context
	o   Options

	eps     float64
	probes  []probe
	workers []*autoWorker
	stages  int
	order   []int // in which all rows are visited
	// looks are the rows that were found about each of the selection, which a pilot looks at again and again at the same places: as many as were looked
	// for at most, nearest first.
	looks [][]lookup.Near
}

// newCloudCharts has the rows for their places.
func newCloudCharts(ctx context.Context, s autoSettings, c *Cloud, o Options) *cloudCharts {
	a := &autoFit{autoSettings: s, cloud: c, places: places{y: c.X, index: c.Index}}
	return &cloudCharts{autoFit: a, ctx: ctx, o: o}
}

// probe is a perturbation of all rows by the same length, in random directions
// z, for a look at the divergence of the feet f: that of row i is on average
// z_i'(f_i(x + eps z) - f_i(x))/eps.
type probe struct {
	z      []float64 // n x D: signs
	x      []float64 // n x D: perturbed rows
	places places    // and their places
}

const (
	// maxProbes is the number of probes of few rows.
	maxProbes = 2
)

func (p *cloudCharts) perturb(probes int, eps float64) error {
	c := p.cloud
	p.eps, p.probes = eps, nil
	rng := rand.NewPCG(core.PerturbationSeed, core.SignStream)
	for range probes {
		pr := probe{z: make([]float64, len(c.X)), x: slices.Clone(c.X)}
		for _, i := range c.Used { // rows of weight 0 take no random numbers from others
			for j := i * c.D; j < (i+1)*c.D; j++ {
				pr.z[j] = core.RandomSign(rng.Uint64())
				pr.x[j] += p.eps * pr.z[j]
			}
		}
		pr.places = newPlaces(c, pr.x)
		p.probes = append(p.probes, pr)
	}
	return nil
}

// each runs work on the rows of list, in parallel.
func (p *cloudCharts) each(list []int, work func(w *autoWorker, k, i int)) error {
	if p.workers == nil {
		p.workers = make([]*autoWorker, par.Threads(p.o.Threads))
	}
	p.layOut()
	order := p.places.classes.byClass(p.nearby(list), list)
	blocks := (len(list) + core.RowsAtATime - 1) / core.RowsAtATime
	bar := core.Progress{Total: blocks}
	if p.o.Progress != nil {
		from := float64(p.stages) / (float64(p.stages) + 2)
		to := float64(p.stages+1) / (float64(p.stages) + 3)
		bar.Report = func(part float64) { p.o.Progress(from + (to-from)*part) }
	}
	p.stages++
	par.Do(len(p.workers), blocks, func(at, b int) {
		if p.ctx.Err() != nil {
			return
		}
		if p.workers[at] == nil {
			p.workers[at] = newAutoWorker(p.autoFit)
		}
		for _, k := range order[b*core.RowsAtATime : min((b+1)*core.RowsAtATime, len(list))] {
			work(p.workers[at], k, list[k])
		}
		bar.Add(1)
	})
	for _, w := range p.workers {
		if w != nil {
			w.rows.Search.Forget()
		}
	}
	return p.ctx.Err()
}

// nearby is the order in which to visit the rows of list.
func (p *cloudCharts) nearby(list []int) []int {
	c := p.cloud
	if len(list) != len(c.Used) || &list[0] != &c.Used[0] {
		return lookup.AlongCurve(c.X, c.D, list)
	}
	if p.order == nil {
		p.order = lookup.AlongCurve(c.X, c.D, list)
	}
	return p.order
}

// need is how far rows would have to be known for those that were missed, as far as the
// searches can tell.
func (p *cloudCharts) need() float64 {
	var need float64
	for _, w := range p.workers {
		if w != nil {
			need = max(need, w.rows.Search.Need)
		}
	}
	return need
}

// list are the rows that an order is for.
func (p *cloudCharts) list(o order) []int {
	if !o.some {
		return p.cloud.Used
	}
	return o.of.take(p.cloud.Some(selectionRows))
}

func (p *cloudCharts) chart(o order) (*charted, error) {
	list := p.list(o)
	m, err := p.chartLed(list, o)
	if err == nil && o.keep {
		p.keep(list, m, o.setting.pilot)
	}
	if err != nil {
		return nil, err
	}
	return m.charted, nil
}

// keep takes the feet for the places, and what the pilot knows of the rows.
func (p *cloudCharts) keep(list []int, m *made, pilot bool) {
	D, W := p.cloud.D, p.chartWidth()
	y := slices.Clone(p.cloud.X)
	trust := make([]float64, p.cloud.N)
	charts := make([]float64, p.cloud.N*W)
	if pilot {
		p.about = make([]float64, aboutWidth*p.cloud.N)
		for k, i := range list {
			copy(p.about[aboutWidth*i:], m.about[aboutWidth*k:aboutWidth*(k+1)])
		}
	}
	for k, i := range list {
		copy(y[i*D:(i+1)*D], m.feet[k*D:(k+1)*D])
		copy(charts[i*W:(i+1)*W], m.charts[k*W:(k+1)*W])
		trust[i] = m.trust[k]
	}
	p.places, p.charts, p.looks = newPlaces(p.cloud, y), charts, nil
	p.places.trust = trust
}

// follow implements charts.
func (p *cloudCharts) follow(s setting) error {
	for m := range p.probes {
		pr := &p.probes[m]
		y, trust := slices.Clone(pr.x), make([]float64, p.cloud.N)
		err := p.each(p.cloud.Used, func(w *autoWorker, _, i int) {
			trust[i] = w.follow(y[i*p.cloud.D:(i+1)*p.cloud.D], pr, i, s)
		})
		if err != nil {
			return err
		}
		pr.places = newPlaces(p.cloud, y)
		pr.places.trust = trust
	}
	return nil
}

// mostPulled is the influence of a row on its own foot from which on its chart says nothing of it: with
// one row in five anywhere, the charts of four in five of those passed through their own row.
const mostPulled = 0.5

// trust is the weight of a row at a distance from its foot, on which it has the influence own: by
// its distance from the chart of the others.
func (s *setting) trust(far, own float64) float64 {
	if !s.noisy {
		return 1
	}
	if own > mostPulled {
		return 0
	}
	far /= s.Cut * (1 - own)
	return chart.Tukey(far * far)
}

// follow moves a row of a probe, in dst, to its foot on the chart of the row, and returns
// its weight.
func (w *autoWorker) follow(dst []float64, pr *probe, i int, s setting) float64 {
	if !w.load(i) {
		copy(dst, w.places.y[i*w.cloud.D:(i+1)*w.cloud.D])
		return 1
	}
	x := pr.x[i*w.cloud.D : (i+1)*w.cloud.D]
	if !w.chart.Foot(w.foot, x) {
		return 1
	}
	copy(dst, w.foot)
	o := w.settingAt(i, s)
	pulled := w.charts[(i+1)*w.width-2]
	return o.trust(rows.Distance(w.foot, x), pulled)
}

// made is what charts of a list of rows are, each by its place in the list.
type made struct {
	*charted
	missed []bool // those that were not charted because neighbours are elsewhere
	feet   []float64
	trust  []float64
	charts []float64 // to be kept
	about  []float64 // n x aboutWidth, as autoFit has it
}

// layOut makes ready what charts gather.
func (p *cloudCharts) layOut() {
	p.places.layOut(p.cloud, p.cloud.X)
	for q := range p.probes {
		p.probes[q].places.layOut(p.cloud, p.probes[q].x)
	}
}

func (p *cloudCharts) newMade(n int, o order) *made {
	D, W := p.cloud.D, p.chartWidth()
	m := &made{charted: newCharted(n, &o), missed: make([]bool, n), feet: make([]float64, n*D)}
	if o.keep {
		m.about = make([]float64, aboutWidth*n)
		m.trust, m.charts = make([]float64, n), make([]float64, n*W)
	}
	return m
}

// chartSome makes the charts of an order for the rows of list.
func (p *cloudCharts) chartSome(list []int, o order) (*made, error) {
	m, places := p.newMade(len(list), o), make([]int, len(list))
	for k := range places {
		places[k] = k
	}
	return m, p.chartInto(m, list, places, o)
}

// chartInto makes those of the rows of list into m, each at its place.
func (p *cloudCharts) chartInto(m *made, list, at []int, o order) error {
	p.divide(&o.setting, o.charts(p.cloud.Count()), o.diverge)
	again := o.some && o.of == portion{} && p.places.classes == nil
	if again && p.looks == nil {
		p.looks = make([][]lookup.Near, len(list))
	}
	return p.each(list, func(w *autoWorker, l, i int) {
		w.rows.Search.Missed = false
		if w.again = nil; again {
			w.again = &p.looks[l]
		}
		p.chartOne(w, m, at[l], i, &o)
	})
}

// look finds so many rows about row i, and one more, or takes them from what was found about it before: for a probe, whose places are others, nothing is kept.
func (w *autoWorker) look(at *places, i, many int) {
	in, y := at.near(i), at.y[i*w.cloud.D:(i+1)*w.cloud.D]
	if w.again == nil || at != &w.places {
		w.rows.Look(in, y, many)
		return
	}
	if len(*w.again) <= many {
		if w.rows.Look(in, y, many); w.rows.Search.Missed {
			return
		}
		*w.again = append((*w.again)[:0], w.rows.Found...)
	}
	w.rows.Found = (*w.again)[:min(many+1, len(*w.again))]
}

// chartOne makes the chart of row i into place k.
func (p *cloudCharts) chartOne(w *autoWorker, m *made, k, i int, o *order) {
	D := p.cloud.D
	foot, s := m.feet[k*D:(k+1)*D], p.settingAt(i, o.setting)
	ok := w.chartRow(foot, i, p.cloud.X, &p.places, &s)
	if m.missed[k] = w.rows.Search.Missed; m.missed[k] {
		return
	}
	m.size[k], m.shrinkage[k], m.far[k] = w.rows.Next, 1, rows.Distance(p.cloud.Row(i), foot)
	pulled, own := 0.0, w.rows.Place(i)
	if ok && own >= 0 {
		pulled = w.chart.Influence(own)
	}
	if ok && !o.keep { // nothing asks for them of charts that are kept
		w.chart.Influences(w.rows.L)
		m.shrinkage[k] = chart.Shrinkage(w.rows.L, own)
		if o.setting.pilot && !o.diverge && !math.IsInf(s.Cut, 1) {
			m.local[k] = w.nearNoise() / o.setting.Scale
		}
	}
	trust := s.trust(m.far[k], pulled)
	m.trusted[k] = math.Ceil(trust)
	if o.keep {
		m.trust[k] = trust
		w.keep(m, k, ok, pulled, &s, &o.setting)
	}
	if !o.diverge {
		return
	}
	for q := range p.probes {
		pr := &p.probes[q]
		w.chartRow(w.foot, i, pr.x, &pr.places, &s)
		m.divergence[k] += p.divergence(pr, i, foot, w.foot) / float64(len(p.probes))
	}
	m.missed[k] = w.rows.Search.Missed
}

// keep stores the chart at hand, if there is one, in place k, and what a pilot of the setting given knows of the row, whose own setting is s.
func (w *autoWorker) keep(m *made, k int, ok bool, pulled float64, s, of *setting) {
	to := m.charts[k*w.width : (k+1)*w.width]
	to[w.width-1] = noChart
	if ok {
		w.chart.Store(to)
		to[w.width-2], to[w.width-1] = pulled, w.chart.Noise()
		if m.noise != nil {
			m.noise[k] = to[w.width-1]
		}
	}
	if !of.pilot {
		return
	}
	about := m.about[aboutWidth*k:]
	about[0], about[2] = s.Scale/of.Scale, float64(s.start)
	if of.thin {
		about[3] = s.Sides
	}
	if s.neighbors > of.neighbors {
		about[1] = float64(s.neighbors)
	}
	if of.bent > 0 {
		about[5] = w.bend
	}
	if about[4] = math.Inf(1); ok {
		about[4] = to[w.width-1] / s.Scale
	}
}

// chartRow makes the chart of row i of x at its place, and writes its foot into dst.
func (w *autoWorker) chartRow(dst []float64, i int, x []float64, at *places, s *setting) bool {
	D := w.cloud.D
	y, pivot := at.y[i*D:(i+1)*D], x[i*D:(i+1)*D]
	copy(dst, y)
	var again bool // the noise was found by the same rows
	for {
		again = false
		many := at.classes.most(s.charted())
		if w.look(at, i, many); w.rows.Search.Missed {
			return false
		}
		w.rows.Gather(at.source, many)
		if s.measured() {
			w.recall(s)
		}
		if s.thin && w.findThin(s) {
			break
		}
		if again = s.pilot && s.uneven; again && !w.findNoise(y, pivot, s) {
			return false
		}
		reach := localReach
		if s.uneven {
			reach = unevenReach
		}
		if !s.pilot || !(w.rows.Next < reach*s.Scale) || 2*s.neighbors > w.cloud.Count() || s.neighbors >= maxNeighbors {
			break
		}
		s.neighbors = min(int(math.Ceil(growth*float64(s.neighbors))), maxNeighbors)
	}
	made := *s
	made.Again = again
	w.drawTo(i, &made)
	if s.Sides > 0 {
		made.Cut = w.tune.cut * math.Hypot(s.Scale, s.Sides)
	}
	if !w.prepare(y, pivot, made) || !w.chart.Solve(made.Ridge) || !w.chart.Foot(w.y, pivot) {
		return false
	}
	if !w.keepSide(i, y, pivot, made) {
		return false
	}
	if s.Sides > 0 && (!w.chart.(*chart.Space).TakeSide(pivot, &s.Setting) || !w.chart.Foot(w.y, pivot)) {
		return false
	}
	if w.takeCrease(&made) && !w.chart.Foot(w.y, pivot) {
		return false
	}
	copy(dst, w.y)
	return true
}

// findNoise takes the noise about a row for that of the setting.
func (w *autoWorker) findNoise(y, pivot []float64, s *setting) bool {
	w.made = s.Setting
	w.made.Rounds, w.made.Steps, w.made.Cut = 2, 0, math.Inf(1)
	if !w.chart.Prepare(y, pivot, &w.rows, &w.made) || !w.chart.Solve(s.Ridge) {
		return false
	}
	w.setScale(s, max(w.nearNoise(), leastLocal*s.Scale), true)
	return true
}

// nearNoise is the noise by the residuals of the nearer rows from the chart.
func (w *autoWorker) nearNoise() float64 {
	n := len(w.rows.Prior)
	w.all = dense.Grow(w.all, n)
	w.chart.Residuals(w.all[:n])
	near := max(2*n/3, 1)
	functions := float64(chart.Quadratics(w.method.Latent))
	return w.typical(w.all[:near]) / math.Sqrt(max(1-functions/float64(n), .2))
}

// leastLocal bounds the noise about a row from below, in units of that of all.
const leastLocal = 0.05

// localReach is the size of the neighbourhood of one row, in units of the noise, below which
// it is too small.
const localReach = 3.5

// unevenReach is the same where the noise about the row is told by the chart itself, which
// sees too little of it in a small neighbourhood.
const unevenReach = 5.0

// divergence is what a probe says about that of row i, whose foot it moves from f
// to fp.
func (p *cloudCharts) divergence(pr *probe, i int, f, fp []float64) float64 {
	D := p.cloud.D
	var sum float64
	for j, z := range pr.z[i*D : (i+1)*D] {
		sum += z * (fp[j] - f[j])
	}
	return min(max(sum/p.eps, -2*float64(D)), 3*float64(D))
}
