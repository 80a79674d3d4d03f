package chart

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// TestShapeOfCharts wants normal and curvature of a saddle.
func TestShapeOfCharts(t *testing.T) {
	x, _ := noisySphere(20000, 0)
	all := make([]int, x.N)
	for i := range x.N { // z = x^2 - y^2/2
		all[i] = i
		row := x.Row(i)
		row[2] = row[0]*row[0] - row[1]*row[1]/2
	}
	at := lookup.NewIndex(x.X, 3, all)
	ch := New(3, 2)
	r := NewRows(ch)
	y := []float64{.1, .2, .01 - .02}
	r.Look(at, y, 60)
	r.Gather(NewSource(x, x.X, nil), 60)
	require.True(t, ch.Prepare(y, y, &r, &Setting{Cut: math.Inf(1), Rounds: 3}) && ch.Solve(0))
	stored, principal := make([]float64, ch.Width()), make([]float64, 2)
	ch.Store(stored)
	s := NewShape(3, 2)
	s.Begin()
	require.True(t, s.Add(stored, y, 2))
	require.True(t, s.Add(stored, y, 1))
	mean := s.Curvature(principal)
	// Of z = f: the normal is (-f_x, -f_y, 1) and the curvatures those of the Hessian (2, -1) over the metric.
	fx, fy := .2, -.2
	size := math.Sqrt(1 + fx*fx + fy*fy)
	sign := math.Copysign(1, s.Normal[2])
	for j, v := range []float64{-fx, -fy, 1} {
		require.InDelta(t, v/size, sign*s.Normal[j], 1e-3)
	}
	want := (2*(1+fy*fy) - (1 + fx*fx)) / (2 * size * size * size)
	require.InDelta(t, -want, sign*mean, 1e-2)
	require.InDelta(t, mean, (principal[0]+principal[1])/2, 1e-12)
	require.InDelta(t, -2/math.Pow(size, 4), principal[0]*principal[1], 2e-2)
	require.Greater(t, principal[0], principal[1])
}

// TestShapeOfCreases wants the normal of the face that the point is on, which charts of the other do not change.
func TestShapeOfCreases(t *testing.T) {
	k := wedge()
	stored, turned := make([]float64, (&Space{}).Width()), make([]float64, (&Space{}).Width())
	k.store(stored, 1)
	other := k
	other.normal[0], other.normal[1] = k.normal[1], k.normal[0]
	other.store(turned, 1)
	s := NewShape(3, 2)
	for side := range 2 {
		var on, across [3]float64
		for j := range on {
			on[j] = k.at[j] - .3*k.normal[1-side][j]
			across[j] = k.at[j] - .3*k.normal[side][j]
		}
		foot := make([]float64, 3)
		k.foot(foot, on[:])
		s.Begin()
		require.True(t, s.Add(stored, foot, 1))
		require.True(t, s.Add(turned, across[:], 1))
		require.Zero(t, s.Curvature(nil))
		require.InDelta(t, 1, math.Abs(inner((*[3]float64)(s.Normal), &k.normal[side])), 1e-12)
	}
}
