package rows

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// ErrInput reports data or settings that cannot be used.
var ErrInput = errors.New("invalid input")

// Data are N rows of length D, row-major in X, with optional weights.
type Data struct {
	N, D int
	X    []float64
	// Weights are the factors of the losses of rows; nil means 1. They must be finite and at
	// least 0, and not all 0.
	Weights []float64
	// Missing says that NaN entries are missing entries; see missing.go.
	Missing bool
	// First is the number of row 0 in error messages, if the data are part of a longer table.
	First int
}

// Row returns row i.
func (x Data) Row(i int) []float64 { return x.X[i*x.D : (i+1)*x.D] }

// Weight returns the weight of row i.
func (x Data) Weight(i int) float64 {
	if x.Weights == nil {
		return 1
	}
	return x.Weights[i]
}

// TotalWeight returns the sum of the weights.
func (x Data) TotalWeight() float64 {
	if x.Weights == nil {
		return float64(x.N)
	}
	return floats.Sum(x.Weights)
}

// Slice returns the rows [from, to), which share the memory of x.
func (x Data) Slice(from, to int) Data {
	part := x
	part.N, part.X, part.First = to-from, x.X[from*x.D:to*x.D], x.First+from
	if x.Weights != nil {
		part.Weights = x.Weights[from:to]
	}
	return part
}

// Select returns a copy of the rows with these indices.
func (x Data) Select(rows []int) Data {
	y := Data{N: len(rows), D: x.D, X: make([]float64, 0, len(rows)*x.D), Missing: x.Missing}
	for _, i := range rows {
		y.X = append(y.X, x.Row(i)...)
		if x.Weights != nil {
			y.Weights = append(y.Weights, x.Weights[i])
		}
	}
	return y
}

// EachSquare calls each with the squared distance of every row from c. No entry may be missing.
func (x Data) EachSquare(c []float64, each func(i int, square float64)) {
	var squares [tileRows]float64
	for from := 0; from < x.N; from += tileRows {
		n := min(tileRows, x.N-from)
		dense.SquaredDistances(squares[:n], x.X[from*x.D:], c, n, x.D)
		for i, v := range squares[:n] {
			each(from+i, v)
		}
	}
}

// EachProduct calls each with the products of every row minus c with axes, m x D. No entry may be missing. If
// squares is not nil it receives the squared distances from c.
func (x Data) EachProduct(c, axes, squares []float64, each func(i int, products []float64)) {
	m := len(axes) / x.D
	if m == 0 {
		return
	}
	work := make([]float64, m*(tileRows+1))
	columns, products := work[:m*tileRows], work[m*tileRows:]
	var tile []float64
	for from := 0; from < x.N; from += tileRows {
		n := min(tileRows, x.N-from)
		if squares != nil {
			tile = squares[from : from+n]
		}
		dense.FrameProducts(columns, tileRows, tile, x.X[from*x.D:], c, axes, n, m, x.D)
		for i := range n {
			for k := range products {
				products[k] = columns[k*tileRows+i]
			}
			each(from+i, products)
		}
	}
}

// Shares returns the weights divided by their mean. They must not all be 0.
func Shares(weights []float64, n int) []float64 {
	w := make([]float64, n)
	if weights == nil {
		floats.AddConst(1, w)
		return w
	}
	floats.ScaleTo(w, 1/floats.Max(weights), weights)
	floats.Scale(float64(n)/floats.Sum(w), w)
	return w
}

// tileRows is the number of rows that are passed to kernels at a time.
const tileRows = 64

// ErrOverflow reports data beyond the range of float64.
var ErrOverflow = fmt.Errorf("scqm: the loss of the data overflows or vanishes at their scale; rescale them: %w", ErrInput)
