package objective_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// counted counts the rows that a loss is evaluated for.
type counted struct {
	framework.Loss
	rows *int
}

func (l counted) Evaluate(values, grad, r []float64, dim int) error {
	*l.rows += len(r) / dim
	return l.Loss.Evaluate(values, grad, r, dim)
}

// measurement is what an objective tells of a point.
type measurement struct {
	stationarity [objective.NumBlocks]float64
	kkt          objective.KKT
	cost         float64
}

func measureAt(t *testing.T, o *objective.Objective, x framework.Point) (m measurement) {
	t.Helper()
	var err error
	m.kkt, err = o.FirstOrder(m.stationarity[:], x)
	require.NoError(t, err)
	m.cost, err = o.Evaluate(nil, x)
	require.NoError(t, err)
	return m
}

// The first-order system and the cost at the point measured last take no row; after any change
// of what they depend on they are those of an objective that was never asked before.
func TestFirstOrderIsFoundOncePerPoint(t *testing.T) {
	const D = 6
	data := problemtest.WeightedRows(D)
	other := data
	other.X = problemtest.Gaussians(2, len(data.X))
	some := problemtest.Gaussians(3, len(data.X))
	changes := map[string]func(o *objective.Objective, x framework.Point){
		"c":           func(_ *objective.Objective, x framework.Point) { x[objective.BlockC][D-1] += 1e-13 },
		"Q":           func(_ *objective.Objective, x framework.Point) { x[objective.BlockQ][0] += 1e-13 },
		"Theta":       func(_ *objective.Objective, x framework.Point) { x[objective.BlockTheta][1] += 1e-13 },
		"Tau":         func(_ *objective.Objective, x framework.Point) { x[objective.BlockTau][7] += 1e-13 },
		"penalty":     func(o *objective.Objective, _ framework.Point) { o.Lambda *= 2 },
		"data":        func(o *objective.Objective, _ framework.Point) { o.SetData(other) },
		"smoothing":   func(o *objective.Objective, _ framework.Point) { o.Smooth(0.2); o.Smooth(0) },
		"rounded":     func(o *objective.Objective, _ framework.Point) { o.Smooth(0.2) },
		"multipliers": func(o *objective.Objective, _ framework.Point) { o.SetMultipliers(some) },
	}
	for _, name := range []string{"squared_l2", "l1", "huber"} {
		made := func(l framework.Loss) (*objective.Objective, framework.Point) {
			o, err := objective.New(context.Background(), data, l, 2, 3, 1)
			require.NoError(t, err)
			return o, problemtest.Place(t, o)
		}
		loss, seen := problemtest.Named(t, name, D), 0
		o, x := made(counted{loss, &seen})
		first := measureAt(t, o, x)
		assert.Equal(t, data.N, seen, "%s: one pass for the system and the cost", name)
		assert.Equal(t, first, measureAt(t, o, x))
		assert.Equal(t, data.N, seen, name)
		for what, change := range changes {
			o, x := made(loss)
			before := measureAt(t, o, x)
			change(o, x)
			fresh, y := made(loss)
			change(fresh, y)
			after := measureAt(t, fresh, y)
			assert.Equal(t, after, measureAt(t, o, x), "%s: %s", name, what)
			if what != "multipliers" && what != "smoothing" && what != "rounded" { // which may be no better
				assert.NotEqual(t, before, after, "%s: %s changes nothing", name, what)
			}

			seen = 0
			o, x = made(counted{loss, &seen})
			measureAt(t, o, x)
			seen = 0
			change(o, x)
			measureAt(t, o, x)
			assert.GreaterOrEqual(t, seen, data.N, "%s: %s takes a pass", name, what)
		}
	}
}

// What a pass leaves behind is there where the cost alone was known.
func TestKnownCostLeavesResiduals(t *testing.T) {
	const D = 6
	data := problemtest.WeightedRows(D)
	o, err := objective.New(context.Background(), data, problemtest.Named(t, "squared_l2", D), 2, 3, 1)
	require.NoError(t, err)
	x := problemtest.Place(t, o)
	measureAt(t, o, x)
	grad, want := framework.NewPoint(o.Blocks()), framework.NewPoint(o.Blocks())
	_, err = o.Evaluate(want, x)
	require.NoError(t, err)
	measureAt(t, o, x)
	require.NoError(t, o.Resume(grad))
	assert.Equal(t, want, grad)

	fresh, err := objective.New(context.Background(), data, problemtest.Named(t, "squared_l2", D), 2, 3, 1)
	require.NoError(t, err)
	fresh.Lambda = o.Lambda
	measureAt(t, fresh, x)
	sizes, err := fresh.ResidualSizes(x)
	require.NoError(t, err)
	assert.NotContains(t, sizes, 0.0)
	assert.Len(t, sizes, 30) // of 40 rows, those with weights above 0
}
