package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// careless is |r|^2 with a number in place of some results of rows that are
// long, or short.
type careless struct {
	blackBox
	inGradient bool
	at         func(norm float64) bool
	number     float64
}

func (careless) Name() string { return "careless" }

func (l careless) Evaluate(values, grad, r []float64, dim int) error {
	var at []bool
	for i := range len(r) / dim {
		var u float64
		for _, v := range r[i*dim : (i+1)*dim] {
			u += v * v
		}
		at = append(at, l.at(math.Sqrt(u)))
	}
	if err := l.blackBox.Evaluate(values, grad, r, dim); err != nil {
		return err
	}
	for i, bad := range at {
		if bad && l.inGradient && grad != nil {
			grad[(i+1)*dim-1] = l.number
		}
		if bad && !l.inGradient && values != nil {
			values[i] = l.number
		}
	}
	return nil
}

// TestALossThatIsNotFiniteIsBlamed names the row, as the caller numbers them.
func TestALossThatIsNotFiniteIsBlamed(t *testing.T) {
	x := bowlRows(t, 60, 4, 5)
	copy(x.Row(41), []float64{0, 0, 500, 0}) // the first axis goes through it
	copy(x.Row(40), []float64{0, 0, 0, 400}) // and misses this one
	copy(x.Row(10), x.Row(3))                // a repetition, so that rows are merged
	long := func(norm float64) bool { return norm > 300 }
	for _, c := range []struct {
		loss careless
		want string
	}{
		{careless{inGradient: true, at: long, number: math.NaN()}, "scqm: fit: row 41: loss careless: the gradient is NaN for a residual of norm"},
		{careless{at: long, number: math.NaN()}, "scqm: fit: row 40: loss careless: the value is NaN for"},
		{careless{at: long, number: math.Inf(1)}, "scqm: fit: row 40: loss careless: the value is +Inf for"},
	} {
		c.loss.blackBox = blackBox{Loss: losses.SquaredL2()}
		_, err := Learn(t.Context(), x, Config{Latent: 1, Curvature: FullCurvature, Loss: c.loss, Options: framework.Options{MaxIterations: 20}})
		assert.ErrorIs(t, err, framework.ErrNonFinite)
		assert.ErrorContains(t, err, c.want)
	}
}
