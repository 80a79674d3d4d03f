package denoise

import (
	"math"

	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// surveyor describes the surface at denoised rows, with the memory of one goroutine. It uses the charts of the
// method if there are any, otherwise its own charts about the denoised rows.
type surveyor struct {
	cloud     *Cloud
	worker    core.Surveyor // of the method; nil is none
	shape     *chart.Shape
	neighbors Neighborhood
	search    lookup.Search
	x, point  []float64 // D: in the unit of the cloud

	d      int
	tune   core.Quantiles
	chart  chart.Chart
	rows   chart.Rows
	source *chart.Source
	stored []float64
	far    []float64
}

// newSurveyor returns a surveyor. It calls source, for the rows of its own charts, only if the method has no
// charts.
func (d *Denoiser) newSurveyor(source func() *chart.Source) *surveyor {
	c, latent := d.prepared.Cloud, core.LatentOf(d.prepared.Method)
	s := &surveyor{cloud: c, d: latent, shape: chart.NewShape(c.D, latent), x: make([]float64, c.D), point: make([]float64, c.D)}
	if f, ok := d.prepared.Fitted.(core.Surveyed); ok {
		s.worker = f.Surveyor()
		return s
	}
	s.chart, s.tune = chart.New(c.D, latent), core.NewQuantiles(c.D-latent)
	s.rows, s.source, s.stored = chart.NewRows(s.chart), source(), make([]float64, s.chart.Width())
	return s
}

// row describes the surface at row i in g, with the distance of the row from it as the score. It returns the nearby
// noise, 0 if it is unknown.
func (s *surveyor) row(g *Geometry, i int, x []float64, r *Result, unit float64) (noise float64) {
	D := s.cloud.D
	for j := range D {
		s.x[j], s.point[j] = x[j]/unit, r.X[i*D+j]/unit
	}
	kept := r.Rows[i].Unchanged
	var found core.Survey
	switch {
	case s.worker != nil:
		var about Row
		s.neighbors.At(s.cloud, &s.search, s.x, 1)
		if s.worker.Place(&s.neighbors, &about) == nil {
			found = s.worker.Survey(s.shape, s.x, s.neighbors.Distance[0] == 0)
		}
	case !kept:
		found = s.survey(r.Rows[i].Neighbors)
	}
	if !found.OK {
		g.Score[i] = s.nearestOther()
		return 0
	}
	g.Score[i] = found.Far
	if !kept {
		var principal []float64
		if d := len(g.Principal) / len(g.Score); d > 0 {
			principal = g.Principal[i*d : (i+1)*d]
		}
		g.Error[i], g.Curvature[i] = found.Error, s.shape.Curvature(principal)
		if g.Normals != nil {
			copy(g.Normals[i*D:(i+1)*D], s.shape.Normal)
		}
	}
	return found.Noise
}

// nearestOther returns the distance from the point to the nearest fitted row at another position.
func (s *surveyor) nearestOther() float64 {
	for _, f := range s.search.Find(s.cloud.Index, s.x, 2) {
		if f.Distance > 0 {
			return math.Sqrt(f.Distance)
		}
	}
	return 0
}

// survey describes the surface by a chart about the point.
func (s *surveyor) survey(neighbors int) (about core.Survey) {
	// Curvature takes five rows for each function; some methods use all rows as neighbours.
	k := min(max(neighbors, 5*chart.Quadratics(s.d)), auto.MaxNeighbors, len(s.cloud.Used))
	if !s.fit(k, -1) || !s.chart.Foot(s.point, s.point) {
		return about
	}
	s.chart.Store(s.stored)
	s.shape.Begin()
	if !s.shape.Add(s.stored, s.point, 1) {
		return about
	}
	about.Noise, about.OK = s.chart.Noise(), true
	about.Error = about.Noise * math.Sqrt(s.chart.Leverage())
	own, pulled := s.own(), 0.0
	if own >= 0 {
		pulled = s.chart.Influence(own)
	}
	if !(pulled < core.OwnWeight) {
		// The chart may pass through the row wherever it is: fit another chart to the other rows, about their median.
		for j := range s.point {
			s.far = s.far[:0]
			for _, f := range s.rows.Found {
				s.far = append(s.far, s.cloud.Row(f.Row)[j])
			}
			s.point[j] = core.Median(s.far)
		}
		if pulled = 0; !s.fit(k, s.rows.Found[own].Row) {
			return about
		}
		about.Noise = s.chart.Noise()
	}
	if s.chart.Foot(s.point, s.x) {
		about.Far = rows.Distance(s.x, s.point) / (1 - pulled)
	}
	about.Noise = max(about.Noise, core.Exact*s.rows.Next)
	return about
}

// own is the index of the row among the rows of the chart, -1 if the row is not one of them.
func (s *surveyor) own() int {
	for k, f := range s.rows.Found {
		if rows.Distance(s.cloud.Row(f.Row), s.x) == 0 {
			return k
		}
	}
	return -1
}

// fit fits the chart to the k rows nearest to the point, without the given row: by least squares, then with Tukey
// weights scaled by the median residual.
func (s *surveyor) fit(k, without int) bool {
	s.rows.Look(s.cloud.Index, s.point, k)
	s.rows.Gather(s.source, k)
	if own := s.rows.Place(without); own >= 0 {
		s.rows.Prior[own] = 0
	}
	charted := chart.Setting{Cut: math.Inf(1), Rounds: 2}
	if !s.chart.Prepare(s.point, s.point, &s.rows, &charted) || !s.chart.Solve(0) {
		return false
	}
	s.far = append(s.far[:0], s.rows.Prior...)
	s.chart.Residuals(s.far)
	charted.Scale = max(core.Median(s.far)/s.tune.Median, core.Exact*s.rows.Next)
	charted.Cut, charted.Rounds = s.tune.Cut*charted.Scale, 3
	return s.chart.Prepare(s.point, s.point, &s.rows, &charted) && s.chart.Solve(0)
}

func (d *Denoiser) reserveGeometry(x rows.Data, o Options) (*memory.Reservation, error) {
	f := core.NewFootprint(d.prepared.Method, d.prepared.Cloud.Data, o)
	f.K = max(f.K, auto.MaxNeighbors)
	oriented := x.N
	if d.cells != nil {
		oriented = d.cells.sample.N
	}
	return f.Reserve(d.prepared.Method, x, float64(x.N)*(2*float64(x.D)+8)+float64(oriented)*6*orientNeighbors+f.N*chart.LineWidth+f.Workers())
}
