package chart

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Rows gathers the rows from which charts are made.
type Rows struct {
	Search       lookup.Search
	Found        []lookup.Near // valid until the next search
	x, near      []float64     // K x D: rows and their positions
	Prior, trust []float64     // K: weights of the rows, and weights in the loss
	Next         float64       // distance of the first position left out

	// lanes reports that charts are a [Space]. Then columns replaces near and x, with Prior and trust as parts. It
	// holds the squared distances, Prior, trust, and the columns of near and of x, each stride numbers after the last.
	lanes   bool
	columns []float64
	stride  int
}

// NewRows returns a buffer that gathers rows for charts of the type of c.
func NewRows(c Chart) Rows {
	_, lanes := c.(*Space)
	return Rows{lanes: lanes}
}

// The columns of gathered rows for a chart in space: squared distances, prior and trust, then positions and rows.
const (
	gatheredNear    = 3
	gatheredX       = gatheredNear + lookup.Space
	gatheredColumns = gatheredX + lookup.Space
)

// Look finds up to most positions of an index that are nearest to y, and the one after them.
func (r *Rows) Look(in lookup.Index, y []float64, most int) {
	r.Found = r.Search.Find(in, y, most+1)
}

// Source is the data from which charts gather rows. x holds the rows, places (n x D) their positions on the surface,
// and trust their weights in the loss; nil stands for 1.
type Source struct {
	x             rows.Data
	places, trust []float64
	lines         []float64 // of rows in space: the data of each in one cache line, as neighbours are scattered in memory
}

// LineWidth is the number of float64 values of a cache line. It holds a position, its trust, the row and its weight.
const LineWidth = 8

// NewSource stores the rows x, their positions places and their trust in the layout that Gather reads.
func NewSource(x rows.Data, places, trust []float64) *Source {
	s := &Source{x: x, places: places, trust: trust}
	if x.D != lookup.Space {
		return s
	}
	s.lines = make([]float64, LineWidth*x.N)
	for i := range x.N {
		line := s.lines[LineWidth*i : LineWidth*(i+1)]
		copy(line, places[lookup.Space*i:lookup.Space*(i+1)])
		copy(line[4:], x.X[lookup.Space*i:lookup.Space*(i+1)])
		line[3], line[7] = s.trusted(i), x.Weight(i)
	}
	return s
}

func (s *Source) trusted(row int) float64 {
	if s.trust == nil {
		return 1
	}
	return s.trust[row]
}

// Gather uses the first k of the found rows. The rest is discarded.
func (r *Rows) Gather(from *Source, k int) {
	r.x, r.near, r.Prior, r.trust = r.x[:0], r.near[:0], r.Prior[:0], r.trust[:0]
	k = min(k, len(r.Found))
	r.Next = math.Sqrt(r.Found[min(k, len(r.Found)-1)].Distance)
	r.Found = r.Found[:k]
	if r.lanes {
		r.gatherInLanes(from.lines)
		return
	}
	D := from.x.D
	for _, f := range r.Found {
		r.x = append(r.x, from.x.Row(f.Row)...)
		r.near = append(r.near, from.places[f.Row*D:(f.Row+1)*D]...)
		r.Prior = append(r.Prior, from.x.Weight(f.Row))
		r.trust = append(r.trust, from.trusted(f.Row))
	}
}

// gatherInLanes does what Gather does, but stores rows by column, padded with rows at infinite distance.
func (r *Rows) gatherInLanes(lines []float64) {
	k := len(r.Found)
	r.stride = upToLanes(k)
	r.columns = dense.Grow(r.columns, gatheredColumns*r.stride)
	r.gatherByColumn(lines, k)
	column := func(i int) []float64 { return r.columns[i*r.stride : (i+1)*r.stride] }
	for i := k; i < r.stride; i++ {
		for c := range gatheredColumns {
			column(c)[i] = 0
		}
		column(0)[i] = math.Inf(1)
	}
	prior, trust := column(1), column(2)
	r.Prior, r.trust = prior[:k], trust[:k]
}

// gatherByColumn copies the data of the k found rows into the columns.
func (r *Rows) gatherByColumn(lines []float64, k int) {
	for i, f := range r.Found[:k] {
		line := (*[LineWidth]float64)(lines[LineWidth*f.Row:])
		to := r.columns[i:]
		to[0], to[r.stride], to[2*r.stride] = f.Distance, line[7], line[3]
		for j := range lookup.Space {
			to[(gatheredNear+j)*r.stride], to[(gatheredX+j)*r.stride] = line[j], line[4+j]
		}
	}
}

// leastTrusted is the fraction of the weights below which the product with trust is not used.
const leastTrusted = 0.03

// weigh writes the initial weights of a chart: those by distance, and their products with trust unless little is
// left.
func (r *Rows) weigh(weights, used []float64) {
	var all, left float64
	for i, f := range r.Found {
		weights[i] = r.Prior[i] * Tricube(math.Sqrt(f.Distance)/r.Next)
		used[i] = weights[i] * r.trust[i]
		all += weights[i]
		left += used[i]
	}
	if !(left > leastTrusted*all) {
		copy(used, weights)
	}
}

// Place returns the index of row i among the gathered rows, -1 if it is not there.
func (r *Rows) Place(i int) int {
	for k := range r.Prior {
		if r.Found[k].Row == i {
			return k
		}
	}
	return -1
}
