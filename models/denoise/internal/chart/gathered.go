package chart

import (
	"math"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Rows gathers what charts are made from.
type Rows struct {
	Search       lookup.Search
	Found        []lookup.Near // valid until the next search
	x, near      []float64     // K x D: rows and their places
	Prior, trust []float64     // K: weights of the rows, and in the loss
	Next         float64       // distance of the first place left out
	L            []float64     // K: influences
	Bends        *Draw         // what curvature is drawn to; nil is none

	// lanes says that charts are those of surfaces in space, for which columns has, each stride apart, squared
	// distances, prior, trust, and the columns of near and of x, in place of these.
	lanes   bool
	columns []float64
	stride  int
}

// NewRows gathers for charts as c makes them.
func NewRows(c Chart) Rows {
	_, lanes := c.(*Space)
	return Rows{lanes: lanes}
}

// The columns of rows gathered for a chart in space.
const (
	gatheredDistance = 0
	gatheredPrior    = 1
	gatheredTrust    = 2
	gatheredNear     = 3
	gatheredX        = 6
	gatheredColumns  = 9
)

// Look finds the most nearest places to y of those in an index, and the one after them.
func (r *Rows) Look(in lookup.Index, y []float64, most int) {
	r.Found = r.Search.Find(in, y, most+1)
}

// Gather takes the first k of the rows found: x are the rows themselves, near
// their places in y, and trusted their weights in the loss, nil for 1. What is left out is forgotten.
func (r *Rows) Gather(c rows.Data, x, y, trusted []float64, k int) {
	r.Bends = nil
	r.x, r.near, r.Prior, r.trust = r.x[:0], r.near[:0], r.Prior[:0], r.trust[:0]
	k = min(k, len(r.Found))
	r.Next = math.Sqrt(r.Found[min(k, len(r.Found)-1)].Distance)
	r.Found = r.Found[:k]
	if r.lanes {
		r.gatherInLanes(c, x, y, trusted)
		return
	}
	for _, f := range r.Found {
		r.x = append(r.x, x[f.Row*c.D:(f.Row+1)*c.D]...)
		r.near = append(r.near, y[f.Row*c.D:(f.Row+1)*c.D]...)
		r.Prior = append(r.Prior, c.Weight(f.Row))
		trust := 1.0
		if trusted != nil {
			trust = trusted[f.Row]
		}
		r.trust = append(r.trust, trust)
	}
}

// gatherInLanes is gather by column, with rows beyond the last that are infinitely far.
func (r *Rows) gatherInLanes(c rows.Data, x, y, trusted []float64) {
	k := len(r.Found)
	r.stride = upToLanes(k)
	r.columns = dense.Grow(r.columns, gatheredColumns*r.stride)
	column := func(i int) []float64 { return r.columns[i*r.stride : (i+1)*r.stride] }
	far, prior, trust := column(gatheredDistance), column(gatheredPrior), column(gatheredTrust)
	n0, n1, n2 := column(gatheredNear), column(gatheredNear+1), column(gatheredNear+2)
	x0, x1, x2 := column(gatheredX), column(gatheredX+1), column(gatheredX+2)
	far, prior, trust = far[:k], prior[:k], trust[:k]
	a0, a1, a2, b0, b1, b2 := n0[:k], n1[:k], n2[:k], x0[:k], x1[:k], x2[:k]
	for i, f := range r.Found {
		place, row := (*[lookup.Space]float64)(y[lookup.Space*f.Row:]), (*[lookup.Space]float64)(x[lookup.Space*f.Row:])
		a0[i], a1[i], a2[i] = place[0], place[1], place[2]
		b0[i], b1[i], b2[i] = row[0], row[1], row[2]
		far[i], prior[i], trust[i] = f.Distance, 1, 1
		if trusted != nil {
			trust[i] = trusted[f.Row]
		}
		if c.Weights != nil {
			prior[i] = c.Weights[f.Row]
		}
	}
	far, prior, trust = far[:r.stride], prior[:r.stride], trust[:r.stride]
	for i := k; i < r.stride; i++ {
		far[i], prior[i], trust[i] = math.Inf(1), 0, 0
		for _, v := range [][]float64{n0, n1, n2, x0, x1, x2} {
			v[i] = 0
		}
	}
	r.Prior, r.trust = prior[:k], trust[:k]
}

// leastTrusted is the part of the weights that must be left for trust to count.
const leastTrusted = 0.03

// weigh gives the weights that a chart begins with: those by distance, and these times
// trust unless little is left.
func (r *Rows) weigh(take func(i int, weight, used float64)) {
	r.L = dense.Grow(r.L, len(r.Found))
	var all, left float64
	for i, f := range r.Found {
		w := r.Prior[i] * Tricube(math.Sqrt(f.Distance)/r.Next)
		r.L[i] = w
		all += w
		left += w * r.trust[i]
	}
	for i, w := range r.L {
		used := w
		if left > leastTrusted*all {
			used *= r.trust[i]
		}
		take(i, w, used)
	}
}

// Place returns the place of row i among those gathered, -1 if it is not there.
func (r *Rows) Place(i int) int {
	for k := range r.Prior {
		if r.Found[k].Row == i {
			return k
		}
	}
	return -1
}

// Nearer are the first k of the rows gathered, of which there are more.
func (r *Rows) Nearer(k, D int) Rows {
	part := *r
	part.Found, part.Next = r.Found[:k], math.Sqrt(r.Found[k].Distance)
	part.Prior, part.trust = r.Prior[:k], r.trust[:k]
	if !r.lanes {
		part.x, part.near = r.x[:k*D], r.near[:k*D]
	}
	return part
}
