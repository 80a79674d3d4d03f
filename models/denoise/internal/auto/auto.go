// Package auto is the method that chooses its charts by estimated risk.
package auto

import (
	"context"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// Auto is the recommended method. It moves a row to the mean of its projections onto the charts of the K/2 nearest
// rows. A chart is a quadratic regression over a tangent plane, with smooth weights and Tukey's loss against
// outliers. It has no latent coordinates that could fit the noise. Near sharp edges of a surface in space a chart may
// be two half planes that meet. Rows on two sheets that are closer than the noise can resolve are moved to their own
// side.
//
// The noise and the number K of rows of a chart vary in space. The noise is estimated by the smallest charts that are
// larger than it. K minimises Stein's unbiased risk estimate, after the rows have been denoised once. A row that is
// further from the surface than noise explains stays unchanged. All rows stay unchanged if they are too sparse to
// distinguish noise from thin parts of the surface.
//
// No result depends on the order of the rows.
//
// Source: C. M. Stein, Estimation of the mean of a multivariate normal distribution, Annals of Statistics 9 (1981).
type Auto struct {
	// Latent is d, the dimension of the surface, 1 <= d < D.
	Latent int
	// Neighbors is K, the number of rows of a chart; 0 lets the method choose it.
	Neighbors int
	// LeastSquares replaces Tukey's loss by squared_l2, for noise without
	// outliers.
	LeastSquares bool

	plane  *principal.Plane  // plane of the rows' coordinates; nil for none
	linear *principal.Linear // linear model to compare charts with, if any
}

// Name returns "auto".
func (Auto) Name() string { return "auto" }

// Size returns the number of neighbours from which the results for a row are judged.
func (m Auto) Size(n, D int) (int, error) {
	if m.Latent == D {
		return 0, core.NoDirection(m, D)
	}
	if m.Latent < 1 || m.Latent > D {
		return core.SettleSize(m, m.Latent, D, 0, n, 2)
	}
	least := chart.Quadratics(m.Latent) + 2
	if m.Neighbors > 0 && m.Neighbors < least {
		return core.SettleSize(m, m.Latent, D, m.Neighbors, n, least)
	}
	if 2*n < 3*least {
		return 0, core.Short("auto: %d rows are too few for quadratic charts of dimension %d; want at least %d, or the method linear", n, m.Latent, (3*least+1)/2)
	}
	return min(max(core.DefaultNeighbors, least), n), nil
}

// Dimension returns Latent, the dimension of the surface.
func (m Auto) Dimension() int { return m.Latent }

// OnPlane returns the method for rows given by coordinates along p. If l is not nil, charts are compared with that
// linear model.
func (m Auto) OnPlane(p *principal.Plane, l *principal.Linear) Auto {
	m.plane, m.linear = p, l
	return m
}

// Prepare estimates the noise and K, and makes the charts.
func (m Auto) Prepare(ctx context.Context, c *core.Cloud, o core.Options) (core.Fitted, error) {
	p, err := newPreparation(m, len(c.Used), c.D)
	if err != nil {
		return nil, err
	}
	p.charts = newCloudCharts(ctx, p.settings, c, o)
	if err := p.finish(); err != nil {
		return nil, err
	}
	if p.flat != nil {
		p.flat.N = c.Count()
		return p.flat, nil
	}
	p.charts.setting = p.setting
	p.charts.countCharts()
	p.charts.places.source = nil // feet are looked up on charts that have been made
	if o.Progress != nil {
		o.Progress(1)
	}
	return p.charts.fit, nil
}

// preparation holds the state of Prepare, which estimates the noise and K from charts of the rows.
type preparation struct {
	settings
	n, D   int // number of rows of positive weight, and of columns
	charts *cloudCharts
	// flat is the linear model, if its estimated risk is less than that of the charts; otherwise nil.
	flat *Flat
}

// finish denoises the rows once, chooses K, and makes the final charts, unless a linear model has less risk.
func (p *preparation) finish() error {
	if err := p.pilot(); err != nil {
		return err
	}
	if err := p.choose(); err != nil || p.flat != nil {
		return err
	}
	return p.advance(p.setting)
}

// advance replaces the positions of the rows by their projections.
func (p *preparation) advance(s setting) error {
	p.charts.setting = s
	return p.charts.chartAll(s)
}

// newPreparation returns the state to prepare the method for n rows of positive weight and length D.
func newPreparation(m Auto, n, D int) (*preparation, error) {
	if _, err := m.Size(n, D); err != nil {
		return nil, err
	}
	return &preparation{settings: newSettings(m, D), n: n, D: D}, nil
}

// settings are the numbers that all charts of a cloud share.
type settings struct {
	method  Auto
	q       float64 // D - d
	tune    core.Quantiles
	setting setting
}

func newSettings(m Auto, D int) settings {
	return settings{method: m, q: float64(D - m.Latent), tune: core.NewQuantiles(D - m.Latent)}
}

// setting holds what the charts of one fit share.
type setting struct {
	chart.Setting
	neighbors int
	// noisy reports that the noise exceeds the deviation of charts from the surface. uneven reports that the noise
	// varies in space.
	noisy, uneven bool
	// pilot reports that charts are those of the pilot fit. many reports that only some of the rows need a chart.
	pilot, many bool
	// creased reports that a chart is replaced by a crease if rows are significantly nearer to the crease.
	creased bool
}

// blended returns the number of rows whose charts are averaged in a projection.
func (s *setting) blended() int { return max(s.neighbors/blendPart, 1) }

// blendPart is the ratio of K to the number of charts that are averaged in a projection.
const blendPart = 2

// places are the estimated positions of the rows of a cloud on the surface.
type places struct {
	y       []float64 // n x D
	index   lookup.Index
	charted lookup.Index // index of the rows with charts; nil if all rows have one
	counts  []float64    // weights of these charts in means of projections
	// trust is the weight of each row in Tukey's loss by its distance from its position; nil is 1 for all.
	trust []float64
	// source is the row data that charts gather, in a suitable layout.
	source *chart.Source
}

// layOut makes the source from the rows and their positions.
func (p *places) layOut(c *core.Cloud) {
	if p.source == nil {
		p.source = chart.NewSource(c.Data, p.y, p.trust)
	}
}

func newPlaces(c *core.Cloud, y []float64) places {
	return places{y: y, index: lookup.NewIndex(y, c.D, c.Used)}
}

// fit holds the results of Auto for a cloud.
type fit struct {
	settings
	cloud  *core.Cloud
	places places
	// charts holds the charts of the rows as [chart.Chart] stores them, each followed by chartNotes: the leverage of
	// its projection, the influence of the row on the projection, and the noise. For rows without a chart they are 0,
	// with noChart or standIn in place of the noise.
	charts []float64
	about  []about   // for every row; nil before the pilot
	sheets sheetPair // two sheets on which the rows are; zero for none
	// sparse reports that rows are too sparse to distinguish noise from thin parts, and stay unchanged.
	sparse bool
}

// chartNotes is the number of numbers that follow a chart.
const chartNotes = 3

// about holds the estimates for one row.
type about struct {
	scale     float64 // of the nearby noise
	neighbors int     // number of rows of its chart
	sides     float64 // distance of two sheets from the surface between them, 0 for one sheet
}

// settingAt returns the setting s with the estimates for one row, to make its chart.
func (a *fit) settingAt(row int, s setting) setting {
	if a.about == nil {
		return s
	}
	about := &a.about[row]
	a.setScale(&s, about.scale, !math.IsInf(s.Cut, 1))
	s.neighbors, s.Sides = about.neighbors, about.sides
	return s
}

// chartWidth is the number of numbers of a chart in fit.
func (a *fit) chartWidth() int { return chart.New(a.cloud.D, a.method.Latent).Width() + chartNotes }

// setScale sets s as the standard deviation of the noise.
func (a *settings) setScale(s *setting, scale float64, robust bool) {
	s.Scale, s.Cut = scale, math.Inf(1)
	if robust {
		s.Cut = a.tune.Cut * scale
	}
}

// Noise is the estimated standard deviation of the noise.
func (a *fit) Noise() float64 { return a.setting.Scale }

// Travels declares that rows should be processed along a space-filling curve.
func (*fit) Travels() {}

// Sizes are the chosen number of rows of charts, and all candidates.
func (a *fit) Sizes() (chosen int, list []int) {
	p := preparation{settings: a.settings, n: a.cloud.Count(), D: a.cloud.D}
	list = p.sizes()
	for len(list) > 1 && list[len(list)-1] > p.enough() {
		list = list[:len(list)-1]
	}
	return a.setting.neighbors, list
}

// Worker returns a worker with a chart of its own.
func (a *fit) Worker(context.Context) (core.Worker, error) {
	return newWorker(a), nil
}

type worker struct {
	*fit
	chart chart.Chart
	rows  chart.Rows
	width int

	last []float64 // D: the row for which charts were found
	foot []float64 // D: its projection
	y    []float64 // D

	at    *sites  // of the row
	known []sites // indexed by row, for rows with a chart
	all   []float64
	sum   []float64 // D
	noise float64   // about the row
}

func newWorker(a *fit) *worker {
	D := a.cloud.D
	vec := func() []float64 { return make([]float64, D) }
	c := chart.New(D, a.method.Latent)
	w := &worker{fit: a, chart: c, width: c.Width() + chartNotes, last: vec(), foot: vec(), y: vec(), sum: vec()}
	w.rows = chart.NewRows(c)
	return w
}

// Place finds the charts near the position of a fitted row with a chart. For another row it uses the projection of
// the row onto the nearest chart.
func (w *worker) Place(h *core.Neighborhood, about *core.Row) error {
	D := w.cloud.D
	at, fitted := -1, false
	if h.N() > 0 {
		at, fitted = h.Index[0], h.Distance[0] == 0
	}
	if !fitted {
		rows := w.rows.Search.Find(w.places.index, h.Centre, 1)
		at = rows[0].Row
	}
	y := w.places.y[at*D : (at+1)*D]
	own, ok := w.nearestChart(at, y)
	if !ok || !w.load(own) {
		return core.ErrNoSurface
	}
	if copy(w.y, y); (!fitted || own != at) && !w.chart.Foot(w.y, h.Centre) {
		return core.ErrNoSurface
	}
	if w.at = w.findSites(own); w.at == nil {
		return core.ErrNoSurface
	}
	w.at.weigh(w.y)
	s := w.settingAt(at, w.setting)
	about.Neighbors, about.Ridge, about.Noise = min(s.neighbors, w.cloud.Count()), s.Ridge, 0
	w.noise = s.Scale
	for i, weight := range w.at.weights {
		about.Noise += weight * w.charts[(w.at.list[i].row+1)*w.width-1]
	}
	copy(w.last, h.Centre)
	if !w.blend(w.foot, h.Centre) {
		return core.ErrNoSurface
	}
	return nil
}

// MaxNoise is the distance from the surface beyond which rows are left unchanged.
func (w *worker) MaxNoise() float64 {
	if w.sparse {
		return 0
	}
	return w.tune.Most * w.noise
}

// Project writes the mean of the projections of x onto the charts into dst.
func (w *worker) Project(dst, x []float64) error {
	if rows.Distance(x, w.last) == 0 {
		copy(dst, w.foot)
		return nil
	}
	if !w.blend(dst, x) {
		return core.ErrNoSurface
	}
	return nil
}

const (
	// placeCopies is the number of copies of the rows: positions with their index, and projections.
	placeCopies = 5
	// rowWords is the memory per row in addition to the copies: the weight of its chart, an index of the rows with
	// charts, and the results for the row.
	rowWords = 7 + core.IndexWords
	// placeWords is the memory of the results of charts of all sizes at a point, with the nearby points.
	placeWords = nearPlaces + 60
	// workerWords is the memory of a worker per row of a chart, if rows have three columns: two copies of nearby rows
	// with three rows each, and the charts to average.
	workerWords = 480
)

// Keeps counts the numbers that the method stores.
func (m Auto) Keeps(f *core.Footprint) {
	f.Latent, f.K = float64(m.Latent), max(f.K, min(f.N, max(MaxNeighbors, min(f.N/mostOf, mostNeighbors))))
	line := 0.0
	if f.D == lookup.Space {
		line = chart.LineWidth
		f.Own = workerWords * f.K
	}
	f.Kept = f.N*(f.D*placeCopies+rowWords+line+lookup.OrderWords) + MostPlaces*placeWords
	f.Kept += f.N * (f.D*(2+f.Latent+f.Latent*(f.Latent+3)/2) + chartNotes) // charts
}
