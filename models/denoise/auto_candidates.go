package denoise

import (
	"cmp"
	"math"
	"slices"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// Candidates of one number of neighbours are compared by rows of the selection, and for each by the charts of a few rows, sites, that stand for
// all that its foot is the mean of. A chart belongs to its site and not to the row that it is looked at for: rows that are near each
// other have sites in common, a few hundred rows four times each. So sites are picked for all rows, each is charted once, and what
// its charts say of the rows that have it is put together by row, in the order in which sites were picked.

// sitesTried is the number of charts that stand for all that a foot is the mean of where
// candidates are compared: the mean over pairs of them is that over all pairs.
const sitesTried = 4

// crowdRows is the number of rows about one of the selection that are judged by the same
// charts: most of the chance in a risk is the noise of the row, and that of others is another.
const crowdRows = 5

// judged is a row of the selection with what it is judged by.
type judged struct {
	sites     [sitesTried]int // the first n: rows whose charts these are
	n         int
	crowd     [crowdRows]int // the first many: rows that are judged by the same charts, the row itself first
	many      int
	effective float64 // how many charts of equal weight those of the foot are worth
	probed    bool
}

// use is that of a chart by row k of a comparison, whose site it is.
type use struct{ site, k, f int }

// comparison compares candidates by some rows of the selection. What charts say of rows is stored by candidate, row and site, and the
// size of the neighbourhood and whether it was missed by row and site.
type comparison struct {
	*cloudCharts
	setting setting
	list    []*compared
	rows    []int // of the cloud
	judged  []judged

	uses   []use     // by site
	feet   []float64 // candidates x rows x crowdRows x sitesTried x D
	own    []float64 // candidates x rows x crowdRows x sitesTried: influence of each row of the crowd on its foot
	linear []float64 // candidates x probes x rows x sitesTried: what influences say of the divergence of the row
	moved  []float64 // candidates x probes x rows x sitesTried x D: feet of its perturbed rows
	size   []float64 // rows x sitesTried
	missed []bool    // rows x sitesTried
	foot   []float64 // D
	mean   []float64 // D
}

// comparedAtOnce bounds the numbers that a comparison stores of rows; more rows than that are compared in parts, each of rows near each other.
const comparedAtOnce = 1 << 20

// rowsAtOnce is how many rows candidates are compared by at once.
func rowsAtOnce(candidates, probes, D int) int {
	return max(comparedAtOnce/(candidates*sitesTried*(D+1)*(crowdRows+probes)), core.RowsAtATime)
}

// compareNumbers counts the numbers that a comparison by some of n rows holds.
func compareNumbers(n, D, probes float64) float64 {
	row := float64(len(candidateRidges)*sitesTried) * (D + 1) * (crowdRows + probes)
	return min(n, selectionRows, max(comparedAtOnce/row, core.RowsAtATime)) * row
}

// compare implements charts.
func (p *cloudCharts) compare(s setting, list []candidate, of portion) ([]*compared, error) {
	var rows, place []int
	for k, i := range p.cloud.Some(selectionRows) {
		if of.place(k) >= 0 {
			rows, place = append(rows, i), append(place, k)
		}
	}
	out, _, err := p.compareSome(rows, place, s, list)
	return out, err
}

// portion is one of several parts of the selection, by pairs of places, so that each has its share of the rows that are probed; zero is all of it.
type portion struct{ at, many int }

// place is where place k of the selection is in the part, -1 if it is not.
func (p portion) place(k int) int {
	switch {
	case p.many < 2:
		return k
	case k/portionRows%p.many != p.at:
		return -1
	}
	return k/portionRows/p.many*portionRows + k%portionRows
}

// portionRows is how many places that follow each other are in one part.
const portionRows = 2

// take returns those of a selection that are in the part.
func (p portion) take(list []int) (part []int) {
	if p.many < 2 {
		return list
	}
	for k, i := range list {
		if p.place(k) >= 0 {
			part = append(part, i)
		}
	}
	return part
}

// rows is the number of those of a selection of n that are in the part.
func (p portion) rows(n int) (rows int) {
	for k := range n {
		if p.place(k) >= 0 {
			rows++
		}
	}
	return rows
}

// compareSome estimates the risk of candidates of one number of neighbours, for rows at
// their places in the selection (nil: all of it). Rows that are missed have no
// risk, for their neighbours are elsewhere.
func (p *cloudCharts) compareSome(rows, place []int, s setting, list []candidate) ([]*compared, []bool, error) {
	out, missed := make([]*compared, len(list)), make([]bool, len(rows))
	for c, one := range list {
		out[c] = newCompared(one, len(rows))
	}
	total := min(p.cloud.Count(), selectionRows)
	s.neighbors = list[0].neighbors
	p.divide(&s, selectionRows, true)
	order, c := p.nearby(rows), comparison{cloudCharts: p, setting: s, list: out}
	for part := range slices.Chunk(order, rowsAtOnce(len(list), len(p.probes), p.cloud.D)) {
		c.begin(len(part))
		for l, k := range part {
			at := k
			if place != nil {
				at = place[k]
			}
			c.rows[l], c.judged[l].probed = rows[k], core.PlaceAmongSome(at, total, probedRows) >= 0
		}
		if err := c.run(); err != nil {
			return nil, nil, err
		}
		for l, k := range part {
			missed[k] = !c.take(l, k)
		}
	}
	return out, missed, nil
}

// begin makes room for n rows.
func (c *comparison) begin(n int) {
	D, sites, probes := c.cloud.D, len(c.list)*n*sitesTried, len(c.probes)
	c.rows, c.judged = make([]int, n), make([]judged, n)
	c.feet, c.own = dense.Grow(c.feet, sites*crowdRows*D), dense.Grow(c.own, sites*crowdRows)
	c.linear, c.moved = dense.Grow(c.linear, sites*probes), dense.Grow(c.moved, sites*probes*D)
	c.size, c.missed = dense.Grow(c.size, n*sitesTried), make([]bool, n*sitesTried)
	c.foot, c.mean = dense.Grow(c.foot, D), dense.Grow(c.mean, D)
}

// run picks sites and makes their charts.
func (c *comparison) run() error {
	if err := c.each(c.rows, func(w *autoWorker, k, i int) { w.judge(c, i, &c.judged[k]) }); err != nil {
		return err
	}
	c.uses = c.uses[:0]
	for k := range c.judged {
		for f, site := range c.judged[k].sites[:c.judged[k].n] {
			c.uses = append(c.uses, use{site, k, f})
		}
	}
	slices.SortFunc(c.uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.site, b.site), cmp.Compare(a.k, b.k), cmp.Compare(a.f, b.f))
	})
	var sites, first []int
	for l, u := range c.uses {
		if l == 0 || u.site != c.uses[l-1].site {
			sites, first = append(sites, u.site), append(first, l)
		}
	}
	first = append(first, len(c.uses))
	return c.each(sites, func(w *autoWorker, k, site int) { w.chartSite(c, site, c.uses[first[k]:first[k+1]]) })
}

// take puts together what the charts of row l say, for row k of all that are compared. It is false where neighbours may be elsewhere.
func (c *comparison) take(l, k int) bool {
	j, D := &c.judged[l], c.cloud.D
	if j.n == 0 || slices.Contains(c.missed[l*sitesTried:l*sitesTried+j.n], true) {
		return false
	}
	n, size := float64(j.n), 0.0
	for _, v := range c.size[l*sitesTried : l*sitesTried+j.n] {
		size += v / n
	}
	for r, row := range j.crowd[:j.many] {
		scale, trusted := c.settingAt(row, c.setting).Scale, math.Ceil(c.places.trust[row])
		for m, one := range c.list {
			at := ((m*len(c.rows)+l)*crowdRows + r) * sitesTried
			var own float64
			for _, v := range c.own[at : at+j.n] {
				own += v / n
			}
			one.scale[r][k], one.trusted[r][k] = scale, trusted
			one.square[r][k], one.own[r][k] = blendedSquare(c.cloud.Row(row), c.feet[at*D:(at+j.n)*D], j.effective), own
		}
	}
	for m, one := range c.list {
		one.sizes[k], one.extra[k] = size, math.NaN()
		if j.probed && len(c.probes) > 0 {
			one.extra[k] = c.extra(m, l)
		}
	}
	return true
}

// extra is what probes say of the divergence of row l beyond the influences, for a candidate.
func (c *comparison) extra(candidate, l int) (extra float64) {
	j, D := &c.judged[l], c.cloud.D
	meanOf := func(dst, feet []float64) {
		clear(dst)
		for f := range j.n {
			for i, v := range feet[f*D : (f+1)*D] {
				dst[i] += v / float64(j.n)
			}
		}
	}
	meanOf(c.mean, c.feet[(candidate*len(c.rows)+l)*crowdRows*sitesTried*D:])
	for m := range c.probes {
		at := ((candidate*len(c.probes)+m)*len(c.rows) + l) * sitesTried
		meanOf(c.foot, c.moved[at*D:])
		var linear float64
		for _, v := range c.linear[at : at+j.n] {
			linear += v / float64(j.n)
		}
		extra += (c.divergence(&c.probes[m], c.rows[l], c.mean, c.foot) - linear) / float64(len(c.probes))
	}
	return extra
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

// pickSites lists rows whose charts stand for those that the foot of row i is the
// mean of, each for an equal part of the weights. It returns how many charts of equal weight
// all are worth.
func (w *autoWorker) pickSites(j *judged, at places, i int, s *setting) (effective float64) {
	D, k := w.cloud.D, at.classes.most(s.weighed())
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
		j.sites[0], j.n = found[0].Row, 1
		return 1
	}
	var sum float64
	picked := 0
	for _, f := range found[:min(k, len(found))] {
		sum += chart.Tricube(math.Sqrt(f.Distance) / h)
		for picked < sitesTried && sum >= (float64(picked)+.5)/sitesTried*total {
			j.sites[picked] = f.Row
			picked++
		}
	}
	j.n = len(slices.Compact(j.sites[:picked])) // equal ones are one
	return max(total*total/square, 1)
}

// judge finds what row i is judged by.
func (w *autoWorker) judge(c *comparison, i int, j *judged) {
	w.rows.Search.Missed = false
	at := w.settingAt(i, c.setting)
	j.effective = w.pickSites(j, c.places, i, &at)
	j.crowd[0], j.many = i, 1
	for _, f := range w.rows.Found {
		if j.many < crowdRows && f.Row != i {
			j.crowd[j.many] = f.Row
			j.many++
		}
	}
}

// prepareSite prepares the chart of a row of x at its place. It is not known where neighbours may be elsewhere.
func (w *autoWorker) prepareSite(row int, x []float64, at *places, s setting) (made, known bool) {
	D := w.cloud.D
	y := at.y[row*D : (row+1)*D]
	o := w.settingAt(row, s)
	many := at.classes.most(o.charted())
	w.rows.Search.Missed = false
	w.rows.Look(at.near(row), y, many)
	if w.rows.Search.Missed {
		return false, false
	}
	w.rows.Gather(at.source, many)
	w.drawTo(row, &o)
	return w.prepare(y, x[row*D:(row+1)*D], o), true
}

// solveSite makes the chart that has been prepared at a site, with a ridge, or a crease in its place.
func (w *autoWorker) solveSite(c *comparison, site int, ridge float64) bool {
	if !w.chart.Solve(w.ridge(ridge)) {
		return false
	}
	s := w.settingAt(site, c.setting)
	w.takeCrease(&s)
	return true
}

// chartSite makes the charts of all candidates at a site, for all rows that have it.
func (w *autoWorker) chartSite(c *comparison, site int, uses []use) {
	made, known := w.prepareSite(site, c.cloud.X, &c.places, c.setting)
	probed := false
	for _, u := range uses {
		at := u.k*sitesTried + u.f
		c.missed[at], c.size[at] = !known, w.rows.Next
		probed = probed || c.judged[u.k].probed
	}
	if !known {
		return
	}
	w.placeCrowds(c, uses)
	for l, one := range c.list {
		made := made && w.solveSite(c, site, one.ridge)
		for v, u := range uses {
			w.judgeCrowd(c, u, l, w.trial.own[v], made)
		}
	}
	for m := range c.probes {
		if probed && !w.chartMoved(c, site, m, uses) {
			for _, u := range uses {
				c.missed[u.k*sitesTried+u.f] = c.missed[u.k*sitesTried+u.f] || c.judged[u.k].probed
			}
		}
	}
}

// candidateWork is memory for the charts of candidates.
type candidateWork struct {
	own          [][crowdRows]int // places of the rows of crowds among those gathered
	answer, part []float64        // D
}

// placeCrowds finds the rows of the crowds that have a chart among those that it is made of.
func (w *autoWorker) placeCrowds(c *comparison, uses []use) {
	t := &w.trial
	t.own = slices.Grow(t.own[:0], len(uses))[:len(uses)]
	for v, u := range uses {
		j := &c.judged[u.k]
		for r, row := range j.crowd[:j.many] {
			t.own[v][r] = w.rows.Place(row)
		}
	}
}

// judgeCrowd finds the feet of a crowd on the chart at hand, that of a candidate, if one was made: else they are the place of the site.
func (w *autoWorker) judgeCrowd(c *comparison, u use, candidate int, own [crowdRows]int, made bool) {
	D, j := c.cloud.D, &c.judged[u.k]
	for r := j.many - 1; r >= 0; r-- { // the row itself last
		at := ((candidate*len(c.rows)+u.k)*crowdRows+r)*sitesTried + u.f
		foot := c.feet[at*D : (at+1)*D]
		if !made || !w.chart.Foot(foot, c.cloud.Row(j.crowd[r])) {
			copy(foot, c.places.y[u.site*D:(u.site+1)*D])
			c.own[at] = 1
			made = made && r > 0
			continue
		}
		c.own[at] = 0
		if own[r] >= 0 {
			c.own[at] = w.chart.Influence(own[r])
		}
	}
	if !j.probed {
		return
	}
	if made {
		w.chart.Influences(w.rows.L)
	}
	for m := range c.probes {
		at := ((candidate*len(c.probes)+m)*len(c.rows)+u.k)*sitesTried + u.f
		if c.linear[at] = 0; made {
			c.linear[at] = w.linear(&c.probes[m], c.rows[u.k])
		}
	}
}

// linear is what a probe should say of the divergence of the last foot, that of row i: its
// part along the chart moves along, and all rows have their influence across it.
func (w *autoWorker) linear(pr *probe, i int) float64 {
	t, D := &w.trial, w.cloud.D
	t.answer, t.part = dense.Grow(t.answer, D), dense.Grow(t.part, D)
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

// chartMoved makes the charts of all candidates at a site, of probe m, for the probed rows that have it. It is false where neighbours may be
// elsewhere.
func (w *autoWorker) chartMoved(c *comparison, site, m int, uses []use) bool {
	D, pr := c.cloud.D, &c.probes[m]
	made, known := w.prepareSite(site, pr.x, &pr.places, c.setting)
	if !known {
		return false
	}
	for l, one := range c.list {
		made := made && w.solveSite(c, site, one.ridge)
		for _, u := range uses {
			if !c.judged[u.k].probed {
				continue
			}
			at, i := ((l*len(c.probes)+m)*len(c.rows)+u.k)*sitesTried+u.f, c.rows[u.k]
			if foot := c.moved[at*D : (at+1)*D]; !made || !w.chart.Foot(foot, pr.x[i*D:(i+1)*D]) {
				copy(foot, pr.places.y[site*D:(site+1)*D])
			}
		}
	}
	return true
}
