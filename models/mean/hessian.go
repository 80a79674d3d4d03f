package mean

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// factorize computes the Cholesky factor of the Hessian of the cost at c.
func (p *Problem) factorize(c []float64) (*mat.Cholesky, error) {
	h, err := p.hessian(c)
	if err != nil {
		return nil, err
	}
	for k := range p.data.D {
		if !(h.At(k, k) > 0) {
			return nil, fmt.Errorf("mean: nothing holds column %d of the mean in place: %w", k, ErrNoCurvature)
		}
	}
	factor := &mat.Cholesky{}
	if !factor.Factorize(h) || scaledCondition(h) > maxCondition {
		return nil, fmt.Errorf("mean: the rows do not hold the mean in place in every direction: %w", ErrNoCurvature)
	}
	return factor, nil
}

// scaledCondition is the condition number of H after scaling its diagonal to 1.
func scaledCondition(h *mat.SymDense) float64 {
	D := h.SymmetricDim()
	scaled := mat.NewSymDense(D, nil)
	for i := range D {
		for j := i; j < D; j++ {
			scaled.SetSym(i, j, h.At(i, j)/math.Sqrt(h.At(i, i))/math.Sqrt(h.At(j, j)))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(scaled) {
		return math.Inf(1)
	}
	return factor.Cond()
}

// maxCondition is the condition number above which results are rounding errors.
const maxCondition = 1e13

// hessian computes the sum of w_i times the Hessian of the loss at c - x_i.
func (p *Problem) hessian(c []float64) (*mat.SymDense, error) {
	D := p.data.D
	h := mat.NewSymDense(D, nil)
	switch l := p.loss.(type) {
	case framework.Radial:
		return h, p.addRadial(h, c, l)
	case framework.Separable:
		return h, p.addDiagonal(h, c, l)
	case framework.Quadratic:
		total, m := p.data.TotalWeight(), l.Matrix()
		for i := range D {
			for j := i; j < D; j++ {
				h.SetSym(i, j, 2*total*m[i*D+j])
			}
		}
		return h, nil
	default:
		return h, p.addProducts(h, c)
	}
}

// addRadial adds 2 rho' I + 4 rho″ rr' of all rows.
func (p *Problem) addRadial(h *mat.SymDense, c []float64, l framework.Radial) error {
	D := p.data.D
	r, u, one, two := make([]float64, D), make([]float64, 1), make([]float64, 1), make([]float64, 1)
	var diagonal float64
	for i := range p.data.N {
		weight := p.data.Weight(i)
		if weight == 0 {
			continue
		}
		floats.SubTo(r, c, p.data.Row(i))
		u[0] = floats.Dot(r, r)
		l.Rho(nil, one, two, u)
		diagonal += 2 * weight * one[0]
		if two[0] != 0 {
			h.SymRankOne(h, 4*weight*two[0], mat.NewVecDense(D, r))
		}
	}
	for k := range D {
		h.SetSym(k, k, h.At(k, k)+diagonal)
	}
	return p.ctx.Err()
}

func (p *Problem) addDiagonal(h *mat.SymDense, c []float64, l framework.Separable) error {
	D := p.data.D
	r, hessDiag, sum := make([]float64, D), make([]float64, D), make([]float64, D)
	for i := range p.data.N {
		floats.SubTo(r, c, p.data.Row(i))
		l.Phi(nil, nil, hessDiag, r)
		floats.AddScaled(sum, p.data.Weight(i), hessDiag)
	}
	for k, v := range sum {
		h.SetSym(k, k, v)
	}
	return p.ctx.Err()
}

// addProducts computes the Hessians of a loss from its Hessian products, or from differences of its gradients, some
// rows at a time.
func (p *Problem) addProducts(h *mat.SymDense, c []float64) error {
	D, n := p.data.D, p.data.N
	batch := min(n, max(1, productEntries/(D*D)))
	r, v := make([]float64, batch*D*D), make([]float64, batch*D*D)
	for from := 0; from < n; from += batch {
		count := min(batch, n-from)
		used := count * D * D
		clear(v)
		for i := range count {
			for k := range D {
				at := (i*D + k) * D
				floats.SubTo(r[at:at+D], c, p.data.Row(from+i))
				v[at+k] = 1
			}
		}
		if err := p.product(v[:used], r[:used]); err != nil {
			return err
		}
		for i := range count {
			local, weight := v[i*D*D:(i+1)*D*D], p.data.Weight(from+i)
			for k := range D {
				for j := k; weight > 0 && j < D; j++ {
					h.SetSym(k, j, h.At(k, j)+weight*(local[k*D+j]+local[j*D+k])/2)
				}
			}
		}
	}
	return nil
}

// product replaces every row of v by the product of the Hessian of the loss at the corresponding row of r with it.
func (p *Problem) product(v, r []float64) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if err := rowloss.HessianOf(p.loss).HessianProduct(v, r, v, p.data.D); err != nil {
		return fmt.Errorf("mean: loss %s: %w", p.plain.Name(), err)
	}
	return nil
}

// ErrNoCurvature reports a mean at which the loss has no second derivatives, so that its response to changes of the
// data is undefined.
var ErrNoCurvature = errors.New("no second derivatives at the mean")
