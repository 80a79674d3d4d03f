package scqm

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// compressionSweeps is the number of passes over the data within which a compression must save its own cost.
	compressionSweeps = 50
	// outsideSpan is the largest allowed deviation from orthonormality of the compressed Q of a start.
	outsideSpan = 1e-10
)

// shrinkPoint maps a point to the coordinates of the span of the rows.
func shrinkPoint(f *rows.Span, x framework.Point, m int) framework.Point {
	n, _ := f.Dims()
	y := framework.Point{make([]float64, n), make([]float64, n*m), x[BlockTheta], x[BlockTau]}
	f.ShrinkPoint(y[BlockC], x[BlockC])
	f.ShrinkFrame(y[BlockQ], x[BlockQ], m)
	return y
}

// coordinates is a change of coordinates of R^D, or coordinates of a subspace.
type coordinates interface {
	ExpandPoint(dst, c []float64)
	ExpandFrame(dst, q []float64, m int)
}

// expandPoint maps a point back to R^D.
func expandPoint(f coordinates, y framework.Point, D, m int) framework.Point {
	x := framework.Point{make([]float64, D), make([]float64, D*m), y[BlockTheta], y[BlockTau]}
	f.ExpandPoint(x[BlockC], y[BlockC])
	f.ExpandFrame(x[BlockQ], y[BlockQ], m)
	return x
}

// expandCertificate maps the multipliers of the rows back to R^D.
func expandCertificate(f *rows.Span, c objective.Certificate) objective.Certificate {
	n, D := f.Dims()
	rows := len(c.Multipliers) / n
	full := make([]float64, rows*D)
	for i := range rows {
		f.ExpandFrame(full[i*D:(i+1)*D], c.Multipliers[i*n:(i+1)*n], 1)
	}
	return objective.Certificate{Eps: c.Eps, Multipliers: full}
}
