package lookup

import "math"

// Box is the set of points between lo and hi, D each, both included.
type Box struct{ Lo, Hi []float64 }

// NewBox returns an empty box.
func NewBox(D int) Box {
	b := Box{Lo: make([]float64, D), Hi: make([]float64, D)}
	for j := range D {
		b.Lo[j], b.Hi[j] = math.Inf(1), math.Inf(-1)
	}
	return b
}

// Include makes the box contain x.
func (b Box) Include(x []float64) {
	for j, v := range x {
		b.Lo[j], b.Hi[j] = min(b.Lo[j], v), max(b.Hi[j], v)
	}
}

// Width is the length of the longest side.
func (b Box) Width() float64 {
	var width float64
	for j := range b.Lo {
		width = max(width, b.Hi[j]-b.Lo[j])
	}
	return width
}
