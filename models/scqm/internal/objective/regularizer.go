package objective

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Regularizer is the curvature penalty, the term of the objective in addition to the losses:
//
//	Lambda sum_k |A_k|_F^2.
//
// Off-diagonal entries of Theta are twice those of A_k, and each stands for two. The penalty is a function of Theta
// alone, and its Hessian is diagonal.
type Regularizer struct {
	// Lambda is the factor of the penalty, in the unit of the cost.
	Lambda float64
	// MaxPenalty bounds the penalty of a least-squares Theta; 0 for no bound.
	MaxPenalty float64
}

// Regularized converts the scale-free ridge to the penalty for rows with a given total weight and mean squared
// distance from their mean, given the cost of the flat start. The penalty of a least-squares Theta is at most this
// cost.
func Regularized(ridge, flat, weight, spread float64) (Regularizer, error) {
	r := Regularizer{Lambda: ridge * flat / weight * spread, MaxPenalty: flat}
	if math.IsInf(r.Lambda, 0) || math.IsNaN(r.Lambda) {
		return r, fmt.Errorf("scqm: the ridge overflows at the scale of the data; rescale them: %w", rows.ErrInput)
	}
	return r, nil
}

// PenaltyWeight returns the penalty of a unit entry in row a of Theta. It is half of the second derivative.
func (r Regularizer) PenaltyWeight(f sheet.Shape, a int) float64 {
	return r.Lambda * sheet.VechWeight(f.Latent, a)
}

// PenaltyOf returns the penalty of Theta and adds its gradient, where that is not nil.
func (r Regularizer) PenaltyOf(f sheet.Shape, grad, theta []float64) float64 {
	if r.Lambda == 0 {
		return 0
	}
	var sum float64
	for a := range f.Q {
		u := r.PenaltyWeight(f, a)
		for k := range f.S {
			t := theta[a*f.S+k]
			sum += float64(u * t * t)
			if grad != nil {
				grad[a*f.S+k] += float64(2 * u * t)
			}
		}
	}
	return sum
}

// AddPenaltyHessian adds the second derivatives of the penalty to a matrix h with rows of n numbers. The entries of
// Theta are the rows and columns of h that begin with number from.
func (r Regularizer) AddPenaltyHessian(f sheet.Shape, h []float64, n, from int) {
	for i := range f.Q * f.S {
		h[(from+i)*n+from+i] += 2 * r.PenaltyWeight(f, i/f.S)
	}
}

// AddPenaltyProduct adds the Hessian of the penalty times v to dst. For v = Theta this product is the gradient.
func (r Regularizer) AddPenaltyProduct(f sheet.Shape, dst, v []float64) {
	for i := range f.Q * f.S {
		dst[i] += 2 * r.PenaltyWeight(f, i/f.S) * v[i]
	}
}

// Exceeds reports whether a penalty is above MaxPenalty.
func (r Regularizer) Exceeds(penalty float64) bool { return r.MaxPenalty > 0 && penalty > r.MaxPenalty }

// Penalty returns the penalty of Theta and adds its gradient.
func (p *Objective) Penalty(grad framework.Point, theta []float64) float64 {
	var slope []float64
	if grad != nil {
		slope = grad[BlockTheta]
	}
	return p.PenaltyOf(p.sheet.Shape, slope, theta)
}
