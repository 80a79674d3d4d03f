package denoise

import (
	"math/bits"

	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// Where the noise is large beside the distances of rows, charts that are larger than the noise have thousands of neighbours. Rows are then
// put into classes by chance, as many as it takes for charts of a few hundred, and the chart of a row is made of rows of its own class: what it is off by
// is the same on average, and its noise is counted by its influences. The charts that a foot is the mean of are of
// all classes, so that it has a part of all rows.

const (
	// classFunctions is the least number of rows for each function of a chart up to which the pilot takes all.
	classFunctions = 100
	// pilotWork is the number of rows in all charts of a look of the pilot up to which it takes all.
	pilotWork = 10_000_000
	// lookedAt is how often some rows are charted.
	lookedAt = 4
)

// every is the number of classes of rows for so many charts of a setting, a power of two.
func (a *autoSettings) every(s *setting, charts int) int {
	most := maxNeighbors
	if s.pilot {
		most = max(classFunctions*chart.Quadratics(a.method.Latent), pilotWork/charts)
	} else if a.method.Neighbors > 0 || s.Sides > 0 {
		return 1
	}
	if s.neighbors <= most {
		return 1
	}
	return 1 << bits.Len(uint((s.neighbors-1)/most))
}

// charts is how many charts of n rows an order counts for.
func (o *order) charts(n int) int {
	if o.some {
		return lookedAt * selectionRows
	}
	return n
}

// classes are places by class.
type classes struct {
	every int
	class []uint16 // of every row
	// of are indices of the places of each class, nil for one without places, and mixed is that of one row in every, of all classes.
	of    []lookup.Index
	mixed lookup.Index
}

// most is the part of so many neighbours that are of one class, or mixed.
func (c *classes) most(neighbors int) int {
	if c == nil {
		return neighbors
	}
	return max(neighbors/c.every, 1)
}

// near is the index of the places that the chart of a row is made of.
func (p *places) near(row int) lookup.Index {
	if p.classes == nil {
		return p.index
	}
	return p.classes.of[p.classes.class[row]]
}

// mixed is the index of the places of the charts that feet are the means of.
func (p *places) mixed() lookup.Index {
	if p.classes == nil {
		return p.index
	}
	return p.classes.mixed
}

// divide puts places into classes for so many charts, at most for those of all rows; those of probes as well if these are asked for.
func (p *cloudCharts) divide(s *setting, charts int, probes bool) {
	every := p.every(s, min(charts, p.cloud.Count()))
	p.places.divide(p.cloud, every)
	for q := range p.probes {
		if probes {
			p.probes[q].places.divide(p.cloud, every)
		}
	}
}

// divide puts places into so many classes.
func (p *places) divide(c *Cloud, every int) {
	switch {
	case every == 1 || p.index == nil:
		p.classes = nil
		return
	case p.classes != nil && p.classes.every == every:
		return
	}
	known, part := p.index.(lookup.KnownIndex)
	to := &classes{every: every, class: make([]uint16, c.N), of: make([]lookup.Index, every)}
	lists, mixed := make([][]int, every), []int(nil)
	for k, i := range c.Used {
		if c.Number != nil {
			k = c.Number[i]
		}
		v := scattered(uint64(k))
		class := v % uint64(every)
		to.class[i] = uint16(class)
		if part && !known.Known.Contains(p.y[i*c.D:(i+1)*c.D]) {
			continue
		}
		lists[class] = append(lists[class], i)
		if v>>32%uint64(every) == 0 {
			mixed = append(mixed, i)
		}
	}
	in := func(list []int) lookup.Index {
		if part {
			return lookup.KnownIndex{Index: lookup.NewIndex(p.y, c.D, list), Known: known.Known}
		}
		return lookup.NewIndex(p.y, c.D, list)
	}
	for k, list := range lists {
		to.of[k] = in(list)
	}
	to.mixed = in(mixed)
	p.classes = to
}

// byClass orders places of a list by the classes of its rows, and leaves the order within each.
func (c *classes) byClass(order, list []int) []int {
	if c == nil {
		return order
	}
	first := make([]int, c.every+1)
	for _, i := range list {
		first[c.class[i]+1]++
	}
	for k := range c.every {
		first[k+1] += first[k]
	}
	to := make([]int, len(order))
	for _, k := range order {
		class := c.class[list[k]]
		to[first[class]] = k
		first[class]++
	}
	return to
}

// scattered is a number that looks random, for the same number always the same (G. L. Steele, D. Lea, C. H. Flood, Fast
// splittable pseudorandom number generators, OOPSLA 2014).
func scattered(v uint64) uint64 {
	v = (v + 1) * 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
