package rows

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// ErrInput marks data or settings that cannot be used.
var ErrInput = errors.New("invalid input")

// Data are N rows of length D, row-major, with optional weights.
type Data struct {
	N, D int
	X    []float64
	// Weights multiplies the loss of every row; nil stands for 1. Weights are
	// finite and at least 0, and not all 0.
	Weights []float64
	// Missing says that entries which are NaN are missing; see missing.go.
	Missing bool
	// First is the number that errors give to row 0, of a part of a longer table.
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

// Validate reports why the data cannot be used: shapes that do not fit, numbers
// that are not finite, or weights that are not. Places are counted from 0.
func (x Data) Validate() error {
	if x.N < 1 || x.D < 1 {
		return fmt.Errorf("scqm: data are %d x %d; at least one row and one column are needed: %w", x.N, x.D, ErrInput)
	}
	if x.N > math.MaxInt/x.D || len(x.X) != x.N*x.D {
		return fmt.Errorf("scqm: %d numbers do not make %d rows of %d: %w", len(x.X), x.N, x.D, ErrInput)
	}
	for i := dense.FiniteUntil(x.X); i < len(x.X); i++ {
		v := x.X[i]
		if math.IsInf(v, 0) || math.IsNaN(v) && !x.Missing {
			return fmt.Errorf("scqm: row %d, column %d is %v; remove or impute it first: %w", x.First+i/x.D, i%x.D, v, ErrInput)
		}
	}
	if err := x.validateRows(); err != nil {
		return err
	}
	return x.validateWeights()
}

func (x Data) validateWeights() error {
	if x.Weights == nil {
		return nil
	}
	if len(x.Weights) != x.N {
		return fmt.Errorf("scqm: %d weights for %d rows: %w", len(x.Weights), x.N, ErrInput)
	}
	var sum float64
	for i, w := range x.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("scqm: weight of row %d is %v, want a finite number of at least 0: %w", i, w, ErrInput)
		}
		sum += w
	}
	if sum == 0 {
		return fmt.Errorf("scqm: all weights are 0: %w", ErrInput)
	}
	return nil
}

// Slice returns the rows from one number up to another, which share the memory of x.
func (x Data) Slice(from, to int) Data {
	part := x
	part.N, part.X, part.First = to-from, x.X[from*x.D:to*x.D], x.First+from
	if x.Weights != nil {
		part.Weights = x.Weights[from:to]
	}
	return part
}

// Select returns some of the rows.
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

// LengthScale returns the root mean squared distance of the rows from their
// mean, 1 where that is 0.
func LengthScale(x Data) float64 {
	mean := Mean(x)
	var sum, total float64
	x.EachSquare(mean, func(i int, square float64) {
		w := x.Weight(i)
		total += w
		sum += w * square
	})
	h := math.Sqrt(sum / total)
	if !(h > 0) || math.IsInf(h, 0) {
		return 1
	}
	return h
}

// EachSquare hands on the squared distances of the rows from c, of which no entry is missing.
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

// ProductsLen is the length of the memory of [Data.EachProduct] for so many axes.
func ProductsLen(m int) int { return m * (tileRows + 1) }

// EachProduct hands on the products of the rows less c, of which no entry is missing, with axes, m x
// D. Where squares is not nil it receives the squared distances from c. work is memory of
// [ProductsLen] numbers, or nil.
func (x Data) EachProduct(c, axes, squares, work []float64, each func(i int, products []float64)) {
	m := len(axes) / x.D
	if m == 0 {
		return
	}
	work = dense.Grow(work, ProductsLen(m))
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

// Shares returns weights with the mean 1. They are not all 0.
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

// tileRows is the number of rows that are handed to kernels at a time.
const tileRows = 64

// Mean adds deviations from the first row, which keeps the digits of
// data with a large common offset.
func Mean(x Data) []float64 {
	if x.Missing {
		return observedMean(x)
	}
	mean := make([]float64, x.D)
	var sum float64
	for i := range x.N {
		sum += x.Weight(i)
	}
	first := x.Row(0)
	var shares [tileRows]float64
	for from := 0; from < x.N; from += tileRows {
		n := min(tileRows, x.N-from)
		for i := range n {
			shares[i] = x.Weight(from+i) / sum
		}
		dense.AddCentredProduct(mean, shares[:n], x.X[from*x.D:(from+n)*x.D], first, n, 1, x.D)
	}
	floats.Add(mean, first)
	return mean
}

// ErrOverflow says that numbers do not reach as far as the data.
var ErrOverflow = fmt.Errorf("scqm: the loss of the data overflows or vanishes at their scale; rescale them: %w", ErrInput)
