package denoise

import (
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
)

// candidateWork is memory for the charts of candidates.
type candidateWork struct {
	sites  []int
	crowd  []int     // rows that are judged by the same charts, the row itself first
	feet   []float64 // ridges x crowd x sites x D: their feet
	own    []float64 // ridges x crowd: influence of each on its foot
	linear []float64 // ridges x probes: what influences say of the divergence of the first
	moved  []float64 // ridges x probes x D: mean feet of its perturbed rows
	answer []float64 // D
	part   []float64 // D
	foot   []float64 // D
}

// sitesTried is the number of charts that stand for all that a foot is the mean of where
// candidates are compared: the mean over pairs of them is that over all pairs.
const sitesTried = 4

// crowdRows is the number of rows about one of the selection that are judged by the same
// charts: most of the chance in a risk is the noise of the row, and that of others is another.
const crowdRows = 5

// compare implements charts.
func (p *cloudCharts) compare(s setting, list []candidate) ([]*compared, error) {
	out, _, err := p.compareSome(p.cloud.some(selectionRows), nil, s, list)
	return out, err
}

// compareSome estimates the risk of candidates of one number of neighbours, for rows at
// their places in the selection (nil: all of it). Rows that are missed have no
// risk, for their neighbours are elsewhere.
func (p *cloudCharts) compareSome(rows, place []int, s setting, list []candidate) ([]*compared, []bool, error) {
	out, missed := make([]*compared, len(list)), make([]bool, len(rows))
	for c, one := range list {
		out[c] = newCompared(one, len(rows))
	}
	total := min(p.cloud.rows(), selectionRows)
	s.neighbors = list[0].neighbors
	p.divide(&s, selectionRows, true)
	err := p.each(rows, func(w *autoWorker, k, i int) {
		w.rows.Search.Missed = false
		at := k
		if place != nil {
			at = place[k]
		}
		w.compare(p, i, k, placeAmongSome(at, total, probedRows) >= 0, s, out)
		missed[k] = w.rows.Search.Missed
	})
	return out, missed, err
}

// compare compares candidates by row i, which has place k in what is compared.
func (w *autoWorker) compare(p *cloudCharts, i, k int, probed bool, s setting, list []*compared) {
	t, D := &w.trial, w.cloud.D
	probes := p.probes
	if !probed {
		probes = nil
	}
	t.reset(len(list), len(probes), D)
	size, effective, ok := w.chartSites(p, i, probes, s, list)
	if !ok {
		return
	}
	for m := range probes {
		if !w.chartMoved(&probes[m], i, m, s, list) {
			return
		}
	}
	n := len(t.sites)
	for r, row := range t.crowd {
		scale, trusted := w.settingAt(row, s).Scale, math.Ceil(w.places.trust[row])
		for _, one := range list {
			one.scale[r][k], one.trusted[r][k] = scale, trusted
		}
	}
	for c, one := range list {
		one.sizes[k], one.extra[k] = size, math.NaN()
		for r, row := range t.crowd {
			feet := t.feet[(c*crowdRows+r)*n*D : (c*crowdRows+r+1)*n*D]
			one.square[r][k], one.own[r][k] = blendedSquare(p.cloud.Row(row), feet, effective), t.own[c*crowdRows+r]
		}
		if len(probes) == 0 {
			continue
		}
		feet := t.feet[c*crowdRows*n*D:]
		clear(t.foot)
		for f := range n {
			for j := range D {
				t.foot[j] += feet[f*D+j] / float64(n)
			}
		}
		one.extra[k] = 0
		for m := range probes {
			at := c*len(probes) + m
			d := p.divergence(&probes[m], i, t.foot, t.moved[at*D:(at+1)*D])
			one.extra[k] += (d - t.linear[at]) / float64(len(probes))
		}
	}
}

// blendedSquare is the square of the distance of x from the mean of many feet, of which
// those given are some: the mean product of two different ones, and 1/effective of that
// of one with itself.
func blendedSquare(x, feet []float64, effective float64) float64 {
	D := len(x)
	n := float64(len(feet) / D)
	var same, all float64
	for j := range D {
		var sum float64
		for f := j; f < len(feet); f += D {
			r := x[j] - feet[f]
			sum += r
			same += r * r / n
		}
		all += sum * sum
	}
	if n == 1 {
		return same
	}
	pairs := (all - n*same) / (n * (n - 1))
	return max((1-1/effective)*pairs+same/effective, 0)
}

func (t *candidateWork) reset(candidates, probes, D int) {
	zero := func(v []float64, n int) []float64 {
		v = append(v[:0], make([]float64, n)...)
		return v
	}
	t.own, t.linear = zero(t.own, candidates*crowdRows), zero(t.linear, candidates*probes)
	t.moved = zero(t.moved, candidates*probes*D)
	t.answer, t.part, t.foot = zero(t.answer, D), zero(t.part, D), zero(t.foot, D)
}

// pickSites lists rows whose charts stand for those that the foot of row i is the
// mean of, each for an equal part of the weights. It returns how many charts of equal weight
// all are worth.
func (w *autoWorker) pickSites(at places, i int, s *setting) (effective float64) {
	t, D, k := &w.trial, w.cloud.D, at.classes.most(s.blended())
	t.sites = t.sites[:0]
	y := at.y[i*D : (i+1)*D]
	w.rows.Look(at.mixed(), y, k)
	if w.rows.Search.Missed {
		return 0
	}
	found := w.rows.Found
	h := math.Sqrt(found[len(found)-1].Distance)
	var total, square float64
	for _, f := range found[:min(k, len(found))] {
		v := chart.Tricube(math.Sqrt(f.Distance) / h)
		total += v
		square += v * v
	}
	if !(total > 0) {
		t.sites = append(t.sites, found[0].Row)
		return 1
	}
	var sum float64
	for _, f := range found[:min(k, len(found))] {
		sum += chart.Tricube(math.Sqrt(f.Distance) / h)
		for len(t.sites) < sitesTried && sum >= (float64(len(t.sites))+.5)/sitesTried*total {
			t.sites = append(t.sites, f.Row)
		}
	}
	n := len(t.sites)
	for k := 1; k < n; k++ { // equal ones are one
		if t.sites[k] == t.sites[k-1] {
			copy(t.sites[k:], t.sites[k+1:])
			t.sites, n, k = t.sites[:n-1], n-1, k-1
		}
	}
	return max(total*total/square, 1)
}

// chartSites makes the charts of all candidates at the sites of row i.
func (w *autoWorker) chartSites(p *cloudCharts, i int, probes []probe, s setting, list []*compared) (size, effective float64, ok bool) {
	t, c, D := &w.trial, p.cloud, p.cloud.D
	at := w.settingAt(i, s)
	effective = w.pickSites(p.places, i, &at)
	n := len(t.sites)
	t.feet = append(t.feet[:0], make([]float64, len(list)*crowdRows*n*D)...)
	t.crowd = append(t.crowd[:0], i)
	for _, f := range w.rows.Found {
		if len(t.crowd) < crowdRows && f.Row != i {
			t.crowd = append(t.crowd, f.Row)
		}
	}
	for f, row := range t.sites {
		y := p.places.y[row*D : (row+1)*D]
		o := w.settingAt(row, s)
		many := p.places.classes.most(o.charted())
		w.rows.Look(p.places.near(row), y, many)
		if w.rows.Search.Missed {
			return 0, 0, false
		}
		w.rows.Gather(c.Data, c.X, p.places.y, p.places.trust, many)
		size += w.rows.Next / float64(n)
		w.drawTo(row, &o)
		made := w.prepare(y, c.Row(row), o)
		var own [crowdRows]int
		for r, row := range t.crowd {
			own[r] = w.rows.Place(row)
		}
		for l, one := range list {
			made := made && w.chart.Solve(w.ridge(one.ridge))
			for r := len(t.crowd) - 1; r >= 0; r-- { // the row itself last
				at := l*crowdRows + r
				foot := t.feet[(at*n+f)*D : (at*n+f+1)*D]
				if !made || !w.chart.Foot(foot, c.Row(t.crowd[r])) {
					copy(foot, y)
					t.own[at] += 1 / float64(n)
					continue
				}
				if own[r] >= 0 {
					t.own[at] += w.chart.Influence(own[r]) / float64(n)
				}
				if r > 0 || len(probes) == 0 {
					continue
				}
				w.chart.Influences(w.rows.L)
				for m := range probes {
					t.linear[l*len(probes)+m] += w.linear(&probes[m], i) / float64(n)
				}
			}
		}
	}
	return size, effective, n > 0
}

// linear is what a probe should say of the divergence of the last foot, that of row i: its
// part along the chart moves along, and all rows have their influence across it.
func (w *autoWorker) linear(pr *probe, i int) float64 {
	t, D := &w.trial, w.cloud.D
	clear(t.answer)
	for k, l := range w.rows.L {
		if l != 0 {
			z := pr.z[w.rows.Found[k].Row*D:]
			for j := range D {
				t.answer[j] += l * z[j]
			}
		}
	}
	z := pr.z[i*D : (i+1)*D]
	w.chart.Along(t.part, t.answer)
	var sum float64
	for j, v := range z {
		sum += v * (t.answer[j] - t.part[j])
	}
	w.chart.Along(t.part, z)
	for j, v := range z {
		sum += v * t.part[j]
	}
	return sum
}

// chartMoved makes the charts of all candidates at the sites of row i, of a probe, the m-th.
func (w *autoWorker) chartMoved(pr *probe, i, m int, s setting, list []*compared) bool {
	t, c, D := &w.trial, w.cloud, w.cloud.D
	n := float64(len(t.sites))
	probes := len(t.moved) / (len(list) * D)
	for _, row := range t.sites {
		y := pr.places.y[row*D : (row+1)*D]
		o := w.settingAt(row, s)
		many := pr.places.classes.most(o.charted())
		w.rows.Look(pr.places.near(row), y, many)
		if w.rows.Search.Missed {
			return false
		}
		w.rows.Gather(c.Data, pr.x, pr.places.y, pr.places.trust, many)
		w.drawTo(row, &o)
		made := w.prepare(y, pr.x[row*D:(row+1)*D], o)
		for l, one := range list {
			if !made || !w.chart.Solve(w.ridge(one.ridge)) || !w.chart.Foot(t.foot, pr.x[i*D:(i+1)*D]) {
				copy(t.foot, y)
			}
			to := t.moved[(l*probes+m)*D:]
			for j, v := range t.foot {
				to[j] += v / n
			}
		}
	}
	return len(t.sites) > 0
}
