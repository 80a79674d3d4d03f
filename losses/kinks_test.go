package losses_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/losses"
)

// bare hides all of a loss but its two methods.
type bare struct{ loss framework.Loss }

func (b bare) Name() string { return b.loss.Name() }

func (b bare) Evaluate(values, grad, r []float64, dim int) error {
	return b.loss.Evaluate(values, grad, r, dim)
}

// byRow is the loss of a function of a row that writes the gradient.
type byRow func(grad, row []float64) float64

func (byRow) Name() string { return "by_row" }

func (f byRow) Evaluate(values, grad, r []float64, dim int) error {
	g := make([]float64, dim)
	for i := range len(r) / dim {
		clear(g)
		v := f(g, r[i*dim:(i+1)*dim])
		if values != nil {
			values[i] = v
		}
		if grad != nil {
			copy(grad[i*dim:], g)
		}
	}
	return nil
}

// insensitive is sum_k max(|r_k| - 1, 0), largest max_k |r_k|.
func insensitive(grad, row []float64) (sum float64) {
	for k, v := range row {
		if past := math.Abs(v) - 1; past > 0 {
			sum += past
			grad[k] = math.Copysign(1, v)
		}
	}
	return sum
}

func largest(grad, row []float64) float64 {
	for k, v := range row {
		if size := floats.Norm(row, math.Inf(1)); math.Abs(v) == size {
			grad[k] = math.Copysign(1, v)
			return size
		}
	}
	return 0
}

// Kinks behind two methods are found, and rounded where entries are 0; others are refused by the interface that is
// missing. Smooth losses, however bent, stay as they are.
func TestRounded(t *testing.T) {
	for _, dim := range []int{1, 3, 40} {
		for _, l := range []framework.Loss{losses.L1(), losses.L2(), lp(t, 1.1), quantile(t, 0.5)} {
			got, err := losses.Rounded(bare{l}, dim, 2)
			require.NoError(t, err)
			assert.Implements(t, (*framework.Smoother)(nil), got, "%s, %d", l.Name(), dim)
			frameworktest.TestLoss(t, got, frameworktest.LossOptions{Dim: dim})
		}
		for _, l := range []framework.Loss{
			losses.SquaredL2(), huber(t, 0.01), huberEntries(t, 1), lp(t, 1.9), lp(t, 4), losses.L2().(framework.Smoother).Smooth(1e-4),
			mahalanobis(t, precision(dim)), redescending(t, 0.1)["tukey"], redescending(t, 1e-6)["geman_mcclure"], redescending(t, 3)["cauchy"],
		} {
			got, err := losses.Rounded(bare{l}, dim, 2)
			require.NoError(t, err, l.Name())
			_, same := got.(bare)
			assert.True(t, same, "%s, %d", l.Name(), dim)
		}
		for name, l := range map[string]framework.Loss{"uneven": quantile(t, 0.9), "off zero": byRow(insensitive), "off axes": byRow(largest)} {
			if dim == 1 && name == "off axes" {
				continue
			}
			_, err := losses.Rounded(bare{l}, dim, 2)
			require.ErrorIs(t, err, framework.ErrInvalid, "%s, %d", name, dim)
			assert.ErrorContains(t, err, "let the loss implement framework.Smoother")
		}
	}
	own, err := losses.Rounded(losses.L1(), 3, 1)
	require.NoError(t, err)
	assert.Equal(t, losses.L1().Name(), own.Name())
	_, separable := own.(framework.Separable)
	assert.True(t, separable)
}
