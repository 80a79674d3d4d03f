package scqm

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/scqm/scqm/internal/memory"
)

// merged are data in which every row occurs once, with the weights of its
// copies added up, and rows of weight zero do not occur. The objective is the
// same function of c, Q and Theta: equal rows have equal nearest points. So a
// row of weight 2 and the row given twice make fits that agree to the last bit,
// for which the rows are sorted.
type merged struct {
	data Data
	from Data
	// row is, for every row of from, its number in data; -1 for weight zero.
	row []int
}

// merge returns nil where all rows are distinct and have weights, at the cost
// of one hash per row.
func merge(x Data) (*merged, *memory.Reservation, error) {
	held, err := reserveHashes(x)
	if err != nil {
		return nil, nil, err
	}
	needed := x.hasZeroWeight() || repeats(x)
	held.Release()
	if !needed {
		return nil, nil, nil
	}
	if held, err = reserveMerge(x); err != nil {
		return nil, nil, err
	}
	return newMerged(x), held, nil
}

func newMerged(x Data) *merged {
	order := make([]int, 0, x.N)
	for i := range x.N {
		if x.weight(i) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return slices.Compare(x.Row(i), x.Row(j)) })
	m := &merged{from: x, data: Data{D: x.D}, row: make([]int, x.N)}
	for i := range m.row {
		m.row[i] = -1
	}
	distinct := 0
	for k, i := range order {
		if k == 0 || !slices.Equal(x.Row(i), x.Row(order[k-1])) {
			distinct++
		}
	}
	m.data.X, m.data.Weights = make([]float64, 0, distinct*x.D), make([]float64, 0, distinct)
	for k, i := range order {
		if k == 0 || !slices.Equal(x.Row(i), x.Row(order[k-1])) {
			m.data.X = append(m.data.X, x.Row(i)...)
			m.data.Weights = append(m.data.Weights, 0)
			m.data.N++
		}
		m.row[i] = m.data.N - 1
		m.data.Weights[m.data.N-1] += x.weight(i)
	}
	return m
}

func (x Data) hasZeroWeight() bool { return slices.Contains(x.Weights, 0) }

// repeats reports whether two rows have the same hash, as equal ones have.
func repeats(x Data) bool {
	hashes := make([]uint64, x.N)
	for i := range hashes {
		h := uint64(0x9e3779b97f4a7c15)
		for _, v := range x.Row(i) {
			// Adding 0 makes the two zeros one.
			h = (h ^ math.Float64bits(v+0)) * 0xff51afd7ed558ccd
			h ^= h >> 32
		}
		hashes[i] = h
	}
	slices.Sort(hashes)
	return len(slices.Compact(hashes)) < x.N
}

// learn fits the merged data and gives every row of the data its coordinates.
func (m *merged) learn(ctx context.Context, c Config) (*Fit, error) {
	fit, err := learnDistinct(ctx, m.data, c)
	if fault := (*lossFault)(nil); errors.As(err, &fault) {
		fault.row = slices.Index(m.row, fault.row)
	}
	if fit == nil {
		return nil, err
	}
	d, model := fit.Model.Latent, fit.Model
	tau, weightless := make([]float64, m.from.N*d), []int(nil)
	for i, k := range m.row {
		if k < 0 {
			weightless = append(weightless, i)
			continue
		}
		copy(tau[i*d:(i+1)*d], model.Tau[k*d:])
	}
	model.Tau = tau
	model.Meta.N = m.from.N
	if kkt := model.Meta.KKT; kkt != nil {
		share := float64(m.data.N) / float64(m.from.N)
		*kkt = KKT{C: kkt.C * share, Q: kkt.Q * share, Theta: kkt.Theta * share, Tau: kkt.Tau * share}
	}
	if err != nil || ctx.Err() != nil {
		return fit, err
	}
	return fit, m.project(ctx, model, weightless, c.Threads)
}

// project gives rows of weight zero the coordinates of their projections.
func (m *merged) project(ctx context.Context, model *Model, rows []int, threads int) error {
	if len(rows) == 0 {
		return nil
	}
	x := Data{N: len(rows), D: m.from.D}
	for _, i := range rows {
		x.X = append(x.X, m.from.Row(i)...)
	}
	tau, err := model.Transform(ctx, x, threads)
	if err != nil {
		return err
	}
	for k, i := range rows {
		copy(model.Tau[i*model.Latent:(i+1)*model.Latent], tau[k*model.Latent:])
	}
	return nil
}
