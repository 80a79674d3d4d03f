package denoise

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/denoise/internal/chart"
)

const (
	// poolRidge is the ridge towards the mean curvature: with 1 to 30 results are alike.
	poolRidge = 3
	// poolShrink is the ratio of the numbers of neighbours of charts without and with pooled curvature, which need fewer, but no fewer than
	// poolRows for each function.
	poolShrink = 1.5
	poolRows   = 20
)

// charted is the number of neighbours of a chart.
func (s *setting) charted() int {
	if s.pooled > 0 {
		return min(s.neighbors, s.pooled)
	}
	return s.neighbors
}

// pool draws the curvature of charts to that of the charts near by where that lowers the risk: charts of fewer neighbours are made, and then
// once and, where rows are better for it, twice with a ridge towards the mean of those before. Else charts are made again as they were chosen. Creases have no curvature.
func (p *autoPrepare) pool() error {
	if p.n > fewRows || !p.setting.noisy || p.setting.creased || p.flat != nil || p.method.linear != nil || p.method.Neighbors > 0 {
		return nil
	}
	s := p.setting
	s.pooled = max(int(float64(s.neighbors)/poolShrink), poolRows*chart.Quadratics(p.method.Latent))
	for _, s.drawn = range [...]bool{false, true} {
		if _, err := p.charts.chart(order{keep: true, setting: s}); err != nil {
			return err
		}
	}
	if err := p.charts.follow(s); err != nil {
		return err
	}
	gain, err := p.gainOfPooled(s)
	if err != nil {
		return err
	}
	if gain > 0 {
		p.setting = s
	}
	_, err = p.charts.chart(order{keep: true, setting: p.setting})
	return err
}

// gainOfPooled is by how much the risk of charts of a pooled setting is estimated to be lower than that of those chosen. What probes say of the
// divergence is of the same rows and signs for both, so that their difference has little chance in it and counts for both signs; it is what tells them
// apart where neighbourhoods are a large part of the surface.
func (p *autoPrepare) gainOfPooled(s setting) (float64, error) {
	var of [2]*compared
	for k, s := range [...]setting{p.setting, s} {
		list, err := p.charts.compare(s, []candidate{{s.neighbors, s.Ridge}}, portion{})
		if err != nil {
			return 0, err
		}
		of[k] = list[0]
		of[k].trustMost()
	}
	var more []float64
	for i, v := range of[0].extra {
		if d := v - of[1].extra[i]; !math.IsNaN(d) && of[0].trusted[0][i] > 0 {
			more = append(more, d)
		}
	}
	for _, c := range of {
		for i := range c.extra {
			c.extra[i] = math.NaN()
		}
		p.estimate(c, nil)
	}
	gain := (of[0].total() - of[1].total()) / float64(len(of[0].risk))
	return gain + 2*p.setting.Scale*p.setting.Scale*stat.Mean(more, nil), nil
}

// drawTo lets the chart of a row be drawn to those near by if the setting says so. Parts that are thin stay as they are.
func (w *autoWorker) drawTo(row int, s *setting) {
	if s.drawn && s.Sides == 0 && s.start == 0 && w.pool(row) {
		w.rows.Bends, s.Ridge = w.drawn, poolRidge
	}
}

// ridge is that for charts of the rows gathered, v where these are not drawn to anything.
func (w *autoWorker) ridge(v float64) float64 {
	if w.rows.Bends != nil {
		return poolRidge
	}
	return v
}

// pool takes the mean curvature of the charts of the rows gathered, in the frame of that of row own, for what charts are drawn to. It is false where
// there is none.
func (w *autoWorker) pool(own int) bool {
	if w.drawn == nil {
		w.drawn = chart.NewDraw(w.chart)
	}
	stored := w.storedChart(own)
	if stored == nil {
		return false
	}
	w.drawn.Begin(stored)
	for i, f := range w.rows.Found {
		weight := w.rows.Prior[i] * chart.Tricube(math.Sqrt(f.Distance)/w.rows.Next)
		if stored := w.storedChart(f.Row); weight > 0 && stored != nil {
			w.drawn.Include(stored, weight)
		}
	}
	return w.drawn.End()
}

// storedChart is that of a row, nil where there is none.
func (w *autoWorker) storedChart(row int) []float64 {
	stored := w.charts[row*w.width : (row+1)*w.width]
	if stored[w.width-1] < 0 {
		return nil
	}
	return stored
}
