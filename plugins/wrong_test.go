package plugins

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
)

// wrong is the loss |r| with one flaw. It takes the name of the flaw.
type wrong struct {
	flaw  string
	calls *atomic.Int64
}

func (l wrong) Name() string { return strings.ReplaceAll(l.flaw, " ", "_") }

func (l wrong) Evaluate(values, grad, r []float64, dim int) error {
	rows := len(r) / dim
	call := float64(l.calls.Add(1))
	for i := range rows {
		row, sum := r[i*dim:(i+1)*dim], 0.0
		for _, v := range row {
			sum += v * v
		}
		norm := math.Sqrt(sum)
		value, slope := norm, 1/norm
		if norm == 0 {
			slope = 0
		}
		switch l.flaw {
		case "steep":
			slope *= 1.01
		case "nan at zero":
			slope = 1 / norm
		case "negative":
			value -= 1
		case "random":
			value += call * 1e-9
		case "batch":
			value += float64(rows) * 1e-9
		case "order":
			value += float64(i) * 1e-9
		case "hollow":
			value, slope = math.Sqrt(norm), 0.5/norm/math.Sqrt(norm)
			if norm == 0 {
				slope = 0
			}
		case "parts":
			if values != nil && grad == nil {
				value += 1e-9
			}
		case "overflow":
			if norm < 1e-100 {
				value = math.Inf(1)
			}
		}
		if values != nil {
			values[i] = value
		}
		for k := range row {
			if grad != nil {
				grad[i*dim+k] = slope * row[k]
			}
		}
	}
	return nil
}

// More flaws, in what a loss may offer.
type (
	wrongRadial   struct{ wrong }
	wrongWeights  struct{ wrong }
	wrongProducts struct{ wrong }
	wrongSmoother struct{ wrong }
)

// Rho is that of |r|^2.
func (wrongRadial) Rho(rho, d1, d2, u []float64) {
	for i, v := range u {
		for _, c := range []struct {
			to []float64
			is float64
		}{{rho, v}, {d1, 1}, {d2, 0}} {
			if c.to != nil {
				c.to[i] = c.is
			}
		}
	}
}

// Weights are half of what they must be.
func (l wrongWeights) Weights(w, r []float64, dim int) error {
	if err := l.Evaluate(nil, w, r, dim); err != nil {
		return err
	}
	for k, v := range r {
		if w[k] = 0; v != 0 {
			w[k] = 0.5 * math.Abs(v)
		}
	}
	return nil
}

// HessianProduct is that of |r|^2/2.
func (wrongProducts) HessianProduct(dst, _, v []float64, _ int) error {
	copy(dst, v)
	return nil
}

// Smooth adds a constant that does not fall with eps.
func (l wrongSmoother) Smooth(eps float64) framework.Loss {
	if eps == 0 {
		return l
	}
	return wrongSmoother{wrong{"negative", l.calls}}
}

// wrongLoss is what the plugin wrong:FLAW serves.
func wrongLoss(flaw string) framework.Loss {
	l := wrong{flaw, new(atomic.Int64)}
	switch flaw {
	case "other structure":
		return wrongRadial{l}
	case "light weights":
		return wrongWeights{l}
	case "other hessian":
		return wrongProducts{l}
	case "rough":
		return wrongSmoother{l}
	}
	return l
}

// TestCheckFindsWrongPlugins serves losses with one flaw each. Names and laws
// are those that scqm plugin check prints.
func TestCheckFindsWrongPlugins(t *testing.T) {
	for _, c := range []struct{ flaw, law, says string }{
		{"steep", "gradient slope", "the gradients are not the derivatives of the values (slope 1."},
		{"nan at zero", "zero residual", "a row of zeros must give finite results; where there is a kink, any subgradient, such as 0 (the gradient of row 0 is NaN for finite residuals of norm 0)"},
		{"negative", "finite", "must be at least 0)"},
		{"random", "deterministic", "the same rows must always give the same bits (values differ by "},
		{"batch", "batch equals single", "the results of a row must not depend on other rows of the batch"},
		{"order", "batch equals single", "nor on its place there (row 0: values in reverse differ by "},
		{"hollow", "convex", "the loss is not convex; if that is meant, declare it: NonConvex: true in Go, convex = False in Python ("},
		{"parts", "parts", "values must not depend on whether gradients are wanted too"},
		{"overflow", "tiny residuals", "must give finite results (the value of row 0 is +Inf for finite residuals of norm "},
		{"other structure", "radial form", "the profile at the squared norm of a row is not the loss of the row (row 0: rho is off by"},
		{"light weights", "majorizer", "the weights are too small (row 0: "},
		{"other hessian", "Hessian slope", "the Hessian products are not the derivatives of the gradients (slope 2."},
		{"rough", "smoothing", "the smoothed loss must be a loss that differs"},
	} {
		t.Run(c.flaw, func(t *testing.T) {
			t.Parallel()
			checked, err := Check(t.Context(), self(t), Options{Env: []string{asPlugin + "=wrong:" + c.flaw}})
			require.NoError(t, err)
			assert.Contains(t, checked.Broken(), c.law)
			assert.ErrorContains(t, checked.Err(), "loss "+strings.ReplaceAll(c.flaw, " ", "_")+" breaks ")
			assert.ErrorContains(t, checked.Err(), c.law+": ")
			assert.NotContains(t, checked.Err().Error(), "\n")
			assert.ErrorContains(t, checked.Err(), c.says)
		})
	}
}

// TestEveryLawHasAMeaning takes the laws from where they are listed.
func TestEveryLawHasAMeaning(t *testing.T) {
	l := start(t, "builtin:lp:1.3", Options{}).Loss()
	for _, v := range frameworktest.CheckLoss(l, frameworktest.LossOptions{}).Verdicts {
		assert.NotEmpty(t, meanings[v.Law], v.Law)
	}
}

// TestCheckFindsWrongAnswers checks plugins that break the protocol.
func TestCheckFindsWrongAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("3 s: a plugin that ignores its end is waited for; make test runs it")
	}
	for mode, says := range map[string]string{
		"short":             "the value has",
		"one array too few": "1 arrays came back, 2 were asked for",
		"other rows":        "rows of",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			checked, err := Check(t.Context(), self(t), Options{NoSharedMemory: true, Env: []string{asPlugin + "=hostile:" + mode}})
			require.NoError(t, err)
			assert.Equal(t, []string{"finite"}, checked.Broken())
			assert.ErrorContains(t, checked.Err(), says)
		})
	}
	checked, err := Check(t.Context(), self(t), Options{Env: []string{asPlugin + "=hostile:ignores the end"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"end"}, checked.Broken())
	_, err = Check(t.Context(), self(t), Options{Env: []string{asPlugin + "=hostile:exit 3"}})
	assert.ErrorIs(t, err, ErrStart)
}

func TestCheckPassesGoodPlugins(t *testing.T) {
	for _, kind := range []string{"l2", "lp:1.3", "huber:0.7"} {
		checked, err := Check(t.Context(), self(t), Options{Env: []string{asPlugin + "=builtin:" + kind}})
		require.NoError(t, err)
		assert.NoError(t, checked.Err())
		assert.Len(t, checked.Times, 3)
		assert.Contains(t, lawsOf(checked), "other process")
	}
}

func lawsOf(c *Checked) []string {
	var laws []string
	for _, v := range c.Verdicts {
		laws = append(laws, v.Law)
	}
	return laws
}

// knob is a loss with parameters of every kind.
type knob struct {
	C     float64 `json:"c" above:"0" doc:"length"`
	N     int     `min:"1" max:"9"`
	Fast  bool    `json:"fast"`
	Mode  string  `json:"mode"`
	inner float64
	Skip  []int `json:"-"`
}

func (knob) Name() string { return "knob" }

func (k knob) Validate() error {
	if k.Mode == "odd" && k.N%2 == 0 {
		return errors.New("n must be odd in mode odd")
	}
	return nil
}

func (k knob) Evaluate(values, grad, r []float64, dim int) error {
	for i := range values {
		values[i] = k.C + float64(k.N) + k.inner
	}
	clear(grad)
	if k.Fast {
		return errors.New("too fast")
	}
	return nil
}

func TestParametersReachTheLoss(t *testing.T) {
	p := start(t, "knob", Options{Params: map[string]any{"c": "2.5", "N": 3}})
	assert.Equal(t, map[string]float64{"c": 2.5, "N": 3}, p.Loss().(rowloss.Parametric).Params())
	assert.Equal(t, map[string]any{"c": 2.5, "N": 3.0, "fast": false, "mode": "even"}, p.Params())
	assert.JSONEq(t, `{"c": 2.5, "N": 3, "fast": false, "mode": "even"}`, p.Loss().(rowloss.Identified).Program().Params)
	values := make([]float64, 1)
	require.NoError(t, p.Loss().Evaluate(values, nil, []float64{1}, 1))
	assert.Equal(t, 2.5+3+10, values[0])

	fast := start(t, "knob", Options{Params: map[string]any{"fast": "true"}})
	err := fast.Loss().Evaluate(values, nil, []float64{1}, 1)
	assert.ErrorIs(t, err, ErrRefused)
	assert.ErrorContains(t, err, "too fast")
}

func TestParametersAreRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		value any
		says  string
	}{
		{"c", 0.0, "c = 0 is not above 0 (length)"},
		{"c", "x", `c = "x" is not a number (length)`},
		{"c", math.NaN(), "c = NaN has no form in JSON"},
		{"c", true, "c = true is not a number"},
		{"N", 0, "N = 0 is below 1"},
		{"N", 10, "N = 10 is above 9"},
		{"N", 1.5, "N = 1.5 is not a integer"},
		{"fast", "maybe", `fast = "maybe" is not a boolean`},
		{"mode", 3, "mode = 3 is not a string"},
		{"d", 1, `there is no parameter "d"; there are N, c, fast, mode`},
		{"mode", "odd", "n must be odd in mode odd"},
	} {
		params := map[string]any{"N": 2, c.name: c.value}
		_, err := Open(t.Context(), self(t), Options{Params: params, Env: []string{asPlugin + "=knob"}})
		assert.ErrorIs(t, err, ErrParams)
		assert.ErrorIs(t, err, framework.ErrInvalid)
		assert.ErrorContains(t, err, c.says)
	}
}
