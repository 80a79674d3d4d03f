package denoise

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// candidate is what auto chooses.
type candidate struct {
	neighbors int
	ridge     float64
}

// likely is the number of standard errors up to which candidates that seem worse
// than the best are looked at again with further probes.
const likely = 2

// candidates lists all of them, by K.
func (p *autoPrepare) candidates() []candidate {
	var list []candidate
	for _, k := range p.sizes() {
		for _, ridge := range candidateRidges {
			list = append(list, candidate{k, ridge})
		}
	}
	return list
}

// sizes are the candidates for K.
func (p *autoPrepare) sizes() []int {
	if p.method.Neighbors > 0 {
		return []int{min(p.method.Neighbors, p.n)}
	}
	n, least := p.n, 8*quadratics(p.method.Latent)
	most := min(float64(n)*0.75, maxNeighbors)
	var list []int
	for k := float64(least); k <= most; k *= growth {
		list = append(list, int(k))
	}
	if list == nil {
		list = append(list, max(min(least, n*3/4), quadratics(p.method.Latent)+2))
	}
	return list
}

// compared is a candidate with its estimated risk by row.
type compared struct {
	candidate
	risk  []float64 // by row of the selection
	sizes []float64 // of the neighbourhoods of these rows
	size  float64   // their median
}

// choose takes the K and the ridge of the least estimated risk: first by one
// probe; those that come near the best are looked at with the others.
func (p *autoPrepare) choose() error {
	list, err := p.compare(p.candidates(), 0, 1)
	if err != nil {
		return err
	}
	list = p.wide(list)
	best := leastRisk(list)
	if p.probes > 1 {
		list = best.likelyAmong(list)
		var names []candidate
		for _, c := range list {
			names = append(names, c.candidate)
		}
		again, err := p.compare(names, 1, p.probes)
		if err != nil {
			return err
		}
		part := 1 / float64(p.probes)
		for k, c := range list {
			for i, v := range again[k].risk {
				c.risk[i] = part*c.risk[i] + (1-part)*v
			}
		}
		best = leastRisk(list)
	}
	p.setting.neighbors, p.setting.ridge = best.neighbors, best.ridge
	return nil
}

// wide leaves out neighbourhoods that are no larger than the noise; not the
// largest.
func (p *autoPrepare) wide(list []*compared) []*compared {
	most := list[len(list)-1].neighbors
	return slices.DeleteFunc(list, func(c *compared) bool {
		return c.neighbors < most && c.size < minReach*p.setting.scale
	})
}

// leastRisk returns the candidate of the least risk, the first of several.
func leastRisk(list []*compared) *compared {
	best, least := list[0], math.Inf(1)
	for _, c := range list {
		if risk := floats.Sum(c.risk); risk < least {
			best, least = c, risk
		}
	}
	return best
}

// likelyAmong returns those of the list whose risk may in truth be less.
func (best *compared) likelyAmong(list []*compared) []*compared {
	n := float64(len(best.risk))
	difference := make([]float64, len(best.risk))
	var near []*compared
	for _, c := range list {
		floats.SubTo(difference, c.risk, best.risk)
		mean, deviation := stat.MeanStdDev(difference, nil)
		if c == best || mean <= likely*deviation/math.Sqrt(n) {
			near = append(near, c)
		}
	}
	return near
}

// compare estimates the risk of candidates by probes [from, to).
func (p *autoPrepare) compare(list []candidate, from, to int) ([]*compared, error) {
	out, err := p.charts.compare(p.setting, list, from, to)
	for _, c := range out {
		c.size = median(c.sizes)
	}
	return out, err
}

// weigh leaves the feet, divergences and sizes of neighbourhoods of row i for every
// candidate in w.
func (p *cloudCharts) weigh(w *autoWorker, i int, list []candidate, probes []probe) {
	w.divergences = append(w.divergences[:0], make([]float64, len(list))...)
	w.sizes = append(w.sizes[:0], make([]float64, len(list))...)
	p.chartCandidates(w, i, list, p.cloud.X, p.places, func(c int, foot []float64, size float64) {
		copy(w.feet(c), foot)
		w.sizes[c] = size
	})
	for m := range probes {
		pr := &probes[m]
		p.chartCandidates(w, i, list, pr.x, pr.places, func(c int, foot []float64, _ float64) {
			w.divergences[c] += p.divergence(pr, i, w.feet(c), foot) / float64(len(probes))
		})
	}
}

// chartCandidates makes the charts of row i of x for every candidate.
func (p *cloudCharts) chartCandidates(w *autoWorker, i int, list []candidate, x []float64, at places, take func(c int, foot []float64, size float64)) {
	D, s := p.cloud.D, p.setting
	y, pivot := at.y[i*D:(i+1)*D], x[i*D:(i+1)*D]
	w.rows.look(at, y, list[len(list)-1].neighbors)
	if w.rows.search.missed {
		return
	}
	var size float64
	for c, one := range list {
		if c == 0 || one.neighbors != list[c-1].neighbors {
			size = w.rows.gather(p.cloud, x, at, one.neighbors)
		}
		s.neighbors, s.ridge = one.neighbors, one.ridge
		w.chart.fit(w.foot, y, pivot, w.rows.x, w.rows.near, w.rows.prior, size, &s)
		take(c, w.foot, size)
	}
}

// risk is the part of row i with the foot f in Stein's estimate, bounded where
// Tukey's loss is.
func (p *cloudCharts) risk(i int, f []float64, divergence float64) float64 {
	far := distance(p.cloud.Row(i), f)
	variance := p.setting.scale * p.setting.scale
	twice := 2 * variance * divergence
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
