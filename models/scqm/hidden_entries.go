package scqm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
)

// hiddenRows is the number of rows whose entries are predicted to judge curvature, and boundedError bounds the
// squared error of a row, in medians, so that no outlier decides.
const hiddenRows, boundedError = 300, 100

// tellingDirections is the number of directions off a sheet below which hidden entries tell too little.
const tellingDirections = 3

// hiddenPart is the part of the columns that is hidden at a time, and hiddenOrders the number of random orders
// of the columns, of which each row has one.
const hiddenPart, hiddenOrders = 1.0 / 3, 12

// flat is the principal plane of the rows, those far off weighed down.
func (t *screening) flat(d int) *Model {
	c, axes := t.scores.Flat(d)
	m := &Model{D: len(c), Latent: d, C: c, U: make([]float64, len(axes)), Loss: losses.SquaredL2()}
	dense.Transpose(m.U, axes, d, m.D)
	return m
}

// filled returns entries with those of y in place of missing ones.
func filled(x, y []float64) []float64 {
	x = slices.Clone(x)
	for k, v := range x {
		if v != v {
			x[k] = y[k]
		}
	}
	return x
}

// hiddenError is heldOutError of some of the rows of the fit.
func (m *Model) hiddenError(ctx context.Context, x Data, seed uint64) (float64, error) {
	var some []int
	for i := 0; i < x.N; i += max(1, x.N/hiddenRows) {
		some = append(some, i)
	}
	x = x.Select(some)
	by := *m
	by.Tau = nil // the rows are those of the fit
	return by.heldOutError(ctx, x, seed, 1)
}

// heldOutError returns the mean squared error of hidden entries of rows, each bounded so that no outlier
// decides. Entries that are missing are those of the sheet.
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
	most := boundedError * slices.Sorted(slices.Values(far))[x.N/2]
	var sum float64
	for i, v := range far {
		sum += x.Weight(i) * math.Min(v, most)
	}
	return sum / x.TotalWeight(), nil
}

// HiddenErrors returns for each row the sum of the squared errors of its entries, each part of which, of so many
// that one has the given part of the columns, is predicted from the others by the sheet and the
// coordinates of the rows that it was learned from, or of x where the model has none. The columns are dealt
// out at random. Unlike the distance of rows from a sheet, the error falls with no direction that
// follows noise only; it tells little where D - d is below 3. part is above 0 and below 1.
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

// somePlaces returns about as many coordinates as hiddenRows, evenly spread.
func somePlaces(tau []float64, d int) []float64 {
	n := len(tau) / d
	var some []float64
	for i := 0; i < n; i += max(1, n/hiddenRows) {
		some = append(some, tau[i*d:(i+1)*d]...)
	}
	return some
}

// medianNoise is the noise in each direction off a sheet of dimension d, given the distances of n rows
// of length D from it.
func medianNoise(distances []float64, D, n, d int) float64 {
	across := max(1, min(D, n-1)-d)
	return slices.Sorted(slices.Values(distances))[len(distances)/2] / math.Sqrt(float64(across))
}

// rowDistances are those of rows from y, n x D.
func rowDistances(x Data, y []float64) []float64 {
	list := make([]float64, x.N)
	for i := range list {
		list[i] = floats.Distance(x.Row(i), y[i*x.D:(i+1)*x.D], 2)
	}
	return list
}
