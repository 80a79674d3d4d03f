package manifolds_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

func TestMoreManifoldLaws(t *testing.T) {
	var list []framework.Manifold
	for _, n := range []int{1, 2, 5, 20} {
		list = append(list, manifolds.Positive(n), manifolds.NewSimplex(n), manifolds.NewSymmetric(n), manifolds.NewSkewSymmetric(n))
	}
	for _, n := range []int{1, 2, 4} {
		list = append(list, manifolds.NewUnitary(n), manifolds.NewComplexCircle(n), manifolds.NewSE(n))
	}
	for _, s := range [][2]int{{3, 1}, {6, 2}, {9, 4}} {
		list = append(list, manifolds.NewPSDFixedRank(s[0], s[1]))
	}
	for _, s := range [][2]int{{3, 2}, {6, 3}, {12, 4}} {
		list = append(list, manifolds.NewElliptope(s[0], s[1]))
	}
	for i, m := range list {
		name := fmt.Sprintf("%d %v", i, m)
		t.Run(name, func(t *testing.T) { frameworktest.TestManifold(t, name, m, 1) })
	}
}

// TestMoreDistances: closed forms.
func TestMoreDistances(t *testing.T) {
	for _, c := range []struct {
		m    framework.Distance
		x, y []float64
		want float64
	}{
		{manifolds.Positive(2), []float64{1, 2}, []float64{math.E, 2 * math.E}, math.Sqrt2},
		{manifolds.NewSimplex(2), []float64{.5, .5}, []float64{.9, .1}, 2 * math.Acos(math.Sqrt(.45)+math.Sqrt(.05))},
		{manifolds.NewUnitary(1), []float64{1, 0}, []float64{0, 1}, math.Pi / 2},
		{manifolds.NewUnitary(2), []float64{1, 0, 0, 0, 0, 0, 1, 0}, []float64{-1, 0, 0, 0, 0, 0, -1, 0}, math.Pi * math.Sqrt2},
		// Of Gaussians: (a - b)^2 for standard deviations a and b in one dimension.
		{manifolds.NewPSDFixedRank(2, 1), []float64{3, 0}, []float64{-1, 0}, 2},
	} {
		got, err := c.m.Distance(c.x, c.y)
		require.NoError(t, err)
		assert.InDelta(t, c.want, got, 1e-12)
	}
	// -1 twice: there are many shortest geodesics.
	u := manifolds.NewUnitary(2)
	one, minus := []float64{1, 0, 0, 0, 0, 0, 1, 0}, []float64{-1, 0, 0, 0, 0, 0, -1, 0}
	if v := make([]float64, 8); u.Log(v, one, minus) == nil {
		y := make([]float64, 8)
		require.NoError(t, u.Exp(y, one, v))
		assert.InDeltaSlice(t, minus, y, 1e-12)
	}
}

// TestEdges: the open sets refuse what is not in them.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		m framework.Manifold
		x []float64
	}{
		{manifolds.Positive(2), []float64{1, 0}},
		{manifolds.Positive(2), []float64{1, math.Inf(1)}},
		{manifolds.NewSimplex(2), []float64{1, 0}},
		{manifolds.NewSimplex(2), []float64{1.5, -.5}},
	} {
		b := framework.Block{Manifold: c.m}
		assert.Equal(t, math.Inf(1), b.Violation(c.x))
		assert.Error(t, b.Restore(c.x))
	}
	assert.Error(t, manifolds.NewSimplex(2).Exp(make([]float64, 2), []float64{.5, .5}, []float64{2, -2}))
	assert.Error(t, manifolds.NewSimplex(2).Retract(make([]float64, 2), []float64{.5, .5}, []float64{1, -1}))
	assert.Error(t, manifolds.NewPSDFixedRank(2, 1).Exp(make([]float64, 2), []float64{1, 0}, []float64{-2, 0}))
}
