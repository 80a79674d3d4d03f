package denoise

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Auto is the method to recommend. Its charts are quadratic regressions over
// tangent planes, so that there are no free latent coordinates to follow the
// noise, with smooth weights and Tukey's loss against outliers. Neighbours are
// looked up among rows that have been denoised once. The number of neighbours
// and the curvature ridge are those with the least risk as Stein's unbiased
// estimate sees it, whose divergence is that of up to four random perturbations.
//
// Sources: C. M. Stein, Estimation of the mean of a multivariate normal
// distribution, Annals of Statistics 9 (1981); S. Ramani, T. Blu, M. Unser,
// Monte-Carlo SURE, IEEE Transactions on Image Processing 17 (2008); J. Ye, On
// measuring and correcting the effects of data mining and model selection, JASA 93
// (1998), for perturbations that are not small.
type Auto struct {
	// Latent is d, the dimension of the surface, 1 <= d < D.
	Latent int
	// Neighbors is K; 0 leaves the choice to the method.
	Neighbors int
	// LeastSquares replaces Tukey's loss by squared_l2, for noise without
	// outliers.
	LeastSquares bool
}

// Name returns "auto".
func (Auto) Name() string { return "auto" }

// Size returns the number of neighbours by which results are judged.
func (m Auto) Size(n, D int) (int, error) {
	if m.Latent >= D {
		return 0, fmt.Errorf("denoise: auto: latent dimension %d leaves no direction for noise in rows of length %d; want at most %d: %w", m.Latent, D, D-1, ErrInput)
	}
	if m.Latent < 1 {
		return size(m, m.Latent, D, 0, n, 2)
	}
	least := quadratics(m.Latent) + 2
	if m.Neighbors > 0 && m.Neighbors < least {
		return size(m, m.Latent, D, m.Neighbors, n, least)
	}
	if 2*n < 3*least {
		return 0, fmt.Errorf("denoise: auto: %d rows are too few for quadratic charts of dimension %d; want at least %d, or the method linear: %w", n, m.Latent, (3*least+1)/2, ErrInput)
	}
	return min(max(DefaultNeighbors, least), n), nil
}

const (
	// perturbation is the length of that of the rows, in units of the noise. Feet
	// jump where neighbours change, and no derivative at a point sees that: steps
	// of this size do (J. Ye, JASA 93 (1998), takes half of the noise).
	perturbation = 0.3
	// pilotRidge is the ridge of the pilot, pilotFloor bounds its noise from
	// below, in units of that of least squares: a chart that interpolates its own row
	// has none.
	pilotRidge = 0.03
	pilotFloor = 0.6
	// minReach is the size of neighbourhoods, in units of the noise, below
	// which they are taken to be too small.
	minReach = 4
	// selectionPasses is the number of times that K and ridge are chosen.
	selectionPasses = 2
	// maxNeighbors bounds K, and growth is the ratio of candidates.
	maxNeighbors = 300
	growth       = 1.5
	// tukeyEfficient is the square of the cut of Tukey's loss at which it is
	// as good as least squares to 5 %, for one direction and unit noise.
	tukeyEfficient = 21.95
	// tukeyTail is the probability that normal noise is cut off.
	tukeyTail = 2.8e-6
	// exact is the noise, in units of the size of neighbourhoods, below which
	// rows count as free of it.
	exact = 1e-7
)

// candidateRidges are the ridges to choose from.
var candidateRidges = []float64{0, 0.03, 0.1}

// Prepare chooses K and the ridge.
func (m Auto) Prepare(ctx context.Context, c *Cloud, o Options) (Fitted, error) {
	p, charts, err := newPilot(ctx, m, c, o)
	if err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	charts.setting = p.setting
	if o.Progress != nil {
		o.Progress(1)
	}
	return charts.autoFit, nil
}

// finish chooses, and takes the feet of all choices but the last for the places: the
// charts of that one are made when they are asked for.
func (p *autoPrepare) finish() error {
	for pass := range selectionPasses {
		if err := p.choose(); err != nil {
			return err
		}
		if pass == selectionPasses-1 {
			break
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

// newPilot estimates the noise and denoises once.
func newPilot(ctx context.Context, m Auto, c *Cloud, o Options) (*autoPrepare, *cloudCharts, error) {
	p, err := newAutoPrepare(m, len(c.used), c.D)
	if err != nil {
		return nil, nil, err
	}
	charts := newCloudCharts(ctx, p.autoSettings, c, o)
	p.charts = charts
	err = p.pilot()
	charts.setting = p.setting
	return p, charts, err
}

// newAutoPrepare prepares for n rows of positive weight.
func newAutoPrepare(m Auto, n, D int) (*autoPrepare, error) {
	if _, err := m.Size(n, D); err != nil {
		return nil, err
	}
	return &autoPrepare{autoSettings: newAutoSettings(m, D), n: n, D: D}, nil
}

// autoSettings are the numbers that all charts of a cloud share.
type autoSettings struct {
	method  Auto
	q       float64 // D - d
	tune    tuning
	setting setting
}

func newAutoSettings(m Auto, D int) autoSettings {
	q := float64(D - m.Latent)
	chi := distuv.ChiSquared{K: q}
	return autoSettings{method: m, q: q, tune: tuning{
		median: math.Sqrt(chi.Quantile(0.5)), cut: math.Sqrt(chi.Quantile(1 - tukeyTail)),
	}}
}

// tuning holds quantiles of the chi distribution with q degrees of freedom.
type tuning struct{ median, cut float64 }

// places are where the rows of a cloud are taken to be on the surface.
type places struct {
	y     []float64 // n x D
	index index
}

func (c *Cloud) newPlaces(y []float64) places {
	return places{y: y, index: newIndex(y, c.D, c.used)}
}

// autoFit is what Auto knows of a cloud.
type autoFit struct {
	autoSettings
	cloud  *Cloud
	places places
}

// setScale takes s for the standard deviation of the noise.
func (a *autoSettings) setScale(s *setting, scale float64, robust bool) {
	s.scale, s.cut = scale, math.Inf(1)
	if robust {
		s.cut = a.tune.cut * scale
	}
}

// Worker returns a worker with a chart of its own.
func (a *autoFit) Worker(context.Context) (Worker, error) {
	return newAutoWorker(a), nil
}

type autoWorker struct {
	*autoFit
	chart       *chart
	rows        chartRows
	last        []float64 // D: the row that the chart was made for
	foot        []float64 // D: and its foot
	y           []float64 // D
	all         []float64 // of all candidates
	sizes       []float64
	divergences []float64
}

func newAutoWorker(a *autoFit) *autoWorker {
	D := a.cloud.D
	vec := func() []float64 { return make([]float64, D) }
	return &autoWorker{autoFit: a, chart: newChart(D, a.method.Latent), last: vec(), foot: vec(), y: vec()}
}

// chartRows gathers what charts are made from.
type chartRows struct {
	search         search
	found          []near
	x, near, prior []float64
}

// look finds the most nearest places to y, and the one after them.
func (r *chartRows) look(p places, y []float64, most int) {
	r.found = append(r.found[:0], r.search.find(p.index, y, most+1)...)
}

// gather takes the first k of the rows found: x are the rows themselves, near
// their places. It returns the distance of the first place left out.
func (r *chartRows) gather(c *Cloud, x []float64, p places, k int) (next float64) {
	r.x, r.near, r.prior = r.x[:0], r.near[:0], r.prior[:0]
	k = min(k, len(r.found))
	for _, f := range r.found[:k] {
		r.x = append(r.x, x[f.row*c.D:(f.row+1)*c.D]...)
		r.near = append(r.near, p.y[f.row*c.D:(f.row+1)*c.D]...)
		r.prior = append(r.prior, c.weight(f.row))
	}
	return math.Sqrt(r.found[min(k, len(r.found)-1)].distance)
}

// place returns the place of row i among those gathered, -1 if it is not there.
func (r *chartRows) place(i int) int {
	for k := range r.prior {
		if r.found[k].row == i {
			return k
		}
	}
	return -1
}

// chartAt makes the chart at y for the row pivot and writes its foot into dst.
func (w *autoWorker) chartAt(dst, y, pivot []float64) bool {
	w.rows.look(w.places, y, w.setting.neighbors)
	if w.rows.search.missed {
		return false
	}
	next := w.rows.gather(w.cloud, w.cloud.X, w.places, w.setting.neighbors)
	return w.chart.fit(dst, y, pivot, w.rows.x, w.rows.near, w.rows.prior, next, &w.setting)
}

// Place makes the chart of a fitted row at the place that it has, and that of another
// at the foot on the chart of the nearest place.
func (w *autoWorker) Place(h *Neighborhood, about *Row) error {
	D := w.cloud.D
	rows := w.rows.search.find(w.cloud.index, h.Centre, 1)
	if w.rows.search.missed {
		return errLocal
	}
	ok := true
	if row := rows[0]; row.distance == 0 {
		copy(w.y, w.places.y[row.row*D:(row.row+1)*D])
	} else {
		rows = w.rows.search.find(w.places.index, h.Centre, 1)
		if w.rows.search.missed {
			return errLocal
		}
		at := rows[0].row
		ok = w.chartAt(w.y, w.places.y[at*D:(at+1)*D], h.Centre)
	}
	if !ok || !w.chartAt(w.foot, w.y, h.Centre) {
		return errLocal
	}
	copy(w.last, h.Centre)
	about.Neighbors, about.Ridge, about.Noise = w.setting.neighbors, w.setting.ridge, w.chart.spread(len(w.rows.prior), w.setting.cut)
	return nil
}

func (w *autoWorker) ownSearch() *search { return &w.rows.search }

// maxNoise is the residual from which on Tukey's loss has no weight for a row.
func (w *autoWorker) maxNoise() float64 { return w.tune.cut * w.setting.scale }

// Project returns the foot of x on the chart.
func (w *autoWorker) Project(dst, x []float64) error {
	if distance(x, w.last) == 0 {
		copy(dst, w.foot)
		return nil
	}
	if !w.chart.findFoot(x) {
		return errLocal
	}
	w.chart.point(dst, w.chart.t)
	return nil
}
