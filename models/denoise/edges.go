package denoise

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Near an edge a chart of many rows settles between the two faces, or on the wrong one, and Tukey's loss then takes the row for an outlier. A
// chart that grows from a few rows near by, each time with the weights that the chart before gives by distance, stays on one face.
// It pays for that with chance, and follows crowds of outliers, so that charts grow only where that plainly brings them nearer to their rows or the
// risk of their mean feet is surely less. Charts of more than 2,000 points, and those of fewer with uneven noise, become creases in place of that (docs/adr/0130).

const (
	// edgeRows is the least number of rows that charts grow from.
	edgeRows = 12
	// edgeGrowth is the ratio of the numbers of rows of charts that grow: with 6 the one before is too far from the next near an edge.
	edgeGrowth = 3.0
	// edgeUneven is the number of rows of the grown charts that have to see that noise is uneven: those of clouds with edges and even noise
	// see quartiles of .38 to .51 in the logarithm, those of uneven noise .8 and more.
	edgeUneven = 36
	// edgeKept is the least part of the weights by place that a chart grown about a row far from its first foot has left.
	edgeKept = 0.5
	// edgeGain is the part of the risk by which that of growing charts has to be less, and edgeSure the standard errors.
	edgeGain, edgeSure = 0.025, 1
	// mostLost is the part of rows that do not count from which on these are no rows near edges, of which charts at once lose up to an eighth, but
	// outliers: charts of few rows would follow them where they are close together.
	mostLost = 0.145
	// edgeMost is the largest K for which charts of other sizes are tried: where more rows are best there are no edges to lose them over.
	edgeMost = 150
	// edgeNearer is the part of the risk by which growing has to bring charts of the best K nearer to their rows for it to be tried at all, and edgePlain
	// the part from which on that is enough by itself: the risk of the candidates knows nothing of rows that charts at once have lost.
	edgeNearer, edgePlain = 0.01, 0.15
)

// inSpace tells whether charts are those of a surface in three dimensions, which may grow.
func (a *autoSettings) inSpace() bool { return a.q == 1 && a.method.Latent == lookup.Space-1 }

// growsFrom is the number of rows that charts would grow from by what the pilot has seen: so many that their neighbourhoods are
// no smaller beside the noise than those of a pilot. 0 is none, as where noise is uneven: charts of few rows are all noise then where it is strong.
func (p *autoPrepare) growsFrom(s *setting, seen look) int {
	if !p.inSpace() || p.method.LeastSquares || s.uneven || !(seen.size > 0) || p.lost > mostLost {
		return 0
	}
	reach := pilotReach * s.Scale / seen.size
	return max(edgeRows, int(math.Ceil(float64(s.neighbors)*reach*reach)))
}

// chooseGrowing returns the best candidate, and the number of rows that its charts grow from where growing ones are plainly nearer to their rows or surely
// better than the best of those that are made at once, else 0. Growing charts keep away from edges by themselves, so that they may have more rows.
func (t *trials) chooseGrowing(best *compared) (*compared, int, error) {
	from, now := t.growing, t.setting.from
	if from == 0 || now > 0 || t.setting.creased || !t.setting.noisy || math.IsInf(t.setting.Cut, 1) || best.neighbors > edgeMost || 2*from > 3*best.neighbors {
		return best, now, nil
	}
	nearer, err := t.nearerGrown(best, from)
	if err != nil || nearer < edgeNearer {
		return best, 0, err
	}
	plain := nearer > edgePlain
	first := slices.IndexFunc(t.sizes, func(k int) bool { return k > best.neighbors })
	if first < 0 {
		first = len(t.sizes) - 1
	}
	grown := trials{autoPrepare: t.autoPrepare, setting: t.setting, sizes: t.sizes, first: first, brief: true}
	if grown.setting.from = from; !plain {
		grown.rival = best
	}
	other, err := grown.run()
	if err != nil || other == nil || !plain && !other.surelyBetter(best) {
		return best, 0, err
	}
	return other, from, nil
}

// nearerGrown is the part of the risk by which charts of the best candidate come nearer to their rows where they grow. Two charts a row are a small part of
// what it costs to compare candidates, and most clouds need no more.
func (t *trials) nearerGrown(best *compared, from int) (float64, error) {
	var seen [2]*charted
	for k, start := range []int{0, from} {
		s := t.setting
		s.neighbors, s.Ridge, s.from = best.neighbors, best.ridge, start
		var err error
		if seen[k], err = t.charts.chart(order{some: true, setting: s}); err != nil {
			return 0, err
		}
	}
	var risk [2]float64
	once, grown := seen[0].corrected(), seen[1].corrected()
	for i := range once {
		if seen[0].trusted[i] > 0 && seen[1].trusted[i] > 0 {
			risk[0] += t.setting.riskOf(once[i]*once[i], 0, t.q)
			risk[1] += t.setting.riskOf(grown[i]*grown[i], 0, t.q)
		}
	}
	if !(risk[0] > 0) {
		return 0, nil
	}
	return 1 - risk[1]/risk[0], nil
}

// surelyBetter tells whether the risk is below that of another by a part that matters and beyond chance.
func (c *compared) surelyBetter(other *compared) bool {
	mean, err := c.over(other)
	return mean < -edgeSure*err && mean < -edgeGain*stat.Mean(other.risk, nil)
}

// keepSide makes the pilot's chart of row i at y again where the row is so far from its foot, w.y, that it does not count: growing from the
// rows nearest to it, if the row then counts, by what others say, and as it was if not. Else the row of a face would be lost to the other.
func (w *autoWorker) keepSide(i int, y, pivot []float64, made setting) bool {
	if !made.keepsSides || !w.inSpace() || cmp.Or(made.start, made.from) > 0 || made.Sides > 0 || rows.Distance(w.y, pivot) < made.Cut {
		return true
	}
	made.Again = false
	chartAt := func(from int) bool {
		made.from = from
		return w.prepare(y, pivot, made) && w.chart.Solve(made.Ridge) && w.chart.Foot(w.y, pivot)
	}
	own := w.rows.Place(i)
	if own >= 0 && chartAt(edgeRows) && rows.Distance(w.y, pivot) < made.Cut && w.chart.(*chart.Space).Kept() >= edgeKept && w.chart.Influence(own) <= mostPulled {
		return true
	}
	return chartAt(0)
}

// mayCrease tells whether charts of a choice may be creases: those of many points of a surface in space, with noise and Tukey's loss. Among fewer points most are near a
// corner, where three faces meet, and charts grow, or become creases where these are surely better.
func (p *autoPrepare) mayCrease(s *setting) bool {
	return p.knowsBeyond() && s.noisy && !math.IsInf(s.Cut, 1)
}

// chooseCreased returns the best candidate, and whether its charts may be creases: among few points with uneven noise, where charts do not grow, those of
// which the risk is surely less. Elsewhere that has been settled before.
func (t *trials) chooseCreased(best *compared) (*compared, bool, error) {
	s := t.setting
	if s.creased || !t.inSpace() || !s.uneven || !s.noisy || math.IsInf(s.Cut, 1) {
		return best, s.creased, nil
	}
	s.creased = true
	creased := trials{autoPrepare: t.autoPrepare, setting: s, sizes: t.sizes, first: t.first}
	other, err := creased.run()
	if err != nil || !best.surelyWorse(other) || !other.surelyBetter(best) {
		return best, false, err
	}
	return other, true, nil
}

// faceAt is the face that a point is on, if the chart of the place nearest to it is a crease.
func (w *autoWorker) faceAt(point []float64) (face chart.Face, ok bool) {
	D := w.cloud.D
	w.rows.Search.Missed = false
	found := w.rows.Search.Find(w.places.index, point, 1)
	if len(found) == 0 {
		return face, false
	}
	at := found[0].Row
	if at, ok = w.nearestChart(at, w.places.y[at*D:(at+1)*D]); !ok || !w.load(at) {
		return face, false
	}
	return w.chart.(*chart.Space).FaceOf(point)
}

// takeCrease takes a crease for the chart at hand where that is surely nearer to its rows.
func (w *autoWorker) takeCrease(s *setting) bool {
	return s.creased && s.start == 0 && s.Sides == 0 && w.chart.(*chart.Space).TakeCrease(&s.Setting)
}
