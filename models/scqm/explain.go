package scqm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/planes"
)

// explainedColumns is the number of columns up to which a model stores the mean of its rows.
const explainedColumns = 1 << 16

// explain records the mean of the rows, the fractions of their variance explained by the coordinates and by the
// sheet, and the distances of the rows from the sheet. It reads the rows three times.
func (f *Fit) explain(ctx context.Context, x Data) {
	if f == nil || x.D > explainedColumns || len(f.Model.Tau) != x.N*f.Model.Latent {
		return
	}
	m := f.Model
	tau := Data{N: x.N, D: m.Latent, X: m.Tau, Weights: x.Weights}
	if slices.Contains(x.Weights, 0) { // rows that may be of any size
		counted := countedRows(x)
		x, tau = x.Select(counted), tau.Select(counted)
	}
	mean, centre := rows.Mean(x), rows.Mean(tau)
	total := floats.Sum(columnVariances(x, mean))
	explained := columnVariances(tau, centre)
	for j := range explained {
		explained[j] /= total
	}
	if !(total > 0) || !finite(mean) || !finite(explained) {
		return
	}
	m.Meta.Mean, m.Meta.Explained = mean, explained
	r2, far := m.determination(x, tau, mean)
	if math.IsNaN(r2) || math.IsInf(r2, 0) {
		return
	}
	m.Meta.R2 = &r2
	for i, v := range far {
		far[i] = math.Cbrt(v * v) // about normal
	}
	middle := median(far)
	for i, v := range far {
		far[i] = math.Abs(v - middle)
	}
	m.Meta.Distances = []float64{middle, normalMAD * median(far)}
	if s := m.Curvature; !x.Missing {
		if m.Meta.Linear {
			s = 0
		}
		m.Meta.R2PCA = pcaR2(ctx, planes.Sample(x), m.Latent, m.Latent+s)
	}
}

// normalMAD is the ratio of the standard deviation of a normal variable to its median absolute deviation.
const normalMAD = 1.4826

func median(v []float64) float64 { return dense.Select(slices.Clone(v), len(v)/2) }

// determination returns the distances of the rows from the sheet, and R2: 1 minus the sum of squared residuals over
// the sum of squared distances from the mean. Both sums skip missing entries. The distance of a row with missing
// entries is the root mean square of its other residuals times the root of D.
func (m *Model) determination(x, tau Data, mean []float64) (r2 float64, far []float64) {
	f := m.sheet()
	z, phi, r := make([]float64, f.M), make([]float64, f.Q), make([]float64, x.D)
	var left, all float64
	far = make([]float64, x.N)
	for i := range far {
		f.Coordinates(z, phi, tau.Row(i))
		f.Residual(r, z, x.Row(i))
		var squares float64
		count := x.D
		for j, v := range x.Row(i) {
			if v != v {
				count--
				continue
			}
			squares += r[j] * r[j]
			all += x.Weight(i) * (v - mean[j]) * (v - mean[j])
		}
		left += x.Weight(i) * squares
		far[i] = math.Sqrt(squares * float64(x.D) / float64(max(count, 1)))
	}
	return 1 - left/all, far
}

// pcaR2 returns R2 of the given number of principal components, for complete rows.
func pcaR2(ctx context.Context, x Data, counts ...int) []float64 {
	most := min(slices.Max(counts), x.D)
	p, err := rows.PrincipalComponents(ctx, x, most, 1)
	if err != nil {
		return nil
	}
	explained, squares := make([]float64, most), make([]float64, x.N)
	var all float64
	x.EachProduct(p.Mean, p.Axes, squares, func(i int, products []float64) {
		all += x.Weight(i) * squares[i]
		for k, v := range products {
			explained[k] += x.Weight(i) * v * v
		}
	})
	list := make([]float64, len(counts))
	for k, count := range counts {
		list[k] = floats.Sum(explained[:min(count, most)]) / all
	}
	if !finite(list) {
		return nil
	}
	return list
}

// countedRows lists the rows of positive weight.
func countedRows(x Data) []int {
	var list []int
	for i := range x.N {
		if x.Weight(i) > 0 {
			list = append(list, i)
		}
	}
	return list
}

func finite(v []float64) bool { return !math.IsInf(floats.Sum(v), 0) && !floats.HasNaN(v) }

// columnVariances returns the weighted variances of the columns, without missing entries.
func columnVariances(x Data, mean []float64) []float64 {
	out, sum, far := make([]float64, x.D), make([]float64, x.D), make([]float64, x.D)
	for i := range x.N {
		w := x.Weight(i)
		floats.SubTo(far, x.Row(i), mean)
		for j, v := range far {
			if v == v {
				out[j] += w * v * v
				sum[j] += w
			}
		}
	}
	for j, s := range sum {
		if s > 0 {
			out[j] /= s
		}
	}
	return out
}

// OutlyingDistance returns the distance from the sheet that one in a hundred regular rows exceeds, 0 if the fit
// stored no distances. It uses that the distances of the rows to the power 2/3 are approximately normal.
//
// Source: M. Hubert, P. Rousseeuw and K. Vanden Branden, ROBPCA, Technometrics 47 (2005).
func (m *Model) OutlyingDistance() float64 {
	const upper = 2.3263478740408408 // normal quantile of .99
	if len(m.Meta.Distances) == 0 {
		return 0
	}
	return math.Pow(m.Meta.Distances[0]+upper*m.Meta.Distances[1], 1.5)
}
