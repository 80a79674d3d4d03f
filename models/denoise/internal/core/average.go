package core

import (
	"errors"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/chart"
)

// average writes the mean of the projections of x onto the charts of the nearest rows into point. A row at the
// distance r has the weight (1-(r/h)^3)^3. h is the distance of the first row that is left out. Charts without a
// surface do not count.
func (g *safeWorker) average(x []float64, about *Row) error {
	c := g.d.Cloud
	found := g.search.Find(c.Index, x, g.o.Average+1)
	g.charts = append(g.charts[:0], found...)
	h := math.Sqrt(g.charts[len(g.charts)-1].Distance)
	clear(g.sum)
	var total, noise float64
	for k, f := range g.charts[:min(g.o.Average, len(g.charts))] {
		weight := chart.Tricube(math.Sqrt(f.Distance) / h)
		if k == 0 && !(weight > 0) {
			weight = 1 // all rows are at the same distance
		}
		if !(weight > 0) {
			continue
		}
		err := g.place(c.Row(f.Row), about)
		if err == nil {
			err = g.worker.Project(g.point, x)
		}
		if errors.Is(err, ErrNoSurface) {
			continue
		}
		if err != nil {
			return err
		}
		total += weight
		noise += weight * about.Noise
		for j, v := range g.point {
			g.sum[j] += weight * v
		}
	}
	if g.neighbors.At(c, &g.search, x, g.d.Size); total == 0 {
		return ErrNoSurface
	}
	for j, v := range g.sum {
		g.point[j] = v / total
	}
	about.Noise = noise / total
	return nil
}
