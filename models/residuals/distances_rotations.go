package residuals

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// turnDistances are logarithms of rotations of space: sqrt(2) times the rotation vector
// of P'X, as long as the distance in the inner product of matrices.
type turnDistances struct {
	on     *manifolds.Rotations
	points rows.Data
}

func newTurnDistances(m *manifolds.Rotations, points rows.Data) turnDistances {
	return turnDistances{m, points}
}

// turnWork holds the temporary arrays of a call.
type turnWork struct {
	m, work [9]float64
	r, u    [3]float64
}

// Blocks describes x.
func (d turnDistances) Blocks() []framework.Block { return block(d.on) }

// Shape is the number of points and 3.
func (d turnDistances) Shape() (n, m int) { return d.points.N, 3 }

// vector leaves the rotation vector of P'X in w.r.
func (d turnDistances) vector(w *turnWork, x []float64, i int) error {
	transposedProduct(w.m[:], d.points.Row(i), x)
	if err := rotationVector(w.r[:], w.m[:], w.work[:]); err != nil {
		return fmt.Errorf("row %d: %w", i, err)
	}
	return nil
}

// Residuals writes scaled rotation vectors.
func (d turnDistances) Residuals(dst []float64, x framework.Point, from, to int) error {
	var w turnWork
	for i := from; i < to; i++ {
		if err := d.vector(&w, x[0], i); err != nil {
			return err
		}
		for k, v := range w.r {
			dst[3*(i-from)+k] = math.Sqrt2 * v
		}
	}
	return nil
}

// JacobianProduct implements [Jacobian].
func (d turnDistances) JacobianProduct(dst []float64, x, v framework.Point, from, to int) error {
	var w turnWork
	var turn [3]float64
	transposedProduct(w.m[:], x[0], v[0])
	axial(turn[:], w.m[:])
	for i := from; i < to; i++ {
		if err := d.vector(&w, x[0], i); err != nil {
			return err
		}
		w.u = turn
		turnSlope(w.u[:], w.r[:], 1)
		for k, u := range w.u {
			dst[3*(i-from)+k] = math.Sqrt2 * u
		}
	}
	return nil
}

// AddTransposedProduct implements [Jacobian].
func (d turnDistances) AddTransposedProduct(dst, x framework.Point, g []float64, from, to int) error {
	var w turnWork
	for i := from; i < to; i++ {
		if err := d.vector(&w, x[0], i); err != nil {
			return err
		}
		for k := range w.u {
			w.u[k] = math.Sqrt2 * g[3*(i-from)+k]
		}
		turnSlope(w.u[:], w.r[:], -1)
		addCross(dst[0], x[0], w.u[:])
	}
	return nil
}
