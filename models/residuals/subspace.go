package residuals

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// Subspace is a [Function] whose row i is what a subspace leaves of a data row,
//
//	r_i(X) = y_i - X X'y_i,  X the D x d basis of a point of a Grassmann manifold.
//
// Under squared_l2 the fit is the span of the leading principal components of rows that
// are centred at 0, under l2 a robust one: least sum of distances. It has one block,
// "X".
//
// Sources: T. Maunu, T. Zhang, G. Lerman, A well-tempered landscape for non-convex
// robust subspace recovery, JMLR 20 (2019); for the start N. Locantore et al., Robust
// principal component analysis for functional data, Test 8 (1999).
type Subspace struct {
	on   *manifolds.Grassmann
	d    int
	data rows.Data
}

// NewSubspace returns the residuals of rows, which are centred at 0, from subspaces of
// dimension d, at least 1 and below the number of columns. It fails where a row is not
// finite.
func NewSubspace(data rows.Data, d int) (*Subspace, error) {
	if err := checkRows(data); err != nil {
		return nil, err
	}
	if d < 1 || d >= data.D {
		return nil, fmt.Errorf("residuals: a subspace of dimension %d of %d columns; it has to be at least 1 and below: %w", d, data.D, rows.ErrInput)
	}
	return &Subspace{on: manifolds.NewGrassmann(data.D, d), d: d, data: data}, nil
}

// Blocks describes X.
func (s *Subspace) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: s.on}}
}

// Shape is the number of rows and of columns.
func (s *Subspace) Shape() (n, m int) { return s.data.N, s.data.D }

// Start returns the leading principal components of the rows scaled to length 1, which
// outliers move little, however large they are.
func (s *Subspace) Start() framework.Point {
	D := s.data.D
	e := dense.NewSymmetricEigen(D)
	for i := range s.data.N {
		row := s.data.Row(i)
		unit := floats.Norm(row, 2)
		if unit == 0 {
			continue
		}
		for j, v := range row {
			floats.AddScaled(e.A[j*D:(j+1)*D], v/unit/unit, row)
		}
	}
	e.FactorizeOrIdentity()
	x := make([]float64, D*s.d)
	for j := range D {
		for k := range s.d {
			x[j*s.d+k] = e.A[j*D+D-1-k]
		}
	}
	return framework.Point{x}
}

// coordinates writes X'y.
func (s *Subspace) coordinates(dst, x, y []float64) {
	clear(dst)
	for j, v := range y {
		floats.AddScaled(dst, v, x[j*s.d:(j+1)*s.d])
	}
}

// subtract subtracts X t from row.
func (s *Subspace) subtract(row, x, t []float64) {
	for j := range row {
		row[j] -= floats.Dot(x[j*s.d:(j+1)*s.d], t)
	}
}

// subtractOuter subtracts a t' from dst.
func (s *Subspace) subtractOuter(dst, a, t []float64) {
	for j, v := range a {
		floats.AddScaled(dst[j*s.d:(j+1)*s.d], -v, t)
	}
}

// Residuals writes y - X X'y.
func (s *Subspace) Residuals(dst []float64, x framework.Point, from, to int) error {
	t := make([]float64, s.d)
	for i := from; i < to; i++ {
		row := dst[(i-from)*s.data.D : (i-from+1)*s.data.D]
		copy(row, s.data.Row(i))
		s.coordinates(t, x[0], row)
		s.subtract(row, x[0], t)
	}
	return nil
}

// JacobianProduct writes -V X'y - X V'y.
func (s *Subspace) JacobianProduct(dst []float64, x, v framework.Point, from, to int) error {
	t := make([]float64, s.d)
	for i := from; i < to; i++ {
		row := dst[(i-from)*s.data.D : (i-from+1)*s.data.D]
		clear(row)
		s.coordinates(t, x[0], s.data.Row(i))
		s.subtract(row, v[0], t)
		s.coordinates(t, v[0], s.data.Row(i))
		s.subtract(row, x[0], t)
	}
	return nil
}

// AddTransposedProduct adds -g y'X - y g'X.
func (s *Subspace) AddTransposedProduct(dst, x framework.Point, g []float64, from, to int) error {
	t := make([]float64, s.d)
	for i := from; i < to; i++ {
		row := g[(i-from)*s.data.D : (i-from+1)*s.data.D]
		s.coordinates(t, x[0], s.data.Row(i))
		s.subtractOuter(dst[0], row, t)
		s.coordinates(t, x[0], row)
		s.subtractOuter(dst[0], s.data.Row(i), t)
	}
	return nil
}

// AddSecondProduct adds -g y'V - y g'V.
func (s *Subspace) AddSecondProduct(dst, _, v framework.Point, g []float64, from, to int) error {
	return s.AddTransposedProduct(dst, v, g, from, to)
}
