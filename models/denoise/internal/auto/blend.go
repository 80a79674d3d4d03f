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

// A foot is the mean of those on the charts of rows near by, the sites. Rows near each other have the same ones, but for their weights: they are found once, for the
// row with a chart that is nearest.

// sites are the charts that feet near a row are means of.
type sites struct {
	own     int // the row, and 1
	list    []site
	y       []float64 // len(list) x D: their places
	weights []float64 // for the row at hand, of sum 1
	far     float64   // the distance from which on they are 0
	feet    chart.Feet
}

// site is a row with a chart, and what that counts for among others at the same distance.
type site struct {
	row   int
	count float64
}

const (
	// ownSide is the distance of a place from the chart of the row, in units of the noise,
	// from which on it is on another sheet, and that of a row from the chart of another beyond which it has its own.
	ownSide = 3
)

// noChart stands for the noise of the chart of a row that has none, as those about it determine no surface, standIn for that of a row for which the chart of
// another is good enough.
const noChart, standIn = -1, -2

// countCharts says what the chart of every row counts for, and indexes the places of rows with charts where others stand in for some.
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

// nearestChart is a row with a chart: the one given, or where others stand in for it the one whose place is nearest to that of it, y.
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

// stored is the chart of a row as it was stored.
func (w *worker) stored(row int) []float64 {
	return w.charts[row*w.width : (row+1)*w.width-chartNotes]
}

// load takes the chart of a row for the chart at hand.
func (w *worker) load(row int) bool { return w.chart.Load(w.stored(row)) }

// findSites finds the sites of a row with a chart, the chart at hand: the rows with charts whose places are near its own, and on the side of the chart. There are none without charts.
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

// around lists rows with charts near a place, which stand for so many rows there, and the distance from which on they do not count.
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

// weigh sets the weights for the place y, the tricube of distances.
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

// blend writes the mean of the feet of x on the charts of the sites into dst.
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

// Survey implements [core.Surveyor] by the charts whose feet the row placed last has gone to the mean of, with the squares of their weights there: normals
// change sooner than places do. The chart of the nearest row says which face of an edge the point is on.
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

// notes are what follows the chart of a row.
func (w *worker) notes(row int) *[chartNotes]float64 {
	return (*[chartNotes]float64)(w.charts[(row+1)*w.width-chartNotes:])
}

// addSite adds the chart of a site at the foot of x.
func (w *worker) addSite(s *chart.Shape, i int, x []float64, weight float64) bool {
	stored := w.stored(w.at.list[i].row)
	if _, inSpace := w.chart.(*chart.Space); inSpace {
		if foot, ok := w.at.feet.At(i); ok {
			return s.Add(stored, foot[:], weight)
		}
	}
	return w.chart.Load(stored) && w.chart.Foot(w.y, x) && s.Add(stored, w.y, weight)
}

// fromOthers is the distance of a row that its own charts follow from the nearest of five charts near by that do not follow their rows, or the
// distance given where there are none.
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
