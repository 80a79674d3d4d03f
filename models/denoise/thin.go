package denoise

import (
	"cmp"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// Parts of a cloud may be as thin as the neighbourhoods of the pilot are large, whose charts then lie between two sides. How the
// noise that charts of K rows see, in units of their size, changes with K tells such parts, as medians over places near by: with many rows it is
// more than with few, and more than noise of one sheet leaves there. On one sheet the noise of either chart is the
// same, however much of it there is at the place, but that charts no larger than the noise see too little of it. In thin parts charts
// then grow from few rows, each with the weights and the plane of the one before, so that the other side stays out. Where charts of few
// rows lie between the sides as well they are split, as those of thin sheets are.

// aboutWidth is how many numbers there are about a row: see [autoFit].
const aboutWidth = 6

const (
	// thinShare is one over the part of the rows about which charts are measured.
	thinShare = 4
	// thinFew and thinMany are the numbers of rows of these charts. The pilot has as many where it looks for thin
	// parts, and no chart in these has more.
	thinFew, thinMany = 24, 60
	// thinStart is the number of rows of the chart that others grow from. Where noise is even its neighbourhoods must be larger
	// than [minReach] times the noise on most of the cloud.
	thinStart = 16
	// thinNoise is the noise of charts of many rows, in units of their size, from which on a part may be thin.
	thinNoise = 0.12
	// thinGrowth is what this noise is at least, over that expected by the charts of few rows. Noise that is uneven
	// has to be below thinQuiet in charts of few rows: there is no telling beyond.
	thinGrowth = 1.25
	thinQuiet  = 0.20
	// thinEven is the same ratio where noise is even, less what those of few rows see too little; the noise of charts of many rows is then at
	// least thinLarge times that of all, and that of few below thinBall, which is what they have where there is nothing but noise.
	thinEven  = 1.2
	thinLarge = 1.25
	thinBall  = 0.27
	// thinSplit is the noise of charts of few rows, in units of that of all, from which on these see both sides, and mostSplit the
	// distance of the sides from the surface between them up to which charts are split, as two sides further apart tell themselves.
	thinSplit = 1.2
	mostSplit = 2.5
	// The noise in units of the size of a chart of few rows is too low by the part tooLow (noise/tooLowAt)^4, as seen in clouds
	// with noise of all sizes.
	tooLow, tooLowAt = 0.15, 0.22
)

// mayBeThin tells whether parts of a cloud are looked at for being thin, by the setting of the pilot and what it has seen.
func (p *autoPrepare) mayBeThin(s *setting, seen look) bool {
	start := seen.size * math.Sqrt(float64(thinStart)/thinMany)
	return p.inSpace() && !p.method.LeastSquares && s.noisy && p.n >= unevenRows && s.neighbors == thinMany && start >= minReach*s.Scale
}

// thinSample is the number of rows of n about which charts are measured.
func thinSample(n int) int { return n / thinShare }

// measure implements charts.
func (p *cloudCharts) measure(s setting) error {
	list := p.cloud.Some(thinSample(p.cloud.Count()))
	seen, _, err := p.measureSome(list, s)
	p.about = make([]float64, aboutWidth*p.cloud.N)
	for k, i := range list {
		copy(p.about[aboutWidth*i:], seen[aboutWidth*k:aboutWidth*(k+1)])
	}
	return err
}

// measureSome finds the noise of charts of few and of many rows, in units of their size, about the rows of list, in
// the first two of aboutWidth numbers each, and in the third the noise of those of as many as tell how much the surface bends: 0 where there is no chart.
func (p *cloudCharts) measureSome(list []int, s setting) (seen []float64, missed []bool, err error) {
	seen, missed = make([]float64, aboutWidth*len(list)), make([]bool, len(list))
	s.Rounds, s.Steps, s.Cut = 2, 0, math.Inf(1)
	wide := s.widest()
	err = p.each(list, func(w *autoWorker, k, i int) {
		w.rows.Search.Missed = false
		y := p.places.y[i*lookup.Space : (i+1)*lookup.Space]
		w.rows.Look(p.places.index, y, wide)
		if missed[k] = w.rows.Search.Missed; missed[k] {
			return
		}
		w.rows.Gather(p.places.source, wide)
		near := w.rows.Nearer(thinFew, lookup.Space)
		few, bent := w.noiseIn(y, &near, &s), w.noiseIn(y, &w.rows, &s)
		many := bent
		if wide > thinMany {
			near = w.rows.Nearer(thinMany, lookup.Space)
			many = w.noiseIn(y, &near, &s)
		}
		if few > 0 && many > 0 && bent > 0 {
			copy(seen[aboutWidth*k:], []float64{few, many, bent * w.rows.Next})
		}
	})
	return seen, missed, err
}

// noiseIn is the noise of the chart of rows at y in units of its size, 0 where there is none.
func (w *autoWorker) noiseIn(y []float64, r *chart.Rows, s *setting) float64 {
	if !w.chart.Prepare(y, y, r, &s.Setting) || !w.chart.Solve(s.Ridge) {
		return 0
	}
	return w.chart.Noise() / r.Next
}

// findThin tells whether the rows gathered are in a thin part, by what is recalled of some of them. The chart is then to
// be split, or to grow, with the noise of charts of few rows where it is uneven.
func (w *autoWorker) findThin(s *setting) bool {
	if len(w.few) == 0 {
		return false
	}
	few, many := median(w.few), median(w.many)
	near := few * math.Sqrt(w.rows.Found[min(thinFew, len(w.rows.Found)-1)].Distance)
	if s.Sides = s.sidesOf(near, many, w.rows.Next); s.Sides > 0 {
		return true
	}
	if !s.isThin(few, many, w.rows.Next) {
		return false
	}
	if s.uneven {
		w.setScale(s, max(near, leastLocal*s.Scale), true)
	}
	s.start, s.uneven = thinStart, false
	return true
}

// isLarge tells whether the noise of charts of many rows, in units of their size, is more than that of all leaves there.
func (s *setting) isLarge(many, size float64) bool {
	return many > thinNoise && many*size > thinLarge*s.Scale
}

// sidesOf is the distance of the two sides from the surface between them, by the noise near that charts of few rows see and that of
// charts of many in units of their size: 0 where these are not to be split.
func (s *setting) sidesOf(near, many, size float64) float64 {
	if s.uneven || !s.isLarge(many, size) || !(near > thinSplit*s.Scale) {
		return 0
	}
	if half := math.Sqrt(many*size*many*size - s.Scale*s.Scale); half < mostSplit*s.Scale {
		return half
	}
	return 0
}

// isThin tells whether the noise of charts of few and of many rows, in units of their sizes, is that of a thin part. The latter have
// the size given.
func (s *setting) isThin(few, many, size float64) bool {
	grows := many / few * math.Sqrt(float64(thinMany)/thinFew)
	if s.uneven {
		return many > thinNoise && few < thinQuiet && grows > thinGrowth*(1+tooLow*math.Pow(few/tooLowAt, 4))
	}
	return few < thinBall && grows > thinEven && s.isLarge(many, size)
}

// prepare makes the sums of the chart at y from the rows gathered. In thin parts, and in clouds with edges, it grows from a chart of fewer rows, each
// chart beginning with the plane of the one before and the weights that rows have by their distance from that.
func (w *autoWorker) prepare(y, pivot []float64, s setting) bool {
	w.made = s.Setting
	more := growth
	if s.start == 0 {
		more = edgeGrowth
		if !s.pilot && s.from > 0 {
			w.made.Ridge = 0 // with one charts lose more rows near edges
		}
	}
	for k := cmp.Or(s.start, s.from); k > 0 && k < len(w.rows.Found); k = int(more * float64(k)) {
		near := w.rows.Nearer(k, w.cloud.D)
		w.made.Rounds = min(s.Rounds, 2)
		made := w.chart.Prepare(y, pivot, &near, &w.made) && w.chart.Solve(pilotRidge)
		w.rows.L = near.L // which may have grown
		if !made {
			return false
		}
		w.made.Grown, w.made.Rounds = true, s.Rounds
	}
	return w.chart.Prepare(y, pivot, &w.rows, &w.made)
}
