package denoise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/internal/par"
)

// autoPrepare finds the noise, K and the ridge.
type autoPrepare struct {
	*autoFit
	ctx context.Context
	o   Options

	floor   float64   // of the noise
	eps     float64   // length of the perturbation
	z       []float64 // n x D: signs
	xp      []float64 // n x D: perturbed rows
	perturb places    // and their places
	workers []*autoWorker
	stages  int

	shrinkage []float64 // of the residuals of the rows charted last
}

const (
	// perturbationSeed fixes the signs: the same rows give the same result.
	perturbationSeed = 20240229
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

// rowDivergence is the part of a row in the divergence, z'(fp - f)/eps.
func (p *autoPrepare) rowDivergence(i int, f, fp []float64) float64 {
	D := p.cloud.D
	var sum float64
	for j, z := range p.z[i*D : (i+1)*D] {
		sum += z * (fp[j] - f[j])
	}
	return min(max(sum/p.eps, -2*float64(D)), 3*float64(D))
}

// pilot denoises once with a number of neighbours that errs on the large side.
func (p *autoPrepare) pilot() error {
	c, functions := p.cloud, quadratics(p.method.Latent)
	n := len(c.used)
	s := setting{neighbors: max(min(10*functions, n/3), functions+2), ridge: pilotRidge}
	x := places{y: c.X, index: c.index}
	rng := rand.New(rand.NewPCG(perturbationSeed, 0))
	p.z = make([]float64, len(c.X))
	for i := range p.z {
		p.z[i] = float64(1 - 2*int(rng.Uint64()>>63))
	}
	f := slices.Clone(c.X)
	for {
		size, err := p.pilotScale(f, x, &s)
		if err != nil {
			return err
		}
		if size >= leastReach*s.scale || s.neighbors >= n/2 {
			break
		}
		s.neighbors = min(int(math.Ceil(1.4*float64(s.neighbors))), n)
	}
	p.eps = perturbation * s.scale
	p.xp = make([]float64, len(c.X))
	for i, v := range c.X {
		p.xp[i] = v + p.eps*p.z[i]
	}
	fp := slices.Clone(p.xp)
	if _, err := p.chartAll(fp, p.xp, c.newPlaces(p.xp), s); err != nil {
		return err
	}
	if _, err := p.chartAll(f, c.X, x, s); err != nil {
		return err
	}
	p.setScale(&s, max(p.spread(c.used, f), p.floor), !p.method.LeastSquares)
	p.setting, p.places, p.perturb = s, c.newPlaces(f), c.newPlaces(fp)
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
	f, fp := slices.Clone(p.cloud.X), slices.Clone(p.xp)
	if _, err := p.chartAll(fp, p.xp, p.perturb, p.setting); err != nil {
		return err
	}
	if _, err := p.chartAll(f, p.cloud.X, p.places, p.setting); err != nil {
		return err
	}
	scale := max(p.spread(p.cloud.used, f), p.floor)
	p.setScale(&p.setting, scale, !p.method.LeastSquares)
	p.places, p.perturb = p.cloud.newPlaces(f), p.cloud.newPlaces(fp)
	return nil
}

// sizes are the candidates for K.
func (p *autoPrepare) sizes() []int {
	if p.method.Neighbors > 0 {
		return []int{min(p.method.Neighbors, len(p.cloud.used))}
	}
	n, least := len(p.cloud.used), 8*quadratics(p.method.Latent)
	most := min(float64(n)*0.75, mostNeighbors)
	var list []int
	for k := float64(least); k <= most; k *= growth {
		list = append(list, int(k))
	}
	if list == nil {
		list = append(list, max(min(least, n*3/4), quadratics(p.method.Latent)+2))
	}
	return list
}

// choose takes the K and the ridge of the least estimated risk.
func (p *autoPrepare) choose() error {
	sizes := p.sizes()
	rows := p.selection()
	risk := make([][]float64, len(sizes)*len(candidateRidges)) // by row
	reach := make([][]float64, len(sizes))
	for k := range risk {
		risk[k] = make([]float64, len(rows))
	}
	for k := range reach {
		reach[k] = make([]float64, len(rows))
	}
	err := p.each(rows, func(w *autoWorker, k, i int) {
		p.weigh(w, i, sizes, func(candidate int, value, size float64) {
			risk[candidate][k] = value
			reach[candidate/len(candidateRidges)][k] = size
		})
	})
	if err != nil {
		return err
	}
	best, least := -1, math.Inf(1)
	for k := range risk {
		size := k / len(candidateRidges)
		if last := size == len(sizes)-1; !last && median(slices.Clone(reach[size])) < leastReach*p.setting.scale {
			continue
		}
		var sum float64
		for _, v := range risk[k] {
			sum += v
		}
		if sum < least || best < 0 {
			best, least = k, sum
		}
	}
	p.setting.neighbors = sizes[best/len(candidateRidges)]
	p.setting.ridge = candidateRidges[best%len(candidateRidges)]
	return nil
}

// selection returns the rows on which candidates are compared.
func (p *autoPrepare) selection() []int { return p.cloud.some(selectionRows) }

// weigh computes the part of row i in the estimated risk of every candidate.
func (p *autoPrepare) weigh(w *autoWorker, i int, sizes []int, take func(candidate int, risk, size float64)) {
	D, s := p.cloud.D, p.setting
	x, xp := p.cloud.Row(i), p.xp[i*D:(i+1)*D]
	most := sizes[len(sizes)-1]
	y, yp := p.places.y[i*D:(i+1)*D], p.perturb.y[i*D:(i+1)*D]
	for side := range 2 {
		if side == 0 {
			w.rows.look(p.places, y, most)
		} else {
			w.rows.look(p.perturb, yp, most)
		}
		for k, size := range sizes {
			var next float64
			if side == 0 {
				next = w.rows.gather(p.cloud, p.cloud.X, p.places, size)
			} else {
				next = w.rows.gather(p.cloud, p.xp, p.perturb, size)
			}
			for l, ridge := range candidateRidges {
				s.ridge = ridge
				candidate := k*len(candidateRidges) + l
				f := w.feet(candidate)
				if side == 0 {
					w.chart.fit(f, y, x, w.rows.x, w.rows.near, w.rows.prior, next, &s)
					w.reach(candidate, next)
					continue
				}
				w.chart.fit(w.foot, yp, xp, w.rows.x, w.rows.near, w.rows.prior, next, &s)
				take(candidate, p.risk(i, f, w.foot), w.sizes[candidate])
			}
		}
	}
}

// risk is the part of row i in Stein's estimate, bounded where Tukey's loss is.
func (p *autoPrepare) risk(i int, f, fp []float64) float64 {
	far := distance(p.cloud.Row(i), f)
	variance := p.setting.scale * p.setting.scale
	twice := 2 * variance * p.rowDivergence(i, f, fp)
	if p.method.LeastSquares {
		return far*far + twice
	}
	bound := tukeyEfficient * p.q * variance
	if far*far >= bound {
		return bound / 3
	}
	u := 1 - far*far/bound
	return bound/3*(1-u*u*u) + twice
}

// feet is room for the foot of a candidate.
func (w *autoWorker) feet(candidate int) []float64 {
	D := w.cloud.D
	for len(w.all) < (candidate+1)*D {
		w.all = append(w.all, make([]float64, D)...)
	}
	return w.all[candidate*D : (candidate+1)*D]
}

// reach keeps the size of the neighbourhood of a candidate.
func (w *autoWorker) reach(candidate int, size float64) {
	for len(w.sizes) <= candidate {
		w.sizes = append(w.sizes, 0)
	}
	w.sizes[candidate] = size
}
