package denoise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/scqm/scqm/internal/par"
)

// autoPrepare finds the noise, K and the ridge.
type autoPrepare struct {
	*autoFit
	ctx context.Context
	o   Options

	floor   float64 // of the noise
	eps     float64 // length of the perturbation
	probes  []probe
	workers []*autoWorker
	stages  int

	shrinkage []float64 // of the residuals of the rows charted last
}

const (
	// selectionRows bounds the rows on which candidates are compared. The
	// standard error of their mean risk is far below the differences that matter.
	selectionRows = 4000
)

// each runs work on the rows of list, in parallel.
func (p *autoPrepare) each(list []int, work func(w *autoWorker, k, i int)) error {
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

// chartAll writes the feet of the rows of x, at their places, into f and returns the
// median size of neighbourhoods.
func (p *autoPrepare) chartAll(f, x []float64, at places, s setting) (float64, error) {
	return p.chartSome(p.cloud.used, f, x, at, s)
}

func (p *autoPrepare) chartSome(list []int, f, x []float64, at places, s setting) (float64, error) {
	D := p.cloud.D
	sizes := make([]float64, len(list))
	p.shrinkage = make([]float64, len(list))
	err := p.each(list, func(w *autoWorker, k, i int) {
		y := at.y[i*D : (i+1)*D]
		w.rows.look(at, y, s.neighbors)
		sizes[k] = w.rows.gather(p.cloud, x, at, s.neighbors)
		p.shrinkage[k] = 1
		if w.chart.fit(f[i*D:(i+1)*D], y, x[i*D:(i+1)*D], w.rows.x, w.rows.near, w.rows.prior, sizes[k], &s) {
			p.shrinkage[k] = w.chart.shrinkage(len(w.rows.prior), w.rows.place(i))
		}
	})
	return median(sizes), err
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// spread is the standard deviation of the noise by the median distance of the
// rows of list, which have been charted last, from their feet. Each distance is
// first divided by what the chart, being pulled towards the row, has left of it:
// a chart that follows its own row would else pass for one without noise, and a
// loss that bends with that noise would make it follow the more.
func (p *autoPrepare) spread(list []int, f []float64) float64 {
	D := p.cloud.D
	far := make([]float64, len(list))
	for k, i := range list {
		far[k] = distance(p.cloud.Row(i), f[i*D:(i+1)*D]) / p.shrinkage[k]
	}
	return median(far) / p.tune.median
}

// spreadOfAll is the spread of all rows from their feet f, which have been charted
// last, as the probes have. Where neighbourhoods are hardly larger than the
// noise, neighbours are those that share the noise of a row, and pull the chart
// after it: the shrinkage does not know of that, the divergence does.
func (p *autoPrepare) spreadOfAll(f []float64) float64 {
	used, D := p.cloud.used, p.cloud.D
	var divergence float64
	for m := range p.probes {
		pr := &p.probes[m]
		for _, i := range used {
			divergence += p.divergence(pr, i, f[i*D:(i+1)*D], pr.places.y[i*D:(i+1)*D])
		}
	}
	divergence /= float64(len(used) * len(p.probes))
	far := make([]float64, len(used))
	for k, i := range used {
		far[k] = distance(p.cloud.Row(i), f[i*D:(i+1)*D])
	}
	left := max(float64(D)-divergence, p.q/4)
	followed := median(far) / p.tune.median * math.Sqrt(p.q/left)
	return max(followed, p.spread(used, f), p.floor)
}

// pilot denoises once with a number of neighbours that errs on the large side.
func (p *autoPrepare) pilot() error {
	c, functions := p.cloud, quadratics(p.method.Latent)
	n := len(c.used)
	s := setting{neighbors: max(min(10*functions, n/3), functions+2), ridge: pilotRidge}
	x := places{y: c.X, index: c.index}
	f := slices.Clone(c.X)
	for {
		size, err := p.pilotScale(f, x, &s)
		if err != nil {
			return err
		}
		if size >= minReach*s.scale || s.neighbors >= n/2 {
			break
		}
		s.neighbors = min(int(math.Ceil(1.4*float64(s.neighbors))), n)
	}
	if err := p.perturb(s); err != nil {
		return err
	}
	if _, err := p.chartAll(f, c.X, x, s); err != nil {
		return err
	}
	p.setScale(&s, p.spreadOfAll(f), !p.method.LeastSquares)
	p.setting, p.places = s, c.newPlaces(f)
	return nil
}

// pilotScale fits the rows at their own places, by least squares and then with Tukey's
// loss, and leaves the noise in s. It returns the median size of neighbourhoods.
// Some of the rows are enough for that.
func (p *autoPrepare) pilotScale(f []float64, x places, s *setting) (float64, error) {
	p.setScale(s, 0, false)
	list := p.selection()
	size, err := p.chartSome(list, f, p.cloud.X, x, *s)
	if err != nil {
		return 0, err
	}
	if !(size > 0) {
		return 0, fmt.Errorf("denoise: auto: squares of the distances to the %d nearest neighbours of most rows are beyond the numbers; rescale the rows: %w", s.neighbors, ErrInput)
	}
	first := max(p.spread(list, f), exact*size)
	p.floor = pilotFloor * first
	p.setScale(s, first, !p.method.LeastSquares)
	if p.method.LeastSquares {
		return size, nil
	}
	for range 2 {
		if _, err := p.chartSome(list, f, p.cloud.X, x, *s); err != nil {
			return 0, err
		}
		p.setScale(s, max(p.spread(list, f), p.floor), true)
	}
	return size, nil
}

// advance takes the feet for the places.
func (p *autoPrepare) advance() error {
	for m := range p.probes {
		if err := p.advanceProbe(&p.probes[m], p.setting); err != nil {
			return err
		}
	}
	f := slices.Clone(p.cloud.X)
	if _, err := p.chartAll(f, p.cloud.X, p.places, p.setting); err != nil {
		return err
	}
	p.setScale(&p.setting, p.spreadOfAll(f), !p.method.LeastSquares)
	p.places = p.cloud.newPlaces(f)
	return nil
}
