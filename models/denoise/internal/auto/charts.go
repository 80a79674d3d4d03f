package auto

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Nearby rows have nearly the same charts. If a projection is the mean over many charts, only some rows, chosen at
// random, have charts. The others use the nearest of these.

const (
	// opinions is the number of charts that are averaged in a projection if not all rows have a chart.
	opinions = 35.0
	// pilotPart is the number of rows of a pilot chart per row that is projected onto it.
	pilotPart = 15.0
	// mostPulled is the influence of a row on its own projection from which on its chart is not used to judge the
	// row. In a test with one in five rows at random positions, the charts of four in five of those passed through
	// their own row.
	mostPulled = 0.5
	// farNoise is a noise in units of the noise near a row. If the chart of another row has more, the row gets its
	// own chart.
	farNoise = 1.3
)

// cloudCharts makes charts of the rows of a cloud.
type cloudCharts struct {
	*fit
	ctx     context.Context
	o       core.Options
	workers []*worker
	stages  int
	order   []int // order in which rows are processed
}

// newCloudCharts returns charts of the rows of c, with the rows themselves as their initial positions.
func newCloudCharts(ctx context.Context, s settings, c *core.Cloud, o core.Options) *cloudCharts {
	a := &fit{settings: s, cloud: c, places: places{y: c.X, index: c.Index}}
	return &cloudCharts{fit: a, ctx: ctx, o: o}
}

// each runs work on the listed rows, in parallel.
func (p *cloudCharts) each(list []int, work func(w *worker, k, i int)) error {
	if p.workers == nil {
		p.workers = make([]*worker, par.Threads(p.o.Threads))
	}
	p.places.layOut(p.cloud)
	order := p.nearby(list)
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
			p.workers[at] = newWorker(p.fit)
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

// nearby returns the listed rows in an order in which successive rows are near each other.
func (p *cloudCharts) nearby(list []int) []int {
	c := p.cloud
	if len(list) != len(c.Used) || len(list) == 0 || &list[0] != &c.Used[0] {
		return lookup.AlongCurve(c.X, c.D, list)
	}
	if p.order == nil {
		p.order = lookup.AlongCurve(c.X, c.D, list)
	}
	return p.order
}

// placesOf returns an index of the positions of the listed rows.
func (p *cloudCharts) placesOf(list []int) lookup.Index {
	return lookup.NewIndex(p.places.y, p.cloud.D, list)
}

// take gives every row the results of the nearest point of the ladder l.
func (p *cloudCharts) take(l *ladder, places []about) error {
	known := make([]about, p.cloud.N)
	for j, i := range l.rows {
		known[i] = places[j]
	}
	index, all := p.placesOf(l.rows), make([]about, p.cloud.N)
	err := p.each(p.cloud.Used, func(w *worker, _, i int) {
		all[i] = known[w.rows.Search.Find(index, p.places.y[i*p.cloud.D:(i+1)*p.cloud.D], 1)[0].Row]
	})
	p.about = all
	return err
}

// made holds the charts of all rows and their results.
type made struct {
	y, trust, charts []float64
}

// chartAll makes the charts of all rows, some of which may use those of nearby rows. It replaces the positions by the
// projections.
func (p *cloudCharts) chartAll(s setting) error {
	c, W := p.cloud, p.chartWidth()
	m := &made{slices.Clone(c.X), make([]float64, c.N), make([]float64, c.N*W)}
	lead, some := p.leads(s)
	if err := p.each(some, func(w *worker, _, i int) { w.chartInto(m, i, &s) }); err != nil {
		return err
	}
	if len(some) < len(c.Used) {
		index := p.placesOf(some)
		err := p.each(c.Used, func(w *worker, _, i int) {
			if lead[i] {
				return
			}
			at := w.rows.Search.Find(index, p.places.y[i*c.D:(i+1)*c.D], 1)[0].Row
			if !w.follow(m, i, at, &s) {
				w.chartInto(m, i, &s)
			}
		})
		if err != nil {
			return err
		}
	}
	p.places, p.charts = newPlaces(c, m.y), m.charts
	p.places.trust = m.trust
	return nil
}

// leads decides which rows of the cloud have charts of their own, and lists these.
func (p *cloudCharts) leads(s setting) (lead []bool, some []int) {
	c := p.cloud
	lead = make([]bool, c.N)
	for k, i := range c.Used {
		chance := float64(bits.Reverse64(core.Scattered(uint64(k))) >> 11) // by the last bits first, exactly: where there is to be one in 1 all lead
		own := p.settingAt(i, s)
		if lead[i] = chance*own.oneIn() < 1<<53; lead[i] {
			some = append(some, i)
		}
	}
	return lead, some
}

// oneIn returns the number of rows for each row with a chart of its own.
func (s *setting) oneIn() float64 {
	few := float64(s.blended()) / opinions
	if s.pilot {
		few = float64(s.neighbors) / pilotPart
	}
	if few > 1 && s.noisy && s.many && s.Sides == 0 {
		return few
	}
	return 1
}

// trust returns the Tukey weight of a row at distance far from its foot. The row pulls the chart with leverage own, so
// that its distance from the chart of the others is far/(1-own).
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

// chartInto makes the chart of row i.
func (w *worker) chartInto(m *made, i int, of *setting) {
	D, s := w.cloud.D, w.settingAt(i, *of)
	foot, to := m.y[i*D:(i+1)*D], m.charts[i*w.width:(i+1)*w.width]
	to[w.width-1] = noChart
	if !w.chartRow(foot, i, &s) {
		copy(foot, w.cloud.Row(i))
		m.trust[i] = 1
		return
	}
	pulled := 0.0
	if own := w.rows.Place(i); own >= 0 {
		pulled = w.chart.Influence(own)
	}
	m.trust[i] = s.trust(rows.Distance(w.cloud.Row(i), foot), pulled)
	w.chart.Store(to)
	to[w.width-3], to[w.width-2], to[w.width-1] = w.chart.Leverage(), pulled, w.chart.Noise()
}

// follow sets the position of row i to its projection onto the chart of another row. It returns false if this is not
// accurate enough.
func (w *worker) follow(m *made, i, at int, of *setting) bool {
	D, s := w.cloud.D, w.settingAt(i, *of)
	stored := m.charts[at*w.width : (at+1)*w.width]
	if !(stored[w.width-1] >= 0) || stored[w.width-1] > farNoise*s.Scale || !w.chart.Load(stored) {
		return false
	}
	foot, x := m.y[i*D:(i+1)*D], w.cloud.Row(i)
	if !w.chart.Foot(foot, x) {
		return false
	}
	far := rows.Distance(foot, x)
	if far > ownSide*s.Scale {
		return false
	}
	m.trust[i] = s.trust(far, stored[w.width-2])
	m.charts[(i+1)*w.width-1] = standIn
	return true
}

// chartRow makes the chart of row i at its position, and writes the projection into dst.
func (w *worker) chartRow(dst []float64, i int, s *setting) bool {
	D := w.cloud.D
	y, x := w.places.y[i*D:(i+1)*D], w.cloud.Row(i)
	w.rows.Look(w.places.index, y, s.neighbors)
	w.rows.Gather(w.places.source, s.neighbors)
	made := *s
	if s.Sides > 0 {
		made.Cut = w.tune.Cut * math.Hypot(s.Scale, s.Sides)
	}
	if !w.chart.Prepare(y, x, &w.rows, &made.Setting) || !w.chart.Solve(made.Ridge) || !w.chart.Foot(w.y, x) {
		return false
	}
	if s.Sides > 0 && (!w.chart.(*chart.Space).TakeSide(x, &s.Setting) || !w.chart.Foot(w.y, x)) {
		return false
	}
	if s.creased && s.Sides == 0 && w.chart.(*chart.Space).TakeCrease(&s.Setting) && !w.chart.Foot(w.y, x) {
		return false
	}
	copy(dst, w.y)
	return true
}

// inSpace reports whether charts are those of a surface in three dimensions, which may have creases.
func (a *settings) inSpace() bool { return a.q == 1 && a.method.Latent == lookup.Space-1 }
