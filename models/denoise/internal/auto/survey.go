package auto

import (
	"math"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/rows"
)

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
