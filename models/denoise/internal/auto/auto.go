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

// Auto is the method to recommend. A row goes to the mean of its projections on the charts of the K/2 rows nearest to it. A chart is a
// quadratic regression over a tangent plane, with smooth weights and Tukey's loss against outliers: it has no latent coordinates that could
// follow the noise. Near sharp edges of a surface in space a chart may be two half planes that meet; rows on two sheets closer than the
// noise can tell go to their side.
//
// The noise and the number K of rows of a chart differ from place to place. The noise is that of the smallest charts that are larger than it.
// K is that of the least risk by Stein's unbiased estimate, after the rows have been denoised once. A row that is further from the surface than noise
// explains stays where it is. All rows stay where they are too far apart to tell noise from parts as thin as it.
//
// No result depends on the order of the rows.
//
// Source: C. M. Stein, Estimation of the mean of a multivariate normal distribution, Annals of Statistics 9 (1981).
type Auto struct {
	// Latent is d, the dimension of the surface, 1 <= d < D.
	Latent int
	// Neighbors is K; 0 leaves the choice to the method.
	Neighbors int
	// LeastSquares replaces Tukey's loss by squared_l2, for noise without
	// outliers.
	LeastSquares bool

	plane  *principal.Plane  // whose coordinates the rows are; nil where that is not so
	linear *principal.Linear // to compare charts with, if any
}

// Name returns "auto".
func (Auto) Name() string { return "auto" }

// Size returns the number of neighbours by which results are judged.
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

// Dimension is Latent.
func (m Auto) Dimension() int { return m.Latent }

// OnPlane returns the method for rows given by coordinates along p. Where l is not nil, charts compete with that
// linear model.
func (m Auto) OnPlane(p *principal.Plane, l *principal.Linear) Auto {
	m.plane, m.linear = p, l
	return m
}

// Prepare finds the noise and K, and makes the charts.
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

// preparation finds the noise and K by what charts tell of the rows.
type preparation struct {
	settings
	n, D   int // rows of positive weight, and columns
	charts *cloudCharts
	// flat is the linear model where it is better.
	flat *Flat
}

// finish denoises once, chooses, and makes the charts of the choice, unless a linear model is better.
func (p *preparation) finish() error {
	if err := p.pilot(); err != nil {
		return err
	}
	if err := p.choose(); err != nil || p.flat != nil {
		return err
	}
	return p.advance(p.setting)
}

// advance takes the feet for the places of the rows.
func (p *preparation) advance(s setting) error {
	p.charts.setting = s
	return p.charts.chartAll(s)
}

// newPreparation prepares for n rows of positive weight.
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

// setting is what the charts of one fit have in common.
type setting struct {
	chart.Setting
	neighbors int
	// noisy says that the noise is beyond what charts differ from the surface by, uneven that it differs from place to place.
	noisy, uneven bool
	// pilot says that charts are those of the pilot, many that not all rows need one.
	pilot, many bool
	// creased says that charts are creases where rows are surely nearer to these.
	creased bool
}

// blended is the number of rows whose charts a foot is the mean of.
func (s *setting) blended() int { return max(s.neighbors/blendPart, 1) }

// blendPart is K over the number of charts that are averaged.
const blendPart = 2

// places are where the rows of a cloud are taken to be on the surface.
type places struct {
	y       []float64 // n x D
	index   lookup.Index
	charted lookup.Index // of those of rows with charts; nil where all rows have one
	counts  []float64    // of these charts in means of feet
	// trust is the weight of each row in Tukey's loss by its distance from its place; nil
	// is 1 for all.
	trust []float64
	// source is what charts gather, laid out where they are made.
	source *chart.Source
}

// layOut makes the source.
func (p *places) layOut(c *core.Cloud) {
	if p.source == nil {
		p.source = chart.NewSource(c.Data, p.y, p.trust)
	}
}

func newPlaces(c *core.Cloud, y []float64) places {
	return places{y: y, index: lookup.NewIndex(y, c.D, c.Used)}
}

// fit is what Auto knows of a cloud.
type fit struct {
	settings
	cloud  *core.Cloud
	places places
	// charts are those of the rows that have some as [chart.Chart] stores them, each followed by chartNotes: the leverage of its foot, the influence of the
	// row on that, and the noise; those of others are 0, with noChart or standIn in place of the noise.
	charts []float64
	about  []about   // of every row; nil before the pilot
	sheets sheetPair // that some rows are on; zero for none
	// sparse says that rows are too far apart to tell noise from thin parts, and stay where they are.
	sparse bool
}

// chartNotes is the number of numbers that follow a chart.
const chartNotes = 3

// about holds the results for one row.
type about struct {
	scale     float64 // of the noise near by
	neighbors int     // of its chart
	sides     float64 // distance of the two sides from the surface between them, 0 for one sheet
}

// settingAt is the setting for the chart of a row.
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

// setScale takes s for the standard deviation of the noise.
func (a *settings) setScale(s *setting, scale float64, robust bool) {
	s.Scale, s.Cut = scale, math.Inf(1)
	if robust {
		s.Cut = a.tune.Cut * scale
	}
}

// Noise is the standard deviation of the noise found.
func (a *fit) Noise() float64 { return a.setting.Scale }

// Travels implements the interface of methods whose rows are visited along a curve.
func (*fit) Travels() {}

// Sizes are the number of rows of charts, and all that were to choose from.
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

	last []float64 // D: the row that charts were found for
	foot []float64 // D: and its foot
	y    []float64 // D

	at    *sites  // of the row
	known []sites // by row that has one
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

// Place finds the charts about the place of a fitted row with a chart, or about the foot of
// another on the nearest one.
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

// MaxNoise is the distance from the surface beyond which rows are left where they are.
func (w *worker) MaxNoise() float64 {
	if w.sparse {
		return 0
	}
	return w.tune.Most * w.noise
}

// Project writes the mean of the feet of x on the charts into dst.
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
	// placeCopies is how many copies of the rows are held: of places with their index, and of feet.
	placeCopies = 5
	// rowWords is what is held for a row beside these: what its chart counts for, an index of those with charts, and what is known about it.
	rowWords = 7 + core.IndexWords
	// placeWords is what charts of all sizes tell about a place, with the places near it.
	placeWords = nearPlaces + 60
	// workerWords is what a worker keeps of rows in space for each row of a chart: two of three rows of a vicinity, and its sites.
	workerWords = 480
)

// Keeps counts the numbers that the method holds.
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
