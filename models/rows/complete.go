package rows

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// completionSteps bounds the steps of Complete. completionPrecision is the length of a step at which it ends,
	// relative to the spread of the rows.
	completionSteps     = 100
	completionPrecision = 1e-4
)

// Complete replaces missing entries by predictions, using regularised iterative principal component analysis. It
// starts from the means of columns. Each step finds k principal components of the completed data and predicts the
// missing entries from them. The score along component j is multiplied by (v_j - s)/v_j, with v_j its variance and s
// that of the noise in each remaining direction. Without this factor the components follow their own predictions. A
// step takes as long as [PrincipalComponents].
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

// reliability returns, for every component, the fraction of its variance that is not
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
