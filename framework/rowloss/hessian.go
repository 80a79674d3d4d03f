package rowloss

import (
	"math"

	"github.com/scqm/scqm/framework"
)

// HessianOf returns the loss itself if it offers second derivatives, otherwise an approximation by central
// differences of its gradient, with a relative error of about 1e-10.
func HessianOf(l framework.Loss) framework.SecondOrder {
	if s, ok := l.(framework.SecondOrder); ok {
		return s
	}
	return differences{l}
}

// differences approximates Hessian-vector products of a loss.
type differences struct{ loss framework.Loss }

// cubeRootEps balances rounding and truncation of a central difference.
const cubeRootEps = 6.055454452393343e-06

// HessianProduct implements SecondOrder.
func (a differences) HessianProduct(dst, r, v []float64, dim int) error {
	n := len(r) / dim
	plus, minus := make([]float64, len(r)), make([]float64, len(r))
	step := make([]float64, n)
	for i := range n {
		var size, length float64
		for k := i * dim; k < (i+1)*dim; k++ {
			size, length = math.Max(size, math.Abs(r[k])), math.Max(length, math.Abs(v[k]))
		}
		if length == 0 {
			continue
		}
		if size == 0 {
			size = 1
		}
		step[i] = cubeRootEps * size / length
		for k := i * dim; k < (i+1)*dim; k++ {
			plus[k], minus[k] = r[k]+step[i]*v[k], r[k]-step[i]*v[k]
		}
	}
	if err := a.loss.Evaluate(nil, plus, plus, dim); err != nil {
		return err
	}
	if err := a.loss.Evaluate(nil, minus, minus, dim); err != nil {
		return err
	}
	for i, h := range step {
		for k := i * dim; k < (i+1)*dim; k++ {
			dst[k] = 0
			if h > 0 {
				dst[k] = (plus[k] - minus[k]) / (2 * h)
			}
		}
	}
	return nil
}
