package rows

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Entries that are missing are NaN in X, and nowhere else: whatever is computed
// from one is NaN again, up to the residual, to which the loss gives no weight
// (losses.IgnoreMissing). A mask beside the numbers would have to follow them
// through every selection, order and batch.

// ObservedOnly returns x, which says that entries can be missing only where some
// are: complete data are what they would be if that had not been asked.
func (x Data) ObservedOnly() Data {
	x.Missing = x.Missing && slices.ContainsFunc(x.X, math.IsNaN)
	return x
}

// Incomplete reports whether entries of a row are missing.
func Incomplete(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) }

// NoneObserved reports whether all entries of a row are missing.
func NoneObserved(row []float64) bool {
	return !slices.ContainsFunc(row, func(v float64) bool { return v == v })
}

// Observed returns the number of entries that are not missing.
func (x Data) Observed() int {
	count := len(x.X)
	if x.Missing {
		for _, v := range x.X {
			if v != v {
				count--
			}
		}
	}
	return count
}

// Norm returns the Euclidean norm of the entries of a row that are not missing.
func Norm(row []float64) float64 {
	length := floats.Norm(row, 2)
	if !math.IsNaN(length) {
		return length
	}
	length = 0
	for _, v := range row {
		if v == v {
			length = math.Hypot(length, v)
		}
	}
	return length
}

// MaxNorm returns the largest magnitude of the entries of a row that are not missing.
func MaxNorm(row []float64) float64 {
	var size float64
	for _, v := range row {
		if v = math.Abs(v); v > size {
			size = v
		}
	}
	return size
}

// validateRows refuses rows without any entry.
func (x Data) validateRows() error {
	if !x.Missing {
		return nil
	}
	for i := range x.N {
		if NoneObserved(x.Row(i)) {
			return fmt.Errorf("scqm: row %d has no entry, all of its %d are missing; leave it out: %w", x.First+i, x.D, ErrInput)
		}
	}
	return nil
}

// ValidateColumns refuses columns without any entry in rows that have weight: a
// fit learns nothing about them.
func (x Data) ValidateColumns() error {
	if !x.Missing {
		return nil
	}
	for j, v := range firstObserved(x) {
		if v != v {
			return fmt.Errorf("scqm: column %d has no entry, all of its %d are missing or in rows of weight 0; leave it out: %w", j, x.N, ErrInput)
		}
	}
	return nil
}

// firstObserved returns the first entry of every column that is not missing, in
// rows that have weight; NaN where there is none.
func firstObserved(x Data) []float64 {
	first := make([]float64, x.D)
	floats.AddConst(math.NaN(), first)
	for i := range x.N {
		if !(x.Weight(i) > 0) {
			continue
		}
		for j, v := range x.Row(i) {
			if first[j] != first[j] {
				first[j] = v
			}
		}
	}
	return first
}

// filledBy returns the data with the entries of a row in place of the missing
// ones, 0 for those that it misses too.
func filledBy(x Data, by []float64) Data {
	y := x
	y.Missing, y.X = false, slices.Clone(x.X)
	for k, v := range y.X {
		if v == v {
			continue
		}
		y.X[k] = by[k%x.D]
		if v = y.X[k]; v != v {
			y.X[k] = 0
		}
	}
	return y
}

// observedMean is Mean over the entries that are not missing. A column without any
// has the mean 0.
func observedMean(x Data) []float64 {
	first, mean, total := firstObserved(x), make([]float64, x.D), make([]float64, x.D)
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v == v {
				total[j] += x.Weight(i)
			}
		}
	}
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v == v && total[j] > 0 {
				mean[j] += x.Weight(i) / total[j] * (v - first[j])
			}
		}
	}
	for j, v := range first {
		if v == v {
			mean[j] += v
		}
	}
	return mean
}

const (
	// completionSteps bounds the steps of Complete, completionPrecision is the
	// length of the last, relative to the spread of the rows.
	completionSteps     = 100
	completionPrecision = 1e-4
)

// Complete returns the data with predictions in place of the missing entries: the
// regularised iterative principal component analysis. Starting from the means of
// columns, each step finds k principal components of the data as completed so far
// and predicts the missing entries from them, with the score along component j
// multiplied by (v_j - s)/v_j, v_j its variance and s that of the noise in each
// direction that is left. Without that factor the components follow entries that
// they have predicted themselves. A step takes as long as [PrincipalComponents].
//
// Source: J. Josse, F. Husson, Handling missing values in exploratory multivariate
// data analysis methods, Journal de la Societe Francaise de Statistique 153 (2012).
func Complete(ctx context.Context, x Data, k, threads int) (Data, error) {
	if !x.Missing {
		return x, nil
	}
	y := filledBy(x, observedMean(x))
	spread := LengthScale(y) * math.Sqrt(float64(x.N))
	prediction, scores := make([]float64, x.D), make([]float64, k)
	for range completionSteps {
		pc, err := PrincipalComponents(ctx, y, k, threads)
		if err != nil {
			return y, err
		}
		factors := pc.reliability(y)
		var moved float64
		for i := range x.N {
			row, at := x.Row(i), y.Row(i)
			if !Incomplete(row) {
				continue
			}
			floats.SubTo(prediction, at, pc.Mean)
			for j := range scores {
				scores[j] = factors[j] * floats.Dot(pc.Axes[j*x.D:(j+1)*x.D], prediction)
			}
			copy(prediction, pc.Mean)
			for j, t := range scores {
				floats.AddScaled(prediction, t, pc.Axes[j*x.D:(j+1)*x.D])
			}
			for j, v := range row {
				if v != v {
					moved = math.Hypot(moved, prediction[j]-at[j])
					at[j] = prediction[j]
				}
			}
		}
		if !(moved > completionPrecision*spread) {
			break
		}
	}
	return y, nil
}

// reliability returns, for every component, the part of its variance that is not
// noise, from 0 to 1.
func (p *Components) reliability(x Data) []float64 {
	k := len(p.Axes) / x.D
	along, diff := make([]float64, k), make([]float64, x.D)
	total, weight := 0.0, x.TotalWeight()
	for i := range x.N {
		floats.SubTo(diff, x.Row(i), p.Mean)
		w := x.Weight(i) / weight
		total += w * floats.Dot(diff, diff)
		for j := range along {
			t := floats.Dot(p.Axes[j*x.D:(j+1)*x.D], diff)
			along[j] += w * t * t
		}
	}
	noise := math.Max(0, total-floats.Sum(along)) / math.Max(1, float64(x.D-k))
	for j, v := range along {
		along[j] = 0
		if v > noise {
			along[j] = (v - noise) / v
		}
	}
	return along
}
