package denoise

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// surveyor is the memory of one goroutine that describes the surface.
type surveyor struct {
	cloud     *Cloud
	d         int
	faces     auto.Faces // where charts may be creases, else nil
	tune      core.Quantiles
	chart     *chart.Surface
	neighbors Neighborhood
	search    lookup.Search
	shape     *dense.SymmetricEigen // d x d
	x, point  []float64             // D: in the unit of the cloud
	foot      []float64             // D
	tangent   []float64             // d x D
	normal    []float64             // D
	far       []float64
	cut       float64   // of the last chart
	second    []float64 // d x d
}

func newSurveyor(c *Cloud, d int, fitted Fitted) *surveyor {
	vec := func(n int) []float64 { return make([]float64, n) }
	s := &surveyor{
		cloud: c, d: d, tune: core.NewQuantiles(c.D - d), chart: chart.NewSurface(c.D, d), shape: dense.NewSymmetricEigen(d),
		x: vec(c.D), point: vec(c.D), foot: vec(c.D), tangent: vec(d * c.D), normal: vec(c.D), second: vec(d * d),
	}
	if f, ok := fitted.(interface{ Faces() auto.Faces }); ok {
		s.faces = f.Faces()
	}
	return s
}

// row describes the surface at row i, with the distance from it for the score. It
// returns the noise near by, 0 where that is not known.
func (s *surveyor) row(g *Geometry, i int, x []float64, r *Result, unit float64) (noise float64) {
	D := s.cloud.D
	about := r.Rows[i]
	for j := range D {
		s.x[j], s.point[j] = x[j]/unit, r.X[i*D+j]/unit
	}
	g.Score[i] = about.Residual / unit
	if about.Unchanged || !about.Done {
		g.Score[i] = s.nearestOther()
		return 0
	}
	s.look(about.Neighbors)
	cut := s.tune.Cut * about.Noise / unit
	s.faceWeights(cut)
	if !s.fit(s.neighbors.Next, 2) {
		return 0
	}
	k := s.neighbors.N()
	noise = s.chart.Spread(k, s.cut)
	own := 0.0
	if at := s.own(); at >= 0 {
		own = s.chart.Influence(at)
	}
	g.Error[i] = noise * math.Sqrt(s.chart.Leverage())
	s.bend(g, i)
	if v, near, ok := s.leftOut(own, noise); ok {
		g.Score[i], noise = v, near
	}
	return max(noise, exactly*s.neighbors.Next)
}

// nearestOther is the distance of the nearest row fitted that is elsewhere.
func (s *surveyor) nearestOther() float64 {
	for _, f := range s.search.Find(s.cloud.Index, s.x, 2) {
		if f.Distance > 0 {
			return math.Sqrt(f.Distance)
		}
	}
	return 0
}

// look finds the rows around the denoised row.
func (s *surveyor) look(neighbors int) {
	k := min(max(neighbors, geometryRows*chart.Quadratics(s.d)), geometryMost, len(s.cloud.Used))
	s.neighbors.At(s.cloud, &s.search, s.point, k)
}

// faceWeights lowers the weights of neighbours that are on the other face of a crease, by their distances from the face that the point is on, with Tukey's loss
// and the cut given.
func (s *surveyor) faceWeights(cut float64) {
	if s.faces == nil || !(cut > 0) {
		return
	}
	if face, ok := s.faces(s.point); ok {
		h := &s.neighbors
		for i := range h.Weights {
			far := face.Far(h.Row(i)) / cut
			h.Weights[i] *= chart.Tukey(far * far)
		}
	}
}

// own is the place of the row among its neighbours, -1 if it is not fitted or far.
func (s *surveyor) own() int {
	for k := range s.neighbors.N() {
		if rows.Distance(s.neighbors.Row(k), s.x) == 0 {
			return k
		}
	}
	return -1
}

// ownWeight is that of a row in its chart from which on the chart is made anew
// without it: it may pass through the row wherever that is.
const ownWeight = 0.3

// aloneRounds is the number of reweightings of that chart.
const aloneRounds = 5

// leftOut is the distance of the row from the chart that the others make, and the
// noise that these have, given the weight of its own in the last one, with its noise.
func (s *surveyor) leftOut(own, noise float64) (far, others float64, ok bool) {
	if !(own < ownWeight) {
		s.neighbors.Weights[s.own()] = 0
		own = 0
		if !s.fit(s.middle(), aloneRounds) {
			return 0, 0, false
		}
		noise = s.chart.Spread(s.neighbors.N(), s.cut)
	}
	if !s.chart.FindFoot(s.x) {
		return 0, 0, false
	}
	s.chart.Point(s.foot, s.chart.T)
	return rows.Distance(s.x, s.foot) / (1 - own), noise, true
}

// middle takes the median of the neighbours in every column for the place of the chart,
// and returns a distance within which all of them have some weight. Near an outlier
// there may be others, which must not count most.
func (s *surveyor) middle() (next float64) {
	h, D := &s.neighbors, s.cloud.D
	for j := range D {
		s.far = s.far[:0]
		for k := range h.N() {
			s.far = append(s.far, h.Rows[k*D+j])
		}
		s.point[j] = core.Median(s.far)
	}
	for k := range h.N() {
		next = max(next, 2*rows.Distance(h.Row(k), s.point))
	}
	return next
}

// fit makes the chart at a place, by least squares and then in rounds with Tukey's
// loss at the median of the residuals that the last has left.
func (s *surveyor) fit(next float64, rounds int) bool {
	h := &s.neighbors
	k := h.N()
	charted := chart.Setting{Cut: math.Inf(1), Rounds: 3, Steps: chart.RobustSteps}
	for range rounds {
		s.cut = charted.Cut
		if !s.chart.Fit(s.foot, s.point, s.point, h.Rows, h.Rows, h.Weights, next, &charted) {
			return false
		}
		s.far = s.far[:0]
		for i, w := range s.chart.Weights[:k] {
			if w > 0 {
				s.far = append(s.far, math.Sqrt(s.chart.Residual(i)))
			}
		}
		if len(s.far) == 0 {
			return false
		}
		charted.Scale = max(core.Median(s.far)/s.tune.Median, exactly*next)
		charted.Cut = s.tune.Cut * charted.Scale
	}
	return true
}

// bend describes normal and curvature at the foot on the chart: the second
// derivatives there, in a basis of the tangent that is orthonormal.
func (s *surveyor) bend(g *Geometry, i int) {
	c, d, D := s.chart, s.d, s.cloud.D
	c.Differentiate(c.T)
	copy(s.tangent, c.Jac)
	if !dense.OrthonormalizeRows(s.tangent, D) {
		return
	}
	if !c.Metric() {
		return
	}
	if g.Normals == nil {
		g.Curvature[i] = s.meanCurvature()
		return
	}
	core.Complement(s.normal, s.tangent)
	copy(g.Normals[i*D:(i+1)*D], s.normal)
	c.SecondForm(s.second, s.normal)
	c.ToOrthonormal(s.second)
	copy(s.shape.A, s.second)
	if !s.shape.Factorize() {
		return
	}
	for a, v := range s.shape.Values { // ascending; of the other sign, descending
		g.Principal[i*d+a] = -v
		g.Curvature[i] -= v / float64(d)
	}
}

// meanCurvature is the length of the mean curvature vector.
func (s *surveyor) meanCurvature() float64 {
	c, d, D := s.chart, s.d, s.cloud.D
	clear(s.normal)
	for j := range D { // the trace of the second derivatives in every coordinate
		clear(s.foot)
		s.foot[j] = 1
		c.SecondForm(s.second, s.foot)
		c.ToOrthonormal(s.second)
		for a := range d {
			s.normal[j] += s.second[a*d+a] / float64(d)
		}
	}
	for a := range d {
		axis := s.tangent[a*D : (a+1)*D]
		floats.AddScaled(s.normal, -dense.Dot(axis, s.normal), axis)
	}
	return math.Sqrt(dense.Dot(s.normal, s.normal))
}

func (d *Denoiser) reserveGeometry(x rows.Data, o Options) (*memory.Reservation, error) {
	f := core.NewFootprint(d.prepared.Method, d.prepared.Cloud.Data, o)
	f.K = max(f.K, geometryMost)
	const edges = 2 * orientNeighbors // by three numbers
	return f.Reserve(d.prepared.Method, x, float64(x.N)*(2*float64(x.D)+8+3*edges)+f.Workers())
}
