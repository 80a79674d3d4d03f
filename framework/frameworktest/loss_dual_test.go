package frameworktest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
)

// inBall is a norm with another projection.
type inBall struct {
	rowloss.SupportFunction
	project func(l rowloss.SupportFunction, g []float64, dim int)
}

func (l inBall) ProjectDual(g []float64, dim int) { l.project(l.SupportFunction, g, dim) }

// power is a sum of powers that says another one.
type power struct {
	rowloss.PowerSum
	by float64
}

func (l power) Power() float64 { return l.PowerSum.Power() + l.by }

func TestDualLaws(t *testing.T) {
	const support, projection = "support function", "dual projection"
	for name, c := range map[string]struct {
		project func(l rowloss.SupportFunction, g []float64, dim int)
		laws    []string
	}{
		"sound":      {rowloss.SupportFunction.ProjectDual, nil},
		"small ball": {func(l rowloss.SupportFunction, g []float64, dim int) { l.ProjectDual(g, dim); floats.Scale(0.99, g) }, []string{support, projection}},
		"large ball": {func(l rowloss.SupportFunction, g []float64, dim int) {
			floats.Scale(0.99, g)
			l.ProjectDual(g, dim)
			floats.Scale(1/0.99, g)
		}, []string{projection}},
		"towards zero": {func(l rowloss.SupportFunction, g []float64, dim int) {
			inside := slices.Clone(g)
			if l.ProjectDual(inside, dim); !slices.Equal(inside, g) {
				floats.Scale(1/(10*floats.Norm(g, 2)), g)
			}
		}, []string{projection}},
	} {
		for _, l := range []framework.Loss{losses.L1(), losses.L2()} {
			spoilt := inBall{l.(rowloss.SupportFunction), c.project}
			broken := frameworktest.CheckLoss(spoilt, frameworktest.LossOptions{Seed: 4}).Broken()
			for _, law := range []string{support, projection} {
				assert.Equal(t, slices.Contains(c.laws, law), slices.Contains(broken, law), "%s, %s: %s", name, l.Name(), law)
			}
		}
	}
	lp, err := losses.Lp(1.5)
	require.NoError(t, err)
	assert.NotContains(t, frameworktest.CheckLoss(power{lp.(rowloss.PowerSum), 0}, frameworktest.LossOptions{}).Broken(), "power sum")
	assert.Contains(t, frameworktest.CheckLoss(power{lp.(rowloss.PowerSum), 0.1}, frameworktest.LossOptions{}).Broken(), "power sum")
}
