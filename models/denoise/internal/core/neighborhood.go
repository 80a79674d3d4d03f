package core

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Neighborhood is the neighbourhood of a point: the nearest rows of a cloud, nearest
// first, ties by index.
type Neighborhood struct {
	// Centre is the point.
	Centre []float64
	// Index holds the numbers of the rows, Distance their distances from Centre.
	Index    []int
	Distance []float64
	// Next is the distance of the nearest row that is not a neighbour, or of the last neighbour if there is none.
	Next float64
	// Rows are the rows, K x D, and Weights their weights.
	Rows    []float64
	Weights []float64

	mean   []float64
	Radius float64 // distance of the row furthest from the mean
	ball   float64 // the same without the centre, if the centre is a row
}

// Row returns neighbour k.
func (h *Neighborhood) Row(k int) []float64 {
	D := len(h.Centre)
	return h.Rows[k*D : (k+1)*D]
}

// N returns the number of neighbours.
func (h *Neighborhood) N() int { return len(h.Index) }

// At finds the k nearest rows to centre.
func (h *Neighborhood) At(c *Cloud, s *lookup.Search, centre []float64, k int) {
	h.gather(c, s.Find(c.Index, centre, k+1), centre, k)
}

// gather copies the first k of the found rows. One more row may have been found; its distance becomes Next.
func (h *Neighborhood) gather(c *Cloud, found []lookup.Near, centre []float64, k int) {
	h.Centre = append(h.Centre[:0], centre...)
	h.Next = math.Sqrt(found[len(found)-1].Distance)
	h.Index, h.Distance = h.Index[:0], h.Distance[:0]
	h.Rows, h.Weights = h.Rows[:0], h.Weights[:0]
	for _, f := range found[:min(k, len(found))] {
		h.Index = append(h.Index, f.Row)
		h.Distance = append(h.Distance, math.Sqrt(f.Distance))
		h.Rows = append(h.Rows, c.Row(f.Row)...)
		h.Weights = append(h.Weights, c.Weight(f.Row))
	}
	h.measure()
}

// measure computes the mean and the radius of the neighbourhood.
func (h *Neighborhood) measure() {
	if len(h.mean) != len(h.Centre) {
		h.mean = make([]float64, len(h.Centre))
	}
	clear(h.mean)
	first := h.Row(0)
	for k := range h.N() {
		for j, v := range h.Row(k) {
			h.mean[j] += (v - first[j]) / float64(h.N())
		}
	}
	floats.Add(h.mean, first)
	h.Radius, h.ball = 0, 0
	for k := range h.N() {
		far := rows.Distance(h.Row(k), h.mean)
		h.Radius = max(h.Radius, far)
		if h.Distance[k] > 0 {
			h.ball = max(h.ball, far)
		}
	}
}
