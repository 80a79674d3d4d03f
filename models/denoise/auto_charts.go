package denoise

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/internal/par"
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
}

// newCloudCharts has the rows for their places.
func newCloudCharts(ctx context.Context, s autoSettings, c *Cloud, o Options) *cloudCharts {
	a := &autoFit{autoSettings: s, cloud: c, places: places{y: c.X, index: c.index}}
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
	// perturbationSeed fixes the signs: the same rows give the same result.
	perturbationSeed = 20240229
	// probedRows is the number of rows, counted once for each probe, that are
	// enough, and maxProbes bounds the probes of few rows.
	probedRows = 4000
	maxProbes  = 4
)

// randomSign is 1 or -1 by the first bit of a random number.
func randomSign(v uint64) float64 { return float64(1 - 2*int(v>>63)) }

func (p *cloudCharts) perturb(probes int, eps float64) error {
	c := p.cloud
	p.eps = eps
	rng := rand.NewPCG(perturbationSeed, 0)
	for range probes {
		pr := probe{z: make([]float64, len(c.X)), x: slices.Clone(c.X)}
		for _, i := range c.used { // rows of weight 0 take no random numbers from others
			for j := i * c.D; j < (i+1)*c.D; j++ {
				pr.z[j] = randomSign(rng.Uint64())
				pr.x[j] += p.eps * pr.z[j]
			}
		}
		pr.places = c.newPlaces(pr.x)
		p.probes = append(p.probes, pr)
	}
	return nil
}

// each runs work on the rows of list, in parallel.
func (p *cloudCharts) each(list []int, work func(w *autoWorker, k, i int)) error {
	if p.workers == nil {
		p.workers = make([]*autoWorker, par.Threads(p.o.Threads))
	}
	blocks := (len(list) + rowsAtATime - 1) / rowsAtATime
	bar := progress{total: blocks}
	if p.o.Progress != nil {
		from := float64(p.stages) / (float64(p.stages) + 2)
		to := float64(p.stages+1) / (float64(p.stages) + 3)
		bar.report = func(part float64) { p.o.Progress(from + (to-from)*part) }
	}
	p.stages++
	par.Do(len(p.workers), blocks, func(at, b int) {
		if p.ctx.Err() != nil {
			return
		}
		if p.workers[at] == nil {
			p.workers[at] = newAutoWorker(p.autoFit)
		}
		for k := b * rowsAtATime; k < min((b+1)*rowsAtATime, len(list)); k++ {
			work(p.workers[at], k, list[k])
		}
		bar.add(1)
	})
	return p.ctx.Err()
}

// need is how far rows would have to be known for those that were missed, as far as the
// searches can tell.
func (p *cloudCharts) need() float64 {
	var need float64
	for _, w := range p.workers {
		if w != nil {
			need = max(need, w.rows.search.need)
		}
	}
	return need
}

// list are the rows that an order is for.
func (p *cloudCharts) list(o order) []int {
	if o.some {
		return p.selection()
	}
	return p.cloud.used
}

// selection returns the rows on which candidates are compared.
func (p *cloudCharts) selection() []int { return p.cloud.some(selectionRows) }

func (p *cloudCharts) chart(o order) (*charted, error) {
	f, c, _, err := p.chartSome(p.list(o), o)
	if err == nil && o.keep {
		*p.placesOf(o.probe) = p.cloud.newPlaces(f)
	}
	return c, err
}

// rowsOf returns the rows of a probe, or the rows themselves.
func (p *cloudCharts) rowsOf(probe int) []float64 {
	if probe == rowsThemselves {
		return p.cloud.X
	}
	return p.probes[probe].x
}

// placesOf are the places of a probe, or of the rows themselves.
func (p *cloudCharts) placesOf(probe int) *places {
	if probe == rowsThemselves {
		return &p.places
	}
	return &p.probes[probe].places
}

// chartSome makes the charts of an order for the rows of list. Feet are those of all
// rows, other rows being as they are; missed lists by place what was not
// charted because neighbours are elsewhere.
func (p *cloudCharts) chartSome(list []int, o order) (feet []float64, c *charted, missed []bool, err error) {
	D, n := p.cloud.D, len(list)
	x, at := p.rowsOf(o.probe), *p.placesOf(o.probe)
	feet, missed = slices.Clone(x), make([]bool, n)
	c = &charted{size: make([]float64, n), far: make([]float64, n), shrinkage: make([]float64, n)}
	if o.probe == rowsThemselves && o.keep {
		c.divergence = make([][]float64, len(p.probes))
		for m := range c.divergence {
			c.divergence[m] = make([]float64, n)
		}
	}
	err = p.each(list, func(w *autoWorker, k, i int) {
		y, foot := at.y[i*D:(i+1)*D], feet[i*D:(i+1)*D]
		w.rows.search.missed = false
		w.rows.look(at, y, o.setting.neighbors)
		if missed[k] = w.rows.search.missed; missed[k] {
			return
		}
		c.size[k] = w.rows.gather(p.cloud, x, at, o.setting.neighbors)
		c.shrinkage[k] = 1
		if w.chart.fit(foot, y, x[i*D:(i+1)*D], w.rows.x, w.rows.near, w.rows.prior, c.size[k], &o.setting) {
			c.shrinkage[k] = w.chart.shrinkage(len(w.rows.prior), w.rows.place(i))
		}
		c.far[k] = distance(p.cloud.Row(i), foot)
		for m := range c.divergence {
			pr := &p.probes[m]
			c.divergence[m][k] = p.divergence(pr, i, foot, pr.places.y[i*D:(i+1)*D])
		}
	})
	return feet, c, missed, err
}

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

func (p *cloudCharts) compare(s setting, list []candidate, from, to int) ([]*compared, error) {
	out, _, err := p.compareSome(p.selection(), s, list, from, to)
	return out, err
}

// compareSome compares candidates by some rows; missed is as in chartSome.
func (p *cloudCharts) compareSome(rows []int, s setting, list []candidate, from, to int) ([]*compared, []bool, error) {
	p.setting = s
	missed := make([]bool, len(rows))
	out := make([]*compared, len(list))
	for k, c := range list {
		out[k] = &compared{candidate: c, risk: make([]float64, len(rows)), sizes: make([]float64, len(rows))}
	}
	err := p.each(rows, func(w *autoWorker, k, i int) {
		w.rows.search.missed = false
		p.weigh(w, i, list, p.probes[from:to])
		if missed[k] = w.rows.search.missed; missed[k] {
			return
		}
		for c := range list {
			out[c].risk[k] = p.risk(i, w.feet(c), w.divergences[c])
			out[c].sizes[k] = w.sizes[c]
		}
	})
	return out, missed, err
}
