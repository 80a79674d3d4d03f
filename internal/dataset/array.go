package dataset

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Array is a block of numbers of any number of dimensions, in C order (the last
// index runs fastest). A scalar has an empty Shape and one value.
type Array struct {
	Shape []int
	Data  []float64
}

const (
	maxDims     = 32                         // what every version of NumPy can read
	maxElements = min(1<<40, math.MaxInt>>4) // keeps sizes in bytes far from overflow
)

// elements returns the number of values of the shape, or an error if the shape is invalid.
func (a Array) elements() (int, error) {
	if len(a.Shape) > maxDims {
		return 0, inputErrorf(ErrShape, "%d dimensions; at most %d are possible", len(a.Shape), maxDims)
	}
	n := 1
	for _, d := range a.Shape {
		if d < 0 || d > maxElements || n > maxElements/max(d, 1) {
			return 0, inputErrorf(ErrShape, "shape %s is negative or too large", shapeString(a.Shape))
		}
		n *= max(d, 1)
	}
	if slices.Contains(a.Shape, 0) {
		return 0, nil
	}
	return n, nil
}

// fromFortran returns a with its values reordered from Fortran order (first index fastest)
// to C order.
func (a Array) fromFortran() Array {
	if len(a.Shape) < 2 {
		return a
	}
	stride := make([]int, len(a.Shape))
	n := 1
	for k, d := range a.Shape {
		stride[k] = n
		n *= d
	}
	out := make([]float64, len(a.Data))
	index := make([]int, len(a.Shape))
	from := 0
	for i := range out {
		out[i] = a.Data[from]
		for k := len(index) - 1; k >= 0; k-- {
			index[k]++
			from += stride[k]
			if index[k] < a.Shape[k] {
				break
			}
			from -= index[k] * stride[k]
			index[k] = 0
		}
	}
	return Array{a.Shape, out}
}

// shapeString formats a shape as Python does: (), (3,), (3, 4).
func shapeString(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.Itoa(d)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
