package planes

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
)

const (
	// planeRows bounds the rows used for components and planes, SampleRows those used for tests and slopes.
	planeRows, SampleRows = 400, 2000
	// offPlane bounds the number of scores off the plane that a test uses.
	offPlane = 20
	// rankVariance is the variance of a component, relative to the first, below which it is dropped.
	rankVariance = 1e-8
	// nearRows is a bound on the squared distance of a row from the leading components, in medians. Rows beyond it are
	// downweighted. reweightings is the number of reweighting iterations.
	nearRows, reweightings = 4, 3
)

// Scores are the whitened principal scores of a sample of rows, with respect to robust components in which
// outliers are downweighted.
type Scores struct {
	sample  rows.Data // the rows, at most about SampleRows
	mean    []float64 // D
	axes    []float64 // k x D, orthonormal
	scale   []float64 // k: standard deviations along the axes
	y       []float64 // n x k: whitened scores of the sample
	weights []float64 // n, of mean 1: the given weights
	k       int
	few     []int     // the rows of the sample from which planes are found
	shares  []float64 // of few, of sum 1: robust weights
}

// New computes the scores of a sample along its leading components: d + s of them, for a sheet with d latent
// dimensions and s directions of curvature, or as many as the tests use, if those are more. The rows must have no
// missing entries. New returns nil if they span no more than d dimensions.
func New(ctx context.Context, sample rows.Data, d, s int) (*Scores, error) {
	sample = Sample(sample)
	few := evenly(sample, planeRows)
	if len(few) == 0 {
		return nil, nil
	}
	k := min(max(d+s, d+offPlane), sample.D, max(1, len(few)-1))
	pc, shares, err := components(ctx, sample.Select(few), k, d+s)
	if err != nil {
		return nil, err
	}
	floats.Scale(1/float64(len(few)), shares)
	scores := &Scores{sample: sample, mean: pc.Mean, k: k, few: few, shares: shares, weights: rows.Shares(sample.Weights, sample.N)}
	if !scores.whiten(pc.Axes) || scores.k <= d {
		return nil, nil
	}
	return scores, nil
}

// Sample returns at most SampleRows rows of positive weight, evenly spread; x itself if it has no others.
func Sample(x rows.Data) rows.Data {
	if list := evenly(x, SampleRows); len(list) < x.N {
		return x.Select(list)
	}
	return x
}

// Order lists the rows by their distance from the mean; ties are ordered by their entries.
func Order(x rows.Data) []int {
	if x.N == 0 {
		return nil
	}
	squares, order := make([]float64, x.N), make([]int, x.N)
	x.EachSquare(rows.Mean(x), func(i int, square float64) { squares[i], order[i] = square, i })
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(squares[i], squares[j]), slices.Compare(x.Row(i), x.Row(j)))
	})
	return order
}

// evenly lists at most count row numbers of positive weight, evenly spaced.
func evenly(x rows.Data, count int) []int {
	var all []int
	for i := range x.N {
		if x.Weight(i) > 0 {
			all = append(all, i)
		}
	}
	if len(all) <= count {
		return all
	}
	list := make([]int, count)
	for k := range list {
		list[k] = all[k*len(all)/count]
	}
	return list
}

// components returns the leading k principal components of rows, and robust weights of mean 1 that downweight rows
// far from the leading m components. For rows with many columns the components are searched in the span of the
// leading 2k unweighted ones.
func components(ctx context.Context, given rows.Data, k, m int) (*rows.Components, []float64, error) {
	y, off, squares := given, make([]float64, given.N), make([]float64, given.N)
	var wide *rows.Components
	if all := 2 * k; given.D > all {
		var err error
		if wide, err = rows.PrincipalComponents(ctx, given, all, 1); err != nil {
			return nil, nil, err
		}
		y.D, y.X = all, make([]float64, given.N*all)
		given.EachProduct(wide.Mean, wide.Axes, off, func(i int, z []float64) {
			copy(y.Row(i), z)
			off[i] -= dense.Dot(z, z)
		})
	}
	for x, round := y, 0; ; round++ {
		pc, err := rows.PrincipalComponents(ctx, x, k, 1)
		if err != nil {
			return nil, nil, err
		}
		if round == reweightings || m >= min(k+1, given.D) {
			if given.Weights = x.Weights; wide != nil {
				axes := make([]float64, k*given.D)
				dense.AddRowProduct(axes, pc.Axes, wide.Axes, k, x.D, given.D)
				pc = &rows.Components{Mean: rows.Mean(given), Axes: axes}
			}
			return pc, rows.Shares(x.Weights, x.N), nil
		}
		x.EachProduct(pc.Mean, pc.Axes[:m*x.D], squares, func(i int, z []float64) { squares[i] += off[i] - dense.Dot(z, z) })
		x = Near(y, squares)
	}
}

// Near returns the rows with outliers downweighted. A row beyond nearRows medians of the given squared distances is
// weighted by the square of the ratio.
func Near(x rows.Data, squares []float64) rows.Data {
	if x.N == 0 {
		return x
	}
	near := nearRows * slices.Sorted(slices.Values(squares))[x.N/2]
	if !(near > 0) {
		return x
	}
	weights := make([]float64, x.N)
	for i, v := range squares {
		weights[i] = x.Weight(i)
		if v > near { // squares of differences may round below 0
			weights[i] *= (near / v) * (near / v)
		}
	}
	x.Weights = weights
	return x
}

// whiten computes axes and whitened scores. The scores of the rows few have mean 0 and covariance I. It returns false
// if they do not vary.
func (s *Scores) whiten(axes []float64) bool {
	n, D := s.sample.N, s.sample.D
	z := make([]float64, n*s.k)
	s.sample.EachProduct(s.mean, axes, nil, func(i int, p []float64) { copy(z[i*s.k:], p) })
	centre := make([]float64, s.k)
	for j, i := range s.few {
		floats.AddScaled(centre, s.shares[j], z[i*s.k:(i+1)*s.k])
	}
	e := dense.NewSymmetricEigen(s.k)
	for i := range n {
		floats.Sub(z[i*s.k:(i+1)*s.k], centre)
	}
	for j, i := range s.few {
		row := z[i*s.k : (i+1)*s.k]
		for a, v := range row {
			floats.AddScaled(e.A[a*s.k:(a+1)*s.k], s.shares[j]*v, row)
		}
	}
	if !e.Factorize() || !(e.Values[s.k-1] > 0) {
		return false
	}
	rank := 0
	for rank < s.k && e.Values[s.k-1-rank] > rankVariance*e.Values[s.k-1] {
		rank++
	}
	turn := make([]float64, s.k*rank) // columns by descending variance
	s.scale = make([]float64, rank)
	for a := range rank {
		s.scale[a] = math.Sqrt(e.Values[s.k-1-a])
		for i := range s.k {
			turn[i*rank+a] = e.A[i*s.k+s.k-1-a]
		}
	}
	s.axes, s.y = make([]float64, rank*D), make([]float64, n*rank)
	dense.AddProduct(s.axes, turn, axes, s.k, rank, D)
	dense.AddRowProduct(s.y, z, turn, n, s.k, rank)
	for i := range s.y {
		s.y[i] /= s.scale[i%rank]
	}
	s.k = rank
	return true
}

// Plane is a plane of the scores with axes off it, a start for a sheet.
type Plane struct {
	// Squares is the residual sum of squares of its regression.
	Squares float64
	// Principal reports whether the plane is that of the leading components.
	Principal bool

	turn []float64 // k x k, orthonormal rows: the first d span the plane
	d    int
}

// Flat returns the robust mean of the rows and their first d principal axes, which define a flat sheet.
func (s *Scores) Flat(d int) (mean, axes []float64) { return s.mean, s.axes[:d*s.sample.D] }

// Axes returns m axes of R^D as rows. The first d span the plane; the next are the directions off the plane in which
// the regression has the most curvature.
func (s *Scores) Axes(p *Plane, m int) []float64 {
	s.orient(p)
	D, have := s.sample.D, min(m, s.k)
	axes := make([]float64, m*D)
	dense.AddRowProduct(axes[:have*D], p.turn[:have*s.k], s.axes, have, s.k, D)
	dense.OrthonormalizeRows(axes[:have*D], D)
	dense.CompleteRows(axes, have, D)
	return axes
}
