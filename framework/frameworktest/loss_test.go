package frameworktest_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
)

func TestLossSuiteAcceptsSoundLosses(t *testing.T) {
	for _, dim := range []int{1, 4} {
		for _, scale := range []float64{0, 0.2} {
			o := frameworktest.LossOptions{Dim: dim, Scale: scale, Seed: 3}
			frameworktest.TestLoss(t, logCosh{}, o)
			frameworktest.TestLoss(t, root{}, o)
			frameworktest.TestLoss(t, inUnits{root{}, 1}, o)
			frameworktest.TestLoss(t, opaque{logCosh{}}, o)
		}
	}
	frameworktest.TestLoss(t, weighted{[]float64{2, 0, 0, 2}, 2}, frameworktest.LossOptions{})
}

func TestLossSuiteIsModest(t *testing.T) {
	var calls atomic.Int64
	l := logCosh{spoil: func(_, _, _ []float64, _ int) { calls.Add(1) }}
	report := frameworktest.CheckLoss(l, frameworktest.LossOptions{})
	require.NoError(t, report.Err())
	assert.Equal(t, "loss log_cosh", report.Subject)
	assert.Less(t, calls.Load(), int64(500))
}

func TestLossSuiteMeasuresSlopes(t *testing.T) {
	details := map[string]string{}
	for _, v := range frameworktest.CheckLoss(logCosh{}, frameworktest.LossOptions{}).Verdicts {
		details[v.Law] = v.Detail
	}
	assert.Equal(t, "slope 2.00", details["gradient slope"])
	assert.Regexp(t, `slope (2\.9[5-9]|3\.0\d)`, details["Hessian slope"])
}

// TestLossSuiteFindsBrokenEvaluate spoils Evaluate in one way each. Several
// laws can break by the same fault.
func TestLossSuiteFindsBrokenEvaluate(t *testing.T) {
	var calls atomic.Int64
	zero := func(r []float64) bool { return !slices.ContainsFunc(r, func(v float64) bool { return v != 0 }) }
	for name, c := range map[string]struct {
		spoil  func(values, grad, r []float64, dim int)
		broken []string
	}{
		"gradient off by 1 percent": {func(_, grad, _ []float64, _ int) {
			for k := range grad {
				grad[k] *= 1.01
			}
		}, []string{"gradient slope", "Hessian slope", "separable form"}},
		"gradient of one entry off by 1e-6": {func(_, grad, _ []float64, dim int) {
			for k := 0; k < len(grad); k += dim {
				grad[k] *= 1 + 1e-6
			}
		}, []string{"gradient slope", "Hessian slope", "separable form"}},
		"NaN gradient at zero": {func(_, grad, r []float64, dim int) {
			for k := range grad {
				if i := k / dim * dim; zero(r[i : i+dim]) {
					grad[k] = math.NaN()
				}
			}
		}, []string{"convex", "zero residual"}},
		"NaN value at zero": {func(values, _, r []float64, dim int) {
			for i := range values {
				if zero(r[i*dim : (i+1)*dim]) {
					values[i] = math.NaN()
				}
			}
		}, []string{"convex", "zero residual", "majorizer"}},
		"negative": {func(values, _, _ []float64, _ int) {
			for i := range values {
				values[i] -= 1
			}
		}, []string{"not negative"}},
		"infinite": {func(values, _, _ []float64, _ int) {
			for i := range values {
				values[i] = math.Inf(1)
			}
		}, []string{"finite"}},
		"value depends on batch": {func(values, _, _ []float64, _ int) {
			for i := range values {
				values[i] *= 1 + 1e-15*float64(len(values))
			}
		}, []string{"batch equals single"}},
		"gradient depends on the row before": {func(_, grad, r []float64, dim int) {
			for k := dim; k < len(grad); k++ {
				grad[k] *= 1 + 1e-15*math.Tanh(math.Abs(r[k-dim]))
			}
		}, []string{"in place", "batch equals single", "non-finite residuals"}},
		"not deterministic": {func(values, _, _ []float64, _ int) {
			for i := range values {
				values[i] *= 1 + 1e-14*float64(calls.Add(1)%7)
			}
		}, []string{"deterministic", "parts", "in place", "batch equals single", "concurrent", "non-finite residuals"}},
		"changes residuals": {func(_, grad, r []float64, _ int) {
			if len(r) > 0 && grad != nil && &grad[0] != &r[0] {
				r[0] = 0
			}
		}, []string{"residuals kept"}},
		"value differs without gradient": {func(values, grad, _ []float64, _ int) {
			for i := range values {
				if grad == nil {
					values[i] *= 1 + 1e-15
				}
			}
		}, []string{"parts"}},
		"NaN contaminates": {func(values, _, _ []float64, _ int) {
			if slices.ContainsFunc(values, math.IsNaN) {
				for i := range values {
					values[i] = math.NaN()
				}
			}
		}, []string{"non-finite residuals"}},
		"NaN hidden": {func(values, _, _ []float64, _ int) {
			for i, v := range values {
				if math.IsNaN(v) {
					values[i] = 0
				}
			}
		}, nil},
		"NaN for large residuals": {func(values, _, r []float64, dim int) {
			for i := range values {
				values[i] += 0 * math.Exp(math.Abs(r[i*dim])/1e3)
			}
		}, []string{"large residuals"}},
		"panics for zero": {func(_, _, r []float64, dim int) {
			if len(r) >= dim && zero(r[:dim]) {
				panic("division by zero")
			}
		}, []string{"convex", "zero residual"}},
		"panics for an empty batch": {func(_, _, r []float64, _ int) { _ = r[0] }, []string{"empty batch"}},
		"panics":                    {func(_, _, _ []float64, _ int) { panic("no") }, []string{"finite"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := frameworktest.CheckLoss(logCosh{spoil: c.spoil}, frameworktest.LossOptions{Dim: 3})
			assert.ElementsMatch(t, c.broken, r.Broken(), "%v", r.Err())
		})
	}
}

func TestLossSuiteFindsBrokenForms(t *testing.T) {
	scale := func(i int, factor float64) func(phi, d1, d2, r []float64) {
		return func(phi, d1, d2, _ []float64) {
			for k := range [][]float64{phi, d1, d2}[i] {
				[][]float64{phi, d1, d2}[i][k] *= factor
			}
		}
	}
	for name, c := range map[string]struct {
		l      framework.Loss
		dim    int
		broken []string
	}{
		"no name":          {nameless{logCosh{}}, 3, []string{"name"}},
		"wrong phi":        {logCosh{phi: scale(0, 1.01)}, 3, []string{"separable form", "separable slopes"}},
		"wrong phi'":       {logCosh{phi: scale(1, 1.01)}, 3, []string{"separable form", "separable slopes", "majorizer"}},
		"wrong Hessian":    {logCosh{phi: scale(2, 1.01)}, 3, []string{"Hessian slope", "separable slopes"}},
		"weights small":    {logCosh{phi: scale(1, 0.999)}, 3, []string{"separable form", "separable slopes", "majorizer"}},
		"wrong rho":        {root{shift: 0.1, eps: 1, smooth: nil}, 3, []string{"smoothing"}},
		"wrong rho'":       {root{d1: 1e-3}, 3, []string{"radial form", "radial slopes"}},
		"wrong rho''":      {root{d2: 1e-2}, 3, []string{"radial slopes"}},
		"wrong weights":    {root{weight: -1e-3}, 3, []string{"majorizer"}},
		"weights too big":  {root{weight: 1e-2}, 3, []string{"majorizer"}},
		"infinite weights": {root{weight: math.Inf(1)}, 3, []string{"weights", "majorizer"}},
		"negative weights": {root{weight: -2}, 3, []string{"weights", "majorizer"}},
		"smoothing biased": {root{smooth: func(eps float64) framework.Loss {
			if eps == 0 {
				return root{}
			}
			return root{eps: eps, shift: 1e-3}
		}}, 3, []string{"smoothing"}},
		"smoothing renames": {root{smooth: func(eps float64) framework.Loss { return root{eps: eps, name: "2"} }}, 3,
			[]string{"smoothing"}},
		"smoothing keeps the kink": {root{smooth: func(float64) framework.Loss { return root{} }}, 3,
			[]string{"smoothed gradient slope"}},
		"smoothing of nothing changes": {root{smooth: func(eps float64) framework.Loss { return root{eps: max(eps, 1e-8)} }}, 3,
			[]string{"smoothing"}},
		"wrong factor":                  {inUnits{root{}, 1.01}, 3, []string{"rescaling"}},
		"not radial":                    {radial{logCosh{}}, 3, []string{"radial form", "rotation"}},
		"wrong matrix":                  {weighted{[]float64{2, 0, 0, 2.01}, 2}, 0, []string{"matrix form"}},
		"asymmetric":                    {weighted{[]float64{2, 0.1, -0.1, 2}, 2}, 0, []string{"matrix form"}},
		"matrix too short":              {weighted{[]float64{2}, 2}, 0, []string{"matrix form"}},
		"other Dim":                     {weighted{[]float64{2, 0, 0, 2}, 2}, 3, []string{"name"}},
		"wrong Dim":                     {weighted{[]float64{2, 0, 0, 2}, 3}, 0, []string{"finite"}},
		"Hessian product not symmetric": {twisted{logCosh{}}, 3, []string{"Hessian slope", "Hessian symmetric"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := frameworktest.CheckLoss(c.l, frameworktest.LossOptions{Dim: c.dim})
			assert.ElementsMatch(t, c.broken, r.Broken(), "%v", r.Err())
		})
	}
}

// TestLossSuiteFindsSharedState lets calls at the same time see each other.
func TestLossSuiteFindsSharedState(t *testing.T) {
	var inFlight atomic.Int64
	l := logCosh{spoil: func(values, _, _ []float64, _ int) {
		defer inFlight.Add(-1)
		shared := inFlight.Add(1) > 1
		time.Sleep(200 * time.Microsecond)
		for i := range values {
			if shared {
				values[i]++
			}
		}
	}}
	assert.Equal(t, []string{"concurrent"}, frameworktest.CheckLoss(l, frameworktest.LossOptions{}).Broken())
}

// TestLossSuiteFindsWrongSubgradients gives |r| a slope of 2 at 0.
func TestLossSuiteFindsWrongSubgradients(t *testing.T) {
	l := odd(func(values, grad, r []float64, dim int) error {
		err := root{}.Evaluate(values, nil, r, dim)
		for k, v := range r {
			if grad != nil && v == 0 {
				grad[k] = 2
			} else if grad != nil {
				grad[k] = math.Copysign(1, v)
			}
		}
		return err
	})
	r := frameworktest.CheckLoss(l, frameworktest.LossOptions{Dim: 1})
	assert.Subset(t, r.Broken(), []string{"convex"})
	assert.NotContains(t, r.Broken(), "gradient slope")
}

// TestLossSuiteFindsHiddenNonConvexity uses the loss u/(1+u) of Geman and
// McClure.
func TestLossSuiteFindsHiddenNonConvexity(t *testing.T) {
	l := odd(func(values, grad, r []float64, dim int) error {
		for i := range len(r) / dim {
			row, u := r[i*dim:(i+1)*dim], 0.0
			for _, v := range row {
				u += v * v
			}
			if values != nil {
				values[i] = u / (1 + u)
			}
			for k, v := range row {
				if grad != nil {
					grad[i*dim+k] = 2 * v / (1 + u) / (1 + u)
				}
			}
		}
		return nil
	})
	r := frameworktest.CheckLoss(l, frameworktest.LossOptions{})
	assert.Contains(t, r.Broken(), "convex")
	frameworktest.TestLoss(t, l, frameworktest.LossOptions{NonConvex: true})
}

func TestLossSuiteTolerance(t *testing.T) {
	noisy := logCosh{spoil: func(values, _, _ []float64, _ int) {
		for i := range values {
			values[i] *= 1 + 1e-15*float64(len(values))
		}
	}}
	o := frameworktest.LossOptions{}
	assert.Equal(t, []string{"batch equals single"}, frameworktest.CheckLoss(noisy, o).Broken())
	o.Tolerance = 1e-12
	frameworktest.TestLoss(t, noisy, o)
}

func TestLossSuiteReportsErrors(t *testing.T) {
	r := frameworktest.CheckLoss(odd(func(_, _, _ []float64, _ int) error { return errors.New("plug-in died") }),
		frameworktest.LossOptions{})
	assert.Equal(t, []string{"finite"}, r.Broken())
	assert.ErrorContains(t, r.Err(), "plug-in died")

	var rec lossRecorder
	frameworktest.TestLoss(&rec, nameless{logCosh{}}, frameworktest.LossOptions{})
	assert.Equal(t, lossRecorder{"loss: name: the name is empty"}, rec)
}

func TestLossSuiteSeesWhatIsNotWritten(t *testing.T) {
	r := frameworktest.CheckLoss(odd(func(values, _, r []float64, dim int) error {
		return logCosh{}.Evaluate(values, nil, r, dim)
	}), frameworktest.LossOptions{})
	assert.Equal(t, []string{"finite"}, r.Broken())
	assert.ErrorContains(t, r.Err(), "gradient entry 0 was not written")
}

func TestLossSuiteIsReproducible(t *testing.T) {
	o := frameworktest.LossOptions{Seed: 5}
	assert.Equal(t, frameworktest.CheckLoss(root{}, o), frameworktest.CheckLoss(root{}, o))
}

// lossRecorder is a TB that keeps what it is told.
type lossRecorder []string

func (*lossRecorder) Helper() {}

func (r *lossRecorder) Errorf(format string, args ...any) {
	*r = append(*r, fmt.Sprintf(format, args...))
}
