package denoise

import (
	"fmt"
	"math"
	"slices"
)

// autoPrepare finds the noise, K and the ridge, from what charts tell of the rows.
type autoPrepare struct {
	autoSettings
	n, D   int // rows of positive weight, and columns
	charts charts

	floor  float64 // of the noise
	eps    float64 // length of the perturbation
	probes int
}

// charts makes the charts of the rows of a cloud, wherever they are. Rows are those of
// positive weight, in their order.
type charts interface {
	// perturb makes so many probes, of which the rows move by eps in every column.
	perturb(probes int, eps float64) error
	// chart makes the charts of an order.
	chart(o order) (*charted, error)
	// compare makes the charts of every candidate for the selection, and for probes
	// [from, to) of it. Risks count what is far from the foot as s says.
	compare(s setting, list []candidate, from, to int) ([]*compared, error)
}

// order says which charts to make.
type order struct {
	// probe is whose rows are charted, -1 for the rows themselves.
	probe int
	// raw makes charts at the rows themselves, not at their places.
	raw bool
	// some is for the selection only.
	some bool
	// keep takes the feet for the places.
	keep    bool
	setting setting
}

// rowsThemselves is the probe that is none.
const rowsThemselves = -1

// charted is what charts tell of rows, each by its place in the list.
type charted struct {
	size      []float64 // distance of the first row left out
	far       []float64 // of the row itself from the foot
	shrinkage []float64 // of that distance
	// divergence is what every probe says, where the rows themselves are all charted
	// and kept.
	divergence [][]float64
}

const (
	// selectionRows bounds the rows on which candidates are compared. The
	// standard error of their mean risk is far below the differences that matter.
	selectionRows = 4000
)

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// spread is the standard deviation of the noise by the median distance of the
// rows that have been charted from their feet. Each distance is
// first divided by what the chart, being pulled towards the row, has left of it:
// a chart that follows its own row would else pass for one without noise, and a
// loss that bends with that noise would make it follow the more.
func (p *autoPrepare) spread(c *charted) float64 {
	far := make([]float64, len(c.far))
	for k, v := range c.far {
		far[k] = v / c.shrinkage[k]
	}
	return median(far) / p.tune.median
}

// spreadOfAll is the spread of all rows from their feet, which have been
// charted, as the probes have. Where neighbourhoods are hardly larger than the
// noise, neighbours are those that share the noise of a row, and pull the chart
// after it: the shrinkage does not know of that, the divergence does.
func (p *autoPrepare) spreadOfAll(c *charted) float64 {
	var divergence float64
	for _, probe := range c.divergence {
		for _, v := range probe {
			divergence += v
		}
	}
	divergence /= float64(p.n * p.probes)
	left := max(float64(p.D)-divergence, p.q/4)
	followed := median(slices.Clone(c.far)) / p.tune.median * math.Sqrt(p.q/left)
	return max(followed, p.spread(c), p.floor)
}

// pilot denoises once with a number of neighbours that errs on the large side.
func (p *autoPrepare) pilot() error {
	functions := quadratics(p.method.Latent)
	s := setting{neighbors: max(min(10*functions, p.n/3), functions+2), ridge: pilotRidge}
	for {
		size, err := p.pilotScale(&s)
		if err != nil {
			return err
		}
		if size >= minReach*s.scale || s.neighbors >= p.n/2 {
			break
		}
		s.neighbors = min(int(math.Ceil(1.4*float64(s.neighbors))), p.n)
	}
	p.eps, p.probes = perturbation*s.scale, min(max(probedRows/p.n, 1), maxProbes)
	if err := p.charts.perturb(p.probes, p.eps); err != nil {
		return err
	}
	return p.advanceAll(s, true)
}

// pilotScale fits the rows at their own places, by least squares and then with Tukey's
// loss, and leaves the noise in s. It returns the median size of neighbourhoods.
// Some of the rows are enough for that.
func (p *autoPrepare) pilotScale(s *setting) (float64, error) {
	look := func() (*charted, error) {
		return p.charts.chart(order{probe: rowsThemselves, raw: true, some: true, setting: *s})
	}
	p.setScale(s, 0, false)
	c, err := look()
	if err != nil {
		return 0, err
	}
	size := median(slices.Clone(c.size))
	if !(size > 0) {
		return 0, fmt.Errorf("denoise: auto: squares of the distances to the %d nearest neighbours of most rows are beyond the numbers; rescale the rows: %w", s.neighbors, ErrInput)
	}
	first := max(p.spread(c), exact*size)
	p.floor = pilotFloor * first
	p.setScale(s, first, !p.method.LeastSquares)
	if p.method.LeastSquares {
		return size, nil
	}
	for range 2 {
		if c, err = look(); err != nil {
			return 0, err
		}
		p.setScale(s, max(p.spread(c), p.floor), true)
	}
	return size, nil
}

// advance takes the feet of the last choice for the places.
func (p *autoPrepare) advance() error { return p.advanceAll(p.setting, false) }

// advanceAll takes the feet of the probes, and then of the rows, for their places, and
// leaves the setting with the noise that these tell.
func (p *autoPrepare) advanceAll(s setting, raw bool) error {
	for m := range p.probes {
		if _, err := p.charts.chart(order{probe: m, raw: raw, keep: true, setting: s}); err != nil {
			return err
		}
	}
	c, err := p.charts.chart(order{probe: rowsThemselves, raw: raw, keep: true, setting: s})
	if err != nil {
		return err
	}
	p.setScale(&s, p.spreadOfAll(c), !p.method.LeastSquares)
	p.setting = s
	return nil
}
