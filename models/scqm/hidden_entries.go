package scqm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
)

// hiddenRows is the number of rows whose hidden entries are predicted. The squared error of a row counts up to
// boundedError times the median, so that outliers do not dominate.
const hiddenRows, boundedError = 300, 100

// hiddenPart is the fraction of the columns hidden at a time, and hiddenOrders the number of random column
// orders; each row uses one of them.
const hiddenPart, hiddenOrders = 1.0 / 3, 12

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

// heldOutError returns the weighted mean squared error of hidden entries, each row's bounded by boundedError
// medians. Missing entries are imputed by the model first.
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

// HiddenErrors returns for each row the sum of squared errors of its entries under cross-validation over
// columns: random groups of columns, each about the given part of all, are predicted from the rest by the sheet
// with the latent coordinates of the training rows, or of x where the model has none. Unlike the distance from
// the sheet, it does not fall for directions that only follow noise; it is not informative for D - d < 3. part
// must be in (0, 1).
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
	if by.Tau = somePlaces(m.Tau, m.Latent); len(by.Tau) == 0 {
		by.Tau = tau
	}
	noise := medianNoise(rowDistances(x, y), m.D, x.N, m.Latent)
	rng := rand.New(rand.NewPCG(seed, 0x6d6978))
	far := make([]float64, x.N)
	for k := range min(hiddenOrders, x.N) { // rows in turn
		var turn []int
		for i := k; i < x.N; i += hiddenOrders {
			turn = append(turn, i)
		}
		errors, p := make([]float64, len(turn)), newEntryPredictor(&by, rng.Perm(x.D), max(2, int(math.Round(1/part))), noise)
		if err := p.addErrors(ctx, errors, x.Select(turn), threads); err != nil {
			return nil, err
		}
		for j, i := range turn {
			far[i] = errors[j] * errors[j]
		}
	}
	return far, nil
}

// somePlaces returns about hiddenRows of the latent coordinates tau, n x d, evenly spaced.
func somePlaces(tau []float64, d int) []float64 {
	n := len(tau) / d
	var some []float64
	for i := 0; i < n; i += max(1, n/hiddenRows) {
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

// rowDistances returns the Euclidean distances of the rows of x from those of y, n x D.
func rowDistances(x Data, y []float64) []float64 {
	list := make([]float64, x.N)
	for i := range list {
		list[i] = floats.Distance(x.Row(i), y[i*x.D:(i+1)*x.D], 2)
	}
	return list
}
