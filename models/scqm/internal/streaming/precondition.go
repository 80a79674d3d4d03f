package streaming

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// flatProblem is the fit of a flat sheet to a stream, with a preconditioner: the inverse of
//
//	kappa M (x) I,  M = sum_i w_i (1, tau_i) (1, tau_i)',
//
// for (c, Q), the Hessian at fixed tau were the loss the square of entries with the second derivative
// kappa. That is the slope of the loss by the size of a residual whose entries all have the mean
// loss. M comes with every gradient, so that no row is read for it.
type flatProblem struct {
	*Problem
	factor []float64 // of kappa M, 1+d x 1+d
	right  []float64 // 1+d x D
}

// conditioned returns the problem for the solver, with a preconditioner for flat sheets.
func (p *Problem) conditioned() framework.Problem {
	if p.shape.S > 0 {
		return p
	}
	return &flatProblem{Problem: p}
}

// BuildPreconditioner implements [framework.Preconditioner]. Where the rows have no spread along an axis
// it is the identity.
func (p *flatProblem) BuildPreconditioner(x framework.Point) (passes float64, err error) {
	o, err := p.firstOrder(x)
	if err != nil {
		return 0, err
	}
	kappa, err := p.bend(o.Cost / o.Weight)
	if err != nil {
		return 0, err
	}
	d := p.shape.Latent
	n := 1 + d
	if p.factor == nil {
		p.factor, p.right = make([]float64, n*n), make([]float64, n*p.shape.D)
	}
	p.factor[0] = o.Weight
	for j := range d {
		p.factor[(1+j)*n] = o.TauSum[j]
		copy(p.factor[(1+j)*n+1:(2+j)*n], o.TauSquares[j*d:(j+1)*d])
	}
	floats.Scale(kappa, p.factor)
	if !dense.FactorCholesky(p.factor, n, 0, flatPivot) {
		clear(p.factor)
		for j := range n {
			p.factor[j*n+j] = 1
		}
	}
	return 0, nil
}

// flatPivot is the pivot, relative to the diagonal entry of M, below which it counts as 0.
const flatPivot = 1e-12

// Precondition implements [framework.Preconditioner].
func (p *flatProblem) Precondition(dst, v framework.Point) {
	D, n := p.shape.D, 1+p.shape.Latent
	copy(p.right[:D], v[objective.BlockC])
	dense.Transpose(p.right[D:], v[objective.BlockQ], D, n-1)
	dense.SolveCholeskyRows(p.right, p.factor, n, D)
	copy(dst[objective.BlockC], p.right[:D])
	dense.Transpose(dst[objective.BlockQ], p.right[D:], n-1, D)
	copy(dst[objective.BlockTheta], v[objective.BlockTheta])
}

// bendSteps is the number of bisections for a residual with the mean loss.
const bendSteps = 60

// bend returns kappa for a mean loss.
func (p *flatProblem) bend(mean float64) (float64, error) {
	loss, D := p.rounded(), p.shape.D
	r, g := make([]float64, D), make([]float64, D)
	at := func(size float64) (value float64, err error) {
		for k := range r {
			r[k] = size
		}
		var values [1]float64
		err = loss.Evaluate(values[:], g, r, D)
		return values[0], err
	}
	low, high := 0.0, math.Sqrt(p.spread)
	for range bendSteps {
		middle := (low + high) / 2
		value, err := at(middle)
		if err != nil {
			return 0, err
		}
		if value < mean {
			low = middle
		} else {
			high = middle
		}
	}
	if _, err := at(high); err != nil {
		return 0, err
	}
	if kappa := floats.Norm(g, 2) / floats.Norm(r, 2); kappa > 0 && !math.IsInf(kappa, 0) {
		return kappa, nil
	}
	return 1, nil
}

// SmoothingScale is 0 where the gradient of the loss does not jump: then only projections smooth the loss.
func (p *flatProblem) SmoothingScale(x framework.Point) (float64, error) {
	if p.scale == 0 {
		return 0, nil
	}
	jumps, err := objective.Jumps(p.loss, p.shape.D, p.scale)
	if err != nil || !jumps {
		return 0, err
	}
	return p.scale, nil
}
