package scqm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/losses"
)

// boundedError bounds the squared error of a row, in medians, so that outliers do not dominate the mean.
const boundedError = 100

// hiddenPart is the fraction of the columns hidden at a time, and hiddenOrders the number of random column
// orders; each row uses one of them.
const hiddenPart, hiddenOrders = 1.0 / 3, 12

const (
	// hiddenPlaces is the number of candidate coordinates of a row. Newton's method projects the row from the best
	// candidate, with at most predictSteps steps. It ends at a step of relative length predictPrecision.
	hiddenPlaces     = 100
	predictSteps     = 40
	predictPrecision = 1e-8
)

// filled returns a copy of x with missing entries (NaN) replaced by those of y.
func filled(x, y []float64) []float64 {
	x = slices.Clone(x)
	for k, v := range x {
		if v != v {
			x[k] = y[k]
		}
	}
	return x
}

// heldOutError returns the weighted mean squared error at hidden entries. The error of each row is bounded by
// boundedError medians. Missing entries are imputed by the model first.
func (m *Model) heldOutError(ctx context.Context, x Data, seed uint64, threads int) (float64, error) {
	if x.Missing {
		y, err := m.Project(ctx, x, threads)
		if err != nil {
			return 0, err
		}
		x.X, x.Missing = filled(x.X, y), false
	}
	far, err := m.HiddenErrors(ctx, x, hiddenPart, seed, threads)
	if err != nil {
		return 0, err
	}
	most := boundedError * median(far)
	var sum float64
	for i, v := range far {
		sum += x.Weight(i) * math.Min(v, most)
	}
	return sum / x.TotalWeight(), nil
}

// HiddenErrors returns the sum of squared errors of each row under cross-validation over columns. Random groups B of
// columns, each about the fraction part of all, are predicted from the other columns A:
//
//	f_B(tau),  tau = argmin |x_A - f_A(tau)|^2 + sum_j sigma^2/v_j (tau_j - t_j)^2,
//
// sigma^2 is the noise in each direction off the sheet. t and v are the means and variances of the latent coordinates
// of the training rows, or of x if the model has none. Unlike the distance from the sheet, this error does not fall
// for directions that only fit noise, as noise in A does not predict B. It is not informative for D - d < 3. part
// must be in (0, 1).
//
// Source: S. Wold, Cross-validatory estimation of the number of components in factor and principal components
// models, Technometrics 20 (1978).
func (m *Model) HiddenErrors(ctx context.Context, x Data, part float64, seed uint64, threads int) ([]float64, error) {
	if !(part > 0 && part < 1) {
		return nil, fmt.Errorf("scqm: the part of hidden entries is %v, want a number above 0 and below 1: %w", part, ErrInput)
	}
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	if _, err := m.forComplete(x, "the error at hidden entries"); err != nil {
		return nil, err
	}
	by := *m
	by.Loss, by.Meta = losses.SquaredL2(), Meta{}
	tau, err := by.Transform(ctx, x, threads)
	if err != nil {
		return nil, err
	}
	y, err := by.Reconstruct(ctx, tau, threads)
	if err != nil {
		return nil, err
	}
	if len(m.Tau) > 0 {
		tau = m.Tau
	}
	noise := medianNoise(rowDistances(x, y), m.D, x.N, m.Latent)
	rng := rand.New(rand.NewPCG(seed, 0x6d6978))
	orders := make([][]int, min(hiddenOrders, x.N)) // of the columns; rows take them in turn
	for k := range orders {
		orders[k] = rng.Perm(x.D)
	}
	f, far, parts := m.sheet(), make([]float64, x.N), min(max(2, int(math.Round(1/part))), x.D)
	prior, mean := gaussianPrior(tau, m.Latent, noise)
	places := somePlaces(tau, m.Latent)
	par.Do(par.Threads(threads), par.Shards(x.N), func(_, shard int) {
		lo, hi := par.Bounds(x.N, shard)
		row, code, there := newObservedRow(f, prior, mean), make([]float64, f.Latent), make([]float64, x.D)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			for k := range parts {
				hidden := orders[i%len(orders)][k*x.D/parts : (k+1)*x.D/parts]
				copy(there, x.Row(i))
				for _, j := range hidden {
					there[j] = math.NaN()
				}
				row.load(there)
				row.nearest(code, places, predictSteps, predictPrecision)
				for _, j := range hidden {
					e := row.residual(x.Row(i), j)
					far[i] += e * e
				}
			}
		}
	})
	return far, ctx.Err()
}

// gaussianPrior returns the factors sigma^2/v_j of a Gaussian prior with the means and variances of tau.
func gaussianPrior(tau []float64, d int, sigma float64) (factors, means []float64) {
	factors, means = make([]float64, d), make([]float64, d)
	column := make([]float64, len(tau)/d)
	for j := range d {
		for i := range column {
			column[i] = tau[i*d+j]
		}
		mean, variance := stat.PopMeanVariance(column, nil)
		means[j] = mean
		if v := sigma * sigma / variance; !math.IsNaN(v) && !math.IsInf(v, 0) {
			factors[j] = v
		}
	}
	return factors, means
}

// somePlaces returns about hiddenPlaces rows of tau (n x d), evenly spaced.
func somePlaces(tau []float64, d int) []float64 {
	n := len(tau) / d
	var some []float64
	for i := 0; i < n; i += max(1, n/hiddenPlaces) {
		some = append(some, tau[i*d:(i+1)*d]...)
	}
	return some
}

// medianNoise estimates the noise standard deviation per normal direction of a sheet of dimension d, from the
// median of the distances of n rows of length D.
func medianNoise(distances []float64, D, n, d int) float64 {
	across := max(1, min(D, n-1)-d)
	return median(distances) / math.Sqrt(float64(across))
}

// rowDistances returns the Euclidean distances between corresponding rows of x and y, n x D.
func rowDistances(x Data, y []float64) []float64 {
	list := make([]float64, x.N)
	for i := range list {
		list[i] = floats.Distance(x.Row(i), y[i*x.D:(i+1)*x.D], 2)
	}
	return list
}
