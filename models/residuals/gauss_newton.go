package residuals

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// GaussNewtonProduct implements framework.GaussNewton: J'WJ v with the weights of the majorizer of the loss, or with
// its second derivatives if it has no weights.
func (p *problem) GaussNewtonProduct(dst, x, v framework.Point) error {
	if err := p.differentiateAt(x); err != nil {
		return err
	}
	return p.sum(dst, func(s, lo, hi int) error {
		u := p.change[lo*p.m : hi*p.m]
		if err := p.jacobian.JacobianProduct(u, x, v, lo, hi); err != nil {
			return err
		}
		if err := p.weigh(u, lo, hi); err != nil {
			return p.lossError(err)
		}
		p.scaleRows(u, lo)
		return p.jacobian.AddTransposedProduct(p.sums[s], x, u, lo, hi)
	})
}

// weigh multiplies the rows of u, those of a shard, by W.
func (p *problem) weigh(u []float64, lo, hi int) error {
	r := p.r[lo*p.m : hi*p.m]
	majorizer, ok := p.loss.(framework.Majorizer)
	if !ok {
		return rowloss.HessianOf(p.loss).HessianProduct(u, r, u, p.m)
	}
	_, radial := p.loss.(framework.Radial)
	w := p.g[lo*p.m : hi*p.m]
	if radial {
		w = p.values[lo:hi]
	}
	if err := majorizer.Weights(w, r, p.m); err != nil {
		return err
	}
	for i := range u {
		if radial {
			u[i] *= w[i/p.m]
		} else {
			u[i] *= w[i]
		}
	}
	return nil
}

// addLossHessian adds w_i J_i' H_i J_i v over the rows of a shard to its sums.
func (p *problem) addLossHessian(x, v framework.Point, s, lo, hi int) error {
	u := p.change[lo*p.m : hi*p.m]
	if err := p.jacobian.JacobianProduct(u, x, v, lo, hi); err != nil {
		return err
	}
	if err := rowloss.HessianOf(p.loss).HessianProduct(u, p.r[lo*p.m:hi*p.m], u, p.m); err != nil {
		return p.lossError(err)
	}
	p.scaleRows(u, lo)
	return p.jacobian.AddTransposedProduct(p.sums[s], x, u, lo, hi)
}
