package scqm

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// compressionSweeps is the number of sweeps over the data within which a
	// compression must pay for itself.
	compressionSweeps = 50
	// outsideSpan is how far from orthonormal the compressed Q of a start may
	// be.
	outsideSpan = 1e-10
)

// coordinates are others for the rows, in which a fit costs less: those of [rows.Span] and
// [rows.Columns], and of [rows.Rotation] for whole fits.
type coordinates interface {
	Dims() (inside, outside int)
	ShrinkPoint(dst, c []float64)
	ShrinkFrame(dst, q []float64, m int)
	ExpandPoint(dst, c []float64)
	ExpandFrame(dst, q []float64, m int)
}

// shrinkPoint returns a point in the coordinates of the span.
func shrinkPoint(f coordinates, x framework.Point, m int) framework.Point {
	n, _ := f.Dims()
	y := framework.Point{make([]float64, n), make([]float64, n*m), x[BlockTheta], x[BlockTau]}
	f.ShrinkPoint(y[BlockC], x[BlockC])
	f.ShrinkFrame(y[BlockQ], x[BlockQ], m)
	return y
}

// expandPoint is the inverse of shrinkPoint.
func expandPoint(f coordinates, y framework.Point, m int) framework.Point {
	_, D := f.Dims()
	x := framework.Point{make([]float64, D), make([]float64, D*m), y[BlockTheta], y[BlockTau]}
	f.ExpandPoint(x[BlockC], y[BlockC])
	f.ExpandFrame(x[BlockQ], y[BlockQ], m)
	return x
}

// expandCertificate is the same for the gradients of the rows.
func expandCertificate(f coordinates, c objective.Certificate) objective.Certificate {
	n, D := f.Dims()
	rows := len(c.Multipliers) / n
	full := make([]float64, rows*D)
	for i := range rows {
		f.ExpandFrame(full[i*D:(i+1)*D], c.Multipliers[i*n:(i+1)*n], 1)
	}
	return objective.Certificate{Eps: c.Eps, Multipliers: full}
}
