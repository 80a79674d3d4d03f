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

// Empty reports whether the box contains no point.
func (b Box) Empty() bool { return b.Lo[0] > b.Hi[0] }

// Include makes the box contain x.
func (b Box) Include(x []float64) {
	for j, v := range x {
		b.Lo[j], b.Hi[j] = min(b.Lo[j], v), max(b.Hi[j], v)
	}
}

// Join extends the box to contain another.
func (b Box) Join(other Box) {
	if !other.Empty() {
		b.Include(other.Lo)
		b.Include(other.Hi)
	}
}

// Contains reports whether x is in the box or on its faces.
func (b Box) Contains(x []float64) bool {
	for j, v := range x {
		if v < b.Lo[j] || v > b.Hi[j] {
			return false
		}
	}
	return true
}

// Width is the length of the longest side.
func (b Box) Width() float64 {
	var width float64
	for j := range b.Lo {
		width = max(width, b.Hi[j]-b.Lo[j])
	}
	return width
}
