package scqm

import (
	"context"
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

// hiddenParts is the number of parts of the columns, each of which is predicted from the others, and
// hiddenOrders that of random orders of the columns, of which
// each row has one.
const hiddenParts, hiddenOrders = 3, 12

// flat is the principal plane of the rows, those far off weighed down.
func (t *trial) flat(d int) *Model {
	c, axes := t.scores.Flat(d)
	m := &Model{D: len(c), Latent: d, C: c, U: make([]float64, len(axes))}
	dense.Transpose(m.U, axes, d, m.D)
	return m
}

// hiddenError returns the mean squared error of entries of rows, each part of which is predicted from
// the others, of some of them, with rows at their nearest points for places; see [entryPredictor].
func (m *Model) hiddenError(ctx context.Context, x Data, seed uint64) (float64, error) {
	var some []int
	for i := 0; i < x.N; i += max(1, x.N/hiddenRows) {
		some = append(some, i)
	}
	x = x.Select(some)
	by := *m
	by.Loss, by.Tau, by.Meta = losses.SquaredL2(), nil, Meta{}
	m = &by
	var err error
	if m.Tau, err = m.Transform(ctx, x, 1); err != nil {
		return 0, err
	}
	y, err := m.Reconstruct(ctx, m.Tau, 1)
	if err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(seed, 0x6d6978))
	noise := medianNoise(rowDistances(x, y), m.D, x.N, m.Latent)
	far := make([]float64, x.N)
	for k := range hiddenOrders { // rows in turn
		var turn []int
		for i := k; i < x.N; i += hiddenOrders {
			turn = append(turn, i)
		}
		errors, p := make([]float64, len(turn)), newEntryPredictor(m, shuffle(rng.Perm(x.D)), hiddenParts, noise)
		if err := p.addErrors(ctx, errors, x.Select(turn), 1); err != nil {
			return 0, err
		}
		for j, i := range turn {
			far[i] = errors[j]
		}
	}
	floats.Mul(far, far)
	most := boundedError * slices.Sorted(slices.Values(far))[x.N/2]
	var sum float64
	for i, v := range far {
		sum += x.Weight(i) * math.Min(v, most)
	}
	return sum / x.TotalWeight(), nil
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
