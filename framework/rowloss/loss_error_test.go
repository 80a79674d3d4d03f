package rowloss_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// cliff is the sum of squares with a fault where the residual is 0.
type cliff struct{ value, gradient float64 }

func (cliff) Name() string { return "cliff" }

func (l cliff) Evaluate(values, grad, r []float64, dim int) error {
	for i := range values {
		values[i] = 0
		for k, v := range r[i*dim : (i+1)*dim] {
			values[i] += v * v
			grad[i*dim+k] = 2 * v
			if v == 0 {
				values[i] += l.value
				grad[i*dim+k] += l.gradient
			}
		}
	}
	return nil
}

func TestLossErrorAt(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		loss cliff
		r    []float64
		want string
	}{
		{cliff{}, []float64{3, 0}, ""},
		{cliff{value: nan}, []float64{3, 4}, ""},
		{cliff{value: nan}, []float64{3, 0}, "loss cliff: the value is NaN for a residual of norm 3; "},
		{cliff{gradient: inf}, []float64{0, 4}, "loss cliff: the gradient is +Inf for a residual of norm 4; "},
		{cliff{value: nan}, []float64{1e101, 0}, ""},
		{cliff{value: nan}, []float64{nan, 0}, ""},
	} {
		err := rowloss.LossErrorAt(c.loss, c.r)
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorIs(t, err, framework.ErrNonFinite)
		assert.ErrorContains(t, err, c.want)
	}
}
