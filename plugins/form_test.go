package plugins

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
)

// cauchy is c^2/2 log(1 + u/c^2): concave in u, not convex.
type cauchy struct {
	C float64 `json:"c" above:"0"`
}

func (cauchy) Name() string       { return "cauchy" }
func (cauchy) Document() Document { return Document{Version: "7", NonConvex: true, Concave: true} }

func (f cauchy) Rho(u float64) (rho, d1, d2 float64) {
	c2 := f.C * f.C
	q := 1 + u/c2
	return c2 / 2 * math.Log(q), 0.5 / q, -0.5 / (q * q * c2)
}

func (f cauchy) Validate() error {
	if f.C == 13 {
		return errors.New("13 brings bad luck")
	}
	return nil
}

// fair is u/(1+u), bounded: 1 for a row that is not finite.
type fair struct{}

func (fair) Name() string       { return "fair" }
func (fair) Document() Document { return Document{NonConvex: true, Concave: true} }

func (fair) Rho(u float64) (rho, d1, d2 float64) {
	if u > 1e100 {
		return 1, 0, 0
	}
	q := 1 / (1 + u)
	return u * q, q * q, -2 * q * q * q
}

// quartic is |r|^2 + |r|^4: not concave in u.
type quartic struct{}

func (quartic) Name() string                        { return "quartic" }
func (quartic) Rho(u float64) (rho, d1, d2 float64) { return u + u*u, 1 + 2*u, 2 }

// arch is sum_k delta^2 (sqrt(1 + (r_k/delta)^2) - 1).
type arch struct{ Delta float64 }

func (arch) Name() string       { return "arch" }
func (arch) Document() Document { return Document{Concave: true} }

func (f arch) Phi(r float64) (phi, d1, d2 float64) {
	h := math.Hypot(1, r/f.Delta)
	return r * (r / (1 + h)), r / h, 1 / (h * h * h)
}

// fourth is sum_k r_k^2 + r_k^4.
type fourth struct{}

func (fourth) Name() string                        { return "fourth" }
func (fourth) Phi(r float64) (phi, d1, d2 float64) { return r*r + r*r*r*r, 2*r + 4*r*r*r, 2 + 12*r*r }

func TestFormsMakeLosses(t *testing.T) {
	for _, l := range []framework.Loss{
		Radial(&cauchy{2}), Radial(fair{}), Radial(quartic{}), Separable(arch{0.5}), Separable(fourth{}),
	} {
		t.Run(l.Name(), func(t *testing.T) {
			frameworktest.TestLoss(t, l, frameworktest.LossOptions{NonConvex: isNonConvex(l)})
			_, concave := l.(framework.Majorizer)
			assert.Equal(t, isNonConvex(l) || l.Name() == "arch", concave)
			_, second := l.(framework.SecondOrder)
			assert.True(t, second)
		})
	}
}

func isNonConvex(l framework.Loss) bool { return l.Name() == "cauchy" || l.Name() == "fair" }

// A plugin never sees residuals that are not finite: what is bounded would hide them.
func TestBoundedPlugins(t *testing.T) {
	l := start(t, "fair", Options{}).Loss()
	frameworktest.TestLoss(t, l, frameworktest.LossOptions{NonConvex: true})
	nan := math.NaN()
	values, grad := make([]float64, 3), make([]float64, 6)
	require.NoError(t, l.Evaluate(values, grad, []float64{1, 0, math.Inf(1), 1, nan, 2}, 2))
	assert.Equal(t, "[0.5 NaN NaN] [0.5 0 NaN NaN NaN NaN]", fmt.Sprint(values, grad))
	l.(framework.Radial).Rho(values[:2], nil, nil, []float64{nan, 1})
	assert.Equal(t, "[NaN 0.5]", fmt.Sprint(values[:2]))
}

func TestFormsHaveParameters(t *testing.T) {
	p := start(t, "cauchy", Options{Params: map[string]any{"c": "0.5"}})
	assert.Equal(t, "7", p.Description().Version)
	assert.True(t, p.NonConvex())
	assert.Equal(t, rowloss.StructureRadial, rowloss.StructureOf(p.Loss()))
	values := make([]float64, 1)
	require.NoError(t, p.Loss().Evaluate(values, nil, []float64{3, 4}, 2))
	assert.Equal(t, 0.125*math.Log(101), values[0])
	w := make([]float64, 1)
	require.NoError(t, p.Loss().(framework.Majorizer).Weights(w, []float64{3, 4}, 2))
	assert.Equal(t, 1.0/101, w[0])

	_, err := Open(t.Context(), self(t), Options{Params: map[string]any{"c": 13}, Env: []string{asPlugin + "=cauchy"}})
	assert.ErrorIs(t, err, ErrParams)
	assert.ErrorContains(t, err, "13 brings bad luck")
}
