package denoise

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// Auto is the method to recommend. Its charts are quadratic regressions over
// tangent planes, so that there are no free latent coordinates to follow the
// noise, with smooth weights and Tukey's loss against outliers. Neighbours are
// looked up among rows that have been denoised once. A row goes to the mean of its
// feet on the charts of the K/2 rows nearest to its place, or of some of them, which are many opinions
// of the surface in place of one. Near sharp edges of a surface in space charts of many points are two half planes that meet, and where they
// see more noise than in flat places the residuals of the nearest rows go back to the foot. The number K of neighbours of a chart
// and the curvature ridge are those for which that mean has the least risk as Stein's
// unbiased estimate sees it; its divergence is that of the regressions, corrected for
// what follows the rows beside them (planes, neighbours, weights) by random perturbations or, for many points of surfaces in space, by
// what is known of that beforehand.
//
// Sources: C. M. Stein, Estimation of the mean of a multivariate normal
// distribution, Annals of Statistics 9 (1981); S. Ramani, T. Blu, M. Unser,
// Monte-Carlo SURE, IEEE Transactions on Image Processing 17 (2008); J. Ye, On
// measuring and correcting the effects of data mining and model selection, JASA 93
// (1998), for perturbations that are not small; J. W. Tukey, Exploratory Data Analysis
// (1977), for residuals that go back.
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
	// pilotReach is the same for the pilot, whose noise comes out too low in neighbourhoods that are little more than noise.
	pilotReach = 5.5
	// selectionPasses is the number of times that K and ridge are chosen where that is
	// cheap, for up to fewRows; of more rows, and of wide ones, the first choice is good enough.
	selectionPasses = 2
	fewRows         = 2000
	// maxNeighbors bounds K, and growth is the ratio of candidates.
	maxNeighbors = 300
	growth       = 1.5
	// tukeyEfficient is the square of the cut of Tukey's loss at which it is
	// as good as least squares to 5 %, for one direction and unit noise.
	tukeyEfficient = 21.95
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
	if p.flat != nil {
		p.flat.N = c.Count()
		return p.flat, nil
	}
	charts.setting = p.setting
	charts.divide(&p.setting, p.n, false)
	charts.countCharts()
	charts.places.source = nil // feet are looked up on charts that have been made
	if o.Progress != nil {
		o.Progress(1)
	}
	return charts.autoFit, nil
}

// finish chooses, and takes the feet on the charts of the choice for the places, unless a linear model is
// better.
func (p *autoPrepare) finish() error {
	if p.setting.Sides > 0 {
		return nil
	}
	passes := selectionPasses
	if p.n > fewRows || p.method.linear != nil {
		passes = 1
	}
	for pass := range passes {
		best, err := p.choose()
		if err != nil || p.setting.between {
			return err
		}
		if p.method.linear != nil {
			if charts, better := p.linearBetter(best); better {
				p.takeLinear(charts)
				return nil
			}
		}
		if err := p.advance(p.setting, pass+1 < passes); err != nil {
			return err
		}
	}
	if err := p.pool(); err != nil {
		return err
	}
	return p.holdOut()
}

// newPilot estimates the noise and denoises once.
func newPilot(ctx context.Context, m Auto, c *Cloud, o Options) (*autoPrepare, *cloudCharts, error) {
	p, err := newAutoPrepare(m, len(c.Used), c.D)
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
		median: math.Sqrt(chi.Quantile(0.5)), far: math.Sqrt(chi.Quantile(1 - typicalTail)), cut: math.Sqrt(chi.Quantile(1 - core.TukeyTail)),
	}}
}

// tuning holds quantiles of the chi distribution with q degrees of freedom.
type tuning struct{ median, far, cut float64 }

// setting is what the charts of one fit have in common.
type setting struct {
	chart.Setting
	neighbors int
	// pilot makes charts of more neighbours where these are hardly further than the noise,
	// and, where it is uneven, finds the noise about each row.
	pilot, uneven bool
	noisy         bool // beyond what charts differ from the surface by
	least         int  // neighbours that any chart has
	// between says that charts lie between two sheets, and rows are better left as they are.
	between bool
	// thin looks for thin parts, by what has been measured. start is the number of neighbours of the chart that others grow from
	// in these, 0 elsewhere.
	thin  bool
	start int
	// bent is the number of rows of charts that tell a pilot how much the surface bends, 0 where that is not asked; bends is what has been found.
	bent  int
	bends bending
	// oneIn is how many rows there are for one that has a chart where charts are kept, but where the pilot doubts: see auto_leads.go.
	oneIn float64
	// from is the number of neighbours of the chart that those of all rows grow from, 0 where charts are made at once.
	// keepsSides lets those of single rows grow, where else they would be lost to another face.
	from       int
	keepsSides bool
	// creased says that charts are creases where rows are surely nearer to these.
	creased bool
	// flat is the noise that charts see in flat places, 0 where residuals do not go back to feet.
	flat float64
	// pooled is the most neighbours of a chart where curvature is pooled, 0 where it is not; then drawn draws that of
	// a chart to the mean of those of the charts of its rows.
	pooled int
	drawn  bool
}

// blended is the number of rows whose charts a foot is the mean of. Rows without noise have fewer, as there is nothing to average but what the surface
// bends by, and so have charts that are drawn to the curvature of those near by: these have averaged already.
func (s *setting) blended() int {
	if !s.noisy || s.drawn {
		return s.weighed()
	}
	return max(s.neighbors/blendPart, 1)
}

// weighed is the number of rows among which are those whose charts stand for them where candidates are compared. A half as well would take a worse K,
// by more than chance where charts grow (docs/adr/0053).
func (s *setting) weighed() int { return max(s.neighbors/weighedPart, 1) }

// faith is what a chart of so many rows counts for among those that a foot is the mean of, in units of one of as many as the setting has: by these, as the
// variance of a foot does. Charts that lie across an edge are further from their rows than the noise, and count for less. Where noise is uneven both may be those of
// the place, and charts that are drawn to others say less of themselves.
func (s *setting) faith(rows int, noise float64) float64 {
	if !s.noisy || s.uneven || s.drawn {
		return 1
	}
	part := float64(rows) / float64(s.neighbors)
	if ratio := noise / (doubtful * s.Scale); ratio > 1 {
		part /= ratio * ratio * ratio * ratio
	}
	return part
}

// doubtful is the noise of a chart, in units of that of all, that is still chance.
const doubtful = 1.15

// blendPart is K over the number of charts that are averaged, weighedPart over that by which K is chosen.
const blendPart, weighedPart = 2, 3

// places are where the rows of a cloud are taken to be on the surface.
type places struct {
	y       []float64 // n x D
	index   lookup.Index
	charted lookup.Index // of those of rows with charts; nil where all rows have one
	counts  []float64    // of these charts in means of feet
	classes *classes     // of them; nil where charts are made of all
	// trust is the weight of each row in Tukey's loss by its distance from its place; nil
	// is 1 for all.
	trust []float64
	// source is what charts gather, laid out where they are made.
	source *chart.Source
}

// layOut makes the source, for rows x.
func (p *places) layOut(c *Cloud, x []float64) {
	if p.source == nil && p.index != nil {
		all := c.Data
		all.X = x
		p.source = chart.NewSource(all, p.y, p.trust)
	}
}

func newPlaces(c *Cloud, y []float64) places {
	return places{y: y, index: lookup.NewIndex(y, c.D, c.Used)}
}

// autoFit is what Auto knows of a cloud.
type autoFit struct {
	autoSettings
	cloud  *Cloud
	places places
	// charts are those of the rows that have some as [chart.Chart] stores them, each followed by the influence of the
	// row on its foot and the noise; those of others are 0, with noChart or standIn in place of the noise.
	charts []float64
	// about is the noise about every row in units of that of all, the number of neighbours
	// to be beyond it where it has to be larger than elsewhere, in thin parts that of the chart that others grow from, or how far
	// the two sides are from the surface between them where charts are split, else 0, and the noise of the chart of the pilot in units of that about the
	// row, infinite without one, and how much the surface bends there, as [bending] has it; nil before the pilot. A pilot that looks for thin parts or bends has what
	// was measured about some rows in its place.
	about []float64
}

// settingAt is the setting for the chart of a row.
func (a *autoFit) settingAt(row int, s setting) setting {
	if a.about == nil || s.pilot || a.about[aboutWidth*row] == 0 {
		return s
	}
	about := a.about[aboutWidth*row : aboutWidth*(row+1)]
	ratio := about[0]
	if ratio != 1 && s.Sides == 0 {
		a.setScale(&s, ratio*s.Scale, !math.IsInf(s.Cut, 1))
	}
	if s.start = int(about[2]); s.start > 0 || about[3] > 0 {
		s.Sides = max(s.Sides, about[3])
		s.neighbors = min(s.neighbors, thinMany)
		return s
	}
	if ratio != 1 && s.Sides == 0 {
		s.neighbors = min(max(int(float64(s.neighbors)*math.Sqrt(ratio)), s.least*a.every(&s, a.cloud.Count())), max(maxNeighbors, s.neighbors))
	}
	if part := s.bends.part(about[5]); part != 1 && s.Sides == 0 {
		s.neighbors = max(int(float64(s.neighbors)*part), fewestByPlace)
	}
	s.neighbors = max(s.neighbors, int(about[1]))
	return s
}

// chartWidth is the number of numbers of a chart in autoFit.
func (a *autoFit) chartWidth() int { return chart.New(a.cloud.D, a.method.Latent).Width() + 2 }

// setScale takes s for the standard deviation of the noise.
func (a *autoSettings) setScale(s *setting, scale float64, robust bool) {
	s.Scale, s.Cut = scale, math.Inf(1)
	if robust {
		s.Cut = a.tune.cut * scale
	}
}

// noiseLevel is the standard deviation of the noise found.
func (a *autoFit) noiseLevel() float64 { return a.setting.Scale }

// Worker returns a worker with a chart of its own.
func (a *autoFit) Worker(context.Context) (Worker, error) {
	return newAutoWorker(a), nil
}

type autoWorker struct {
	*autoFit
	chart chart.Chart
	made  chart.Setting // of the chart at hand
	rows  chart.Rows
	width int

	last  []float64      // D: the row that charts were found for
	foot  []float64      // D: and its foot
	y     []float64      // D
	again *[]lookup.Near // what was found about the row before, if that is asked for again

	at    *sites  // of the row
	known []sites // by row that has one
	all   []float64
	sum   []float64 // D
	noise float64   // about the row

	back, residual, near []float64 // D: what goes back to feet, the mean residual, and the foot of a row

	drawn *chart.Draw // what the curvature of the chart is drawn to

	few, many []float64 // what has been measured about rows near by
	bend      float64   // how much the surface bends by that

	trial candidateWork
}

func newAutoWorker(a *autoFit) *autoWorker {
	D := a.cloud.D
	vec := func() []float64 { return make([]float64, D) }
	c := chart.New(D, a.method.Latent)
	w := &autoWorker{autoFit: a, chart: c, width: c.Width() + 2, last: vec(), foot: vec(), y: vec(), sum: vec(), back: vec(), residual: vec(), near: vec()}
	w.rows = chart.NewRows(c)
	return w
}

// Place finds the charts about the place of a fitted row with a chart, or about the foot of
// another on the nearest one.
func (w *autoWorker) Place(h *Neighborhood, about *Row) error {
	if w.setting.between {
		return core.ErrNoSurface
	}
	D := w.cloud.D
	at, fitted := -1, false
	if h.N() > 0 {
		at, fitted = h.Index[0], h.Distance[0] == 0
	}
	if !fitted {
		rows := w.rows.Search.Find(w.places.index, h.Centre, 1)
		if w.rows.Search.Missed {
			return core.ErrNoSurface
		}
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
	if !w.twice(own) || !w.blend(w.foot, h.Centre) {
		return core.ErrNoSurface
	}
	return nil
}

func (w *autoWorker) OwnSearch() *lookup.Search { return &w.rows.Search }

// MaxNoise is the residual from which on Tukey's loss has no weight for a row.
func (w *autoWorker) MaxNoise() float64 { return w.tune.cut * w.noise }

// Project returns the mean of the feet of x on the charts, and what goes back to it.
func (w *autoWorker) Project(dst, x []float64) error {
	if rows.Distance(x, w.last) == 0 {
		copy(dst, w.foot)
		return nil
	}
	if !w.blend(dst, x) {
		return core.ErrNoSurface
	}
	return nil
}
