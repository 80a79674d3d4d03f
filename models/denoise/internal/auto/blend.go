package auto

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// A projection is the mean of projections onto the charts of nearby rows, the sites. Nearby rows share their sites,
// with other weights. Sites are therefore found once, for the nearest row with a chart.

// sites are the charts whose projections are averaged near a row.
type sites struct {
	own     int // the row itself, with weight 1
	list    []site
	y       []float64 // len(list) x D: their positions
	weights []float64 // for the current row, of sum 1
	far     float64   // distance from which on the weights are 0
	feet    chart.Feet
}

// site is a row with a chart, and the weight of this chart relative to others at the same distance.
type site struct {
	row   int
	count float64
}

const (
	// ownSide is a distance in units of the noise. A position further than this from the chart of a row is on another
	// sheet. A row further than this from the chart of another row gets its own chart.
	ownSide = 3
)

// noChart replaces the noise of a row without a chart because its neighbours determine no surface. standIn replaces
// the noise of a row that uses the chart of another row.
const noChart, standIn = -1, -2

// countCharts computes the weight of each chart. If some rows use charts of others, it indexes the positions of rows
// with charts.
func (a *fit) countCharts() {
	W := a.chartWidth()
	noise := func(i int) float64 { return a.charts[(i+1)*W-1] }
	a.places.charted, a.places.counts = nil, make([]float64, a.cloud.N)
	var charted []int
	some := false
	for _, i := range a.cloud.Used {
		if some = some || noise(i) == standIn; noise(i) >= 0 {
			charted = append(charted, i)
			s := a.settingAt(i, a.setting)
			a.places.counts[i] = s.oneIn()
		}
	}
	if !some {
		return
	}
	a.places.charted = lookup.NewIndex(a.places.y, a.cloud.D, charted)
}

// nearestChart returns a row with a chart: the given row, or, if the row has no chart, the row with a chart whose
// position is nearest to y.
func (w *worker) nearestChart(row int, y []float64) (int, bool) {
	switch w.charts[(row+1)*w.width-1] {
	case noChart:
		return 0, false
	case standIn:
		found := w.rows.Search.Find(w.places.charted, y, 1)
		if len(found) == 0 {
			return 0, false
		}
		return found[0].Row, true
	}
	return row, true
}

// stored returns the stored chart of a row.
func (w *worker) stored(row int) []float64 {
	return w.charts[row*w.width : (row+1)*w.width-chartNotes]
}

// load loads the stored chart of a row as the current chart. It returns false if the row has no chart.
func (w *worker) load(row int) bool { return w.chart.Load(w.stored(row)) }

// findSites finds the sites of a row with a chart, which must be the current chart. They are the rows with charts
// whose positions are nearby and on the same side. A row without a chart has none.
func (w *worker) findSites(own int) *sites {
	if w.known == nil {
		w.known = make([]sites, core.RowsAtATime)
	}
	to := &w.known[own%core.RowsAtATime]
	if to.own == own+1 {
		return to
	}
	D, s := w.cloud.D, w.settingAt(own, w.setting)
	found, far := w.around(w.places.y[own*D:(own+1)*D], s.blended())
	if found == nil {
		return nil
	}
	apart := ownSide * s.Scale
	if s.Sides > 0 {
		apart = min(apart, s.Sides)
	}
	to.own, to.far, to.list, to.y = own+1, far, to.list[:0], to.y[:0]
	for _, f := range found {
		count := w.places.counts[f.Row]
		if !(count > 0) {
			continue
		}
		y := w.places.y[f.Row*D : (f.Row+1)*D]
		if f.Row != own && !math.IsInf(s.Cut, 1) && w.chart.Beside(y) > apart {
			continue
		}
		to.list, to.y = append(to.list, site{f.Row, count}), append(to.y, y...)
	}
	if !slices.ContainsFunc(to.list, func(s site) bool { return s.row == own }) {
		to.list, to.y = append(to.list, site{own, 1}), append(to.y, w.places.y[own*D:(own+1)*D]...)
	}
	if _, inSpace := w.chart.(*chart.Space); inSpace {
		to.feet.Begin(len(to.list))
		for i, s := range to.list {
			to.feet.Take(i, w.stored(s.row))
		}
	}
	return to
}

// around lists the rows with charts nearest to a point that together represent the given number of rows. It also
// returns the distance from which on the weights of charts are 0.
func (w *worker) around(y []float64, many int) (found []lookup.Near, far float64) {
	if w.places.charted == nil {
		w.rows.Look(w.places.index, y, many)
		if found = w.rows.Found; len(found) == 0 {
			return nil, 0
		}
		return found[:min(many, len(found))], math.Sqrt(found[len(found)-1].Distance)
	}
	for k := int(opinions * 2); ; k *= 2 {
		found = w.rows.Search.Find(w.places.charted, y, k)
		if len(found) == 0 {
			return nil, 0
		}
		var sum float64
		for i, f := range found {
			if sum += w.places.counts[f.Row]; sum > float64(many) || len(found) < k && i == len(found)-1 {
				return found[:i+1], math.Sqrt(f.Distance)
			}
		}
	}
}

// weigh sets the weight of each site to the tricube of its distance from the position y.
func (s *sites) weigh(y []float64) {
	D := len(y)
	s.weights = s.weights[:0]
	var total float64
	for i, one := range s.list {
		var square float64
		for j, v := range s.y[i*D : (i+1)*D] {
			d := v - y[j]
			square += float64(d * d)
		}
		weight := one.count * chart.Tricube(math.Sqrt(square)/s.far)
		s.weights = append(s.weights, weight)
		total += weight
	}
	if !(total > 0) { // all are at the same distance, or the place is far from all
		for i, one := range s.list {
			if one.row == s.own-1 {
				s.weights[i], total = 1, 1
			}
		}
	}
	floats.Scale(1/total, s.weights)
}

// blend writes the mean of the projections of x onto the charts of the sites into dst.
func (w *worker) blend(dst, x []float64) bool {
	clear(w.sum)
	_, inSpace := w.chart.(*chart.Space)
	if inSpace {
		w.at.feet.Find(x)
	}
	for i, weight := range w.at.weights {
		if weight == 0 {
			continue
		}
		if inSpace {
			if foot, ok := w.at.feet.At(i); ok {
				for j, v := range foot {
					w.sum[j] += weight * v
				}
				continue
			}
		}
		if !w.load(w.at.list[i].row) || !w.chart.Foot(dst, x) {
			return false
		}
		floats.AddScaled(w.sum, weight, dst)
	}
	copy(dst, w.sum)
	return true
}

// Surveyor implements [core.Surveyed].
func (a *fit) Surveyor() core.Surveyor { return newWorker(a) }

// Survey implements [core.Surveyor]. It uses the charts whose projections were averaged for the last row, with the
// squares of their weights, because normals change sooner than positions do. The chart of the nearest row decides on
// which face of an edge the point is.
func (w *worker) Survey(s *chart.Shape, x []float64, fitted bool) (about core.Survey) {
	s.Begin()
	at := w.at
	own := slices.IndexFunc(at.list, func(s site) bool { return s.row == at.own-1 })
	if !w.addSite(s, own, x, at.weights[own]*at.weights[own]) {
		return about
	}
	var leverage, pulled, noise float64
	for i, weight := range at.weights {
		if i != own && weight > 0 {
			w.addSite(s, i, x, weight*weight)
		}
		notes := w.notes(at.list[i].row)
		leverage += weight * notes[0]
		pulled += weight * notes[1]
		noise += weight * notes[2]
	}
	about.Error, about.OK = noise*math.Sqrt(leverage), true
	about.Far, about.Noise = rows.Distance(w.foot, x), w.noise // which groups of outliers do not raise
	if fitted {
		about.Far /= 1 - min(pulled, core.OwnWeight)
	}
	if fitted && pulled >= core.OwnWeight {
		about.Far = w.fromOthers(x, about.Far)
	}
	return about
}

// notes returns the numbers after the chart of a row.
func (w *worker) notes(row int) *[chartNotes]float64 {
	return (*[chartNotes]float64)(w.charts[(row+1)*w.width-chartNotes:])
}

// addSite adds the chart of a site at the projection of x.
func (w *worker) addSite(s *chart.Shape, i int, x []float64, weight float64) bool {
	stored := w.stored(w.at.list[i].row)
	if _, inSpace := w.chart.(*chart.Space); inSpace {
		if foot, ok := w.at.feet.At(i); ok {
			return s.Add(stored, foot[:], weight)
		}
	}
	return w.chart.Load(stored) && w.chart.Foot(w.y, x) && s.Add(stored, w.y, weight)
}

// fromOthers replaces the distance far of a row x whose own charts follow it. It returns the least distance of x from
// five nearby charts that do not follow their rows, or far if there are none.
func (w *worker) fromOthers(x []float64, far float64) float64 {
	var others []float64
	for _, f := range w.rows.Search.Find(w.places.index, x, nearPlaces) {
		notes := w.notes(f.Row)
		if len(others) < 5 && notes[2] >= 0 && notes[1] < core.OwnWeight && w.load(f.Row) && w.chart.Foot(w.y, x) {
			others = append(others, rows.Distance(w.y, x))
		}
	}
	if len(others) == 0 {
		return far
	}
	return slices.Min(others)
}
