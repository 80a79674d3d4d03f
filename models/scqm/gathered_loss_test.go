package scqm

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

// The loss of gathered columns is that of rows with all of them, and so are its derivatives along changes
// that are the same in these.
func TestGatheredLoss(t *testing.T) {
	const n, kept, count = 7, 4, 9
	plain := named(t, "lp 3", kept+count).(evenLoss)
	gathered := newGatheredLoss(named(t, "lp 3", kept+1).(evenLoss), kept+1, count)
	root := math.Sqrt(count)
	spread := func(r []float64) []float64 {
		var whole []float64
		for i := range n {
			row := r[i*(kept+1) : (i+1)*(kept+1)]
			whole = append(whole, row[:kept]...)
			for range count {
				whole = append(whole, row[kept]/root)
			}
		}
		return whole
	}
	gather := func(g []float64) []float64 {
		var few []float64
		for i := range n {
			row := g[i*(kept+count) : (i+1)*(kept+count)]
			few = append(append(few, row[:kept]...), floats.Sum(row[kept:])/root)
		}
		return few
	}
	r, v := gaussians(1, n*(kept+1)), gaussians(2, n*(kept+1))
	before, whole := append([]float64(nil), r...), spread(r)
	want, slopes := make([]float64, n), make([]float64, len(whole))
	require.NoError(t, plain.Evaluate(want, slopes, whole, kept+count))
	got, grad := make([]float64, n), make([]float64, len(r))
	require.NoError(t, gathered.Evaluate(got, grad, r, kept+1))
	assert.InDeltaSlice(t, want, got, 1e-12)
	assert.InDeltaSlice(t, gather(slopes), grad, 1e-12)
	require.NoError(t, gathered.Evaluate(nil, grad, r, kept+1))
	assert.InDeltaSlice(t, gather(slopes), grad, 1e-12)

	phi, d1, d2 := make([]float64, len(r)), make([]float64, len(r)), make([]float64, len(r))
	gathered.Phi(phi, d1, d2, r)
	for i := range n {
		assert.InDelta(t, want[i], floats.Sum(phi[i*(kept+1):(i+1)*(kept+1)]), 1e-12)
	}
	assert.InDeltaSlice(t, grad, d1, 1e-12)

	product := make([]float64, len(whole))
	require.NoError(t, plain.HessianProduct(product, whole, spread(v), kept+count))
	few := make([]float64, len(r))
	require.NoError(t, gathered.HessianProduct(few, r, v, kept+1))
	assert.InDeltaSlice(t, gather(product), few, 1e-12)
	for k, c := range d2 {
		assert.InDelta(t, c*v[k], few[k], 1e-12)
	}
	assert.Equal(t, before, r)

	require.NoError(t, gathered.Evaluate(nil, r, r, kept+1))
	assert.InDeltaSlice(t, grad, r, 1e-12)
}

// Gathered coordinates keep products, and points go there and back.
func TestGatheredColumns(t *testing.T) {
	const n, D, m = 5, 6, 2
	x := Data{N: n, D: D, X: gaussians(3, n*D)}
	for i := range n {
		x.X[i*D+1], x.X[i*D+4], x.X[i*D+5] = 3, 0, -2
	}
	f, fewer := rows.VaryingColumns(x)
	fewer = f.Gather(fewer)
	inside, outside := f.Dims()
	assert.Equal(t, [3]int{4, 6, 4}, [3]int{inside, outside, fewer.D})
	c, q := gaussians(4, inside), gaussians(5, inside*m)
	whole, frame := make([]float64, D), make([]float64, D*m)
	f.ExpandPoint(whole, c)
	f.ExpandFrame(frame, q, m)
	assert.InDelta(t, floats.Dot(q, q), floats.Dot(frame, frame), 1e-12)
	back, backFrame := make([]float64, inside), make([]float64, inside*m)
	f.ShrinkPoint(back, whole)
	f.ShrinkFrame(backFrame, frame, m)
	assert.InDeltaSlice(t, c, back, 1e-12)
	assert.InDeltaSlice(t, q, backFrame, 1e-12)
	for i := range n { // the distance of a row from c is kept
		var inner, outer float64
		for j, v := range fewer.Row(i) {
			inner += (v - c[j]) * (v - c[j])
		}
		for j, v := range x.Row(i) {
			outer += (v - whole[j]) * (v - whole[j])
		}
		assert.InDelta(t, outer, inner, 1e-12)
	}
}

// Fits under |r|^p with p > 2 reach into columns in which all rows are the same, which lowers the cost, and end where
// the whole problem has no slope.
func TestFitsReachIntoConstantColumns(t *testing.T) {
	x := digits(t, 60, "4", "9")
	loss := named(t, "lp 3", x.D)
	fit := learn(t, x, Config{Latent: 2, Loss: loss})
	assert.Equal(t, framework.Converged, fit.Run.Status)

	p, err := NewProblem(context.Background(), x, loss, 2, 3, 1)
	require.NoError(t, err)
	p.Lambda = 1
	p.Lambda = fit.Model.Meta.Penalty / p.Penalty(nil, fit.Run.Point[BlockTheta])
	stationarity := make([]float64, len(p.Blocks()))
	require.NoError(t, p.Stationarity(stationarity, fit.Run.Point))
	assert.LessOrEqual(t, floats.Max(stationarity), 1e-6)
	assert.Less(t, p.Blocks()[BlockQ].Violation(fit.Run.Point[BlockQ]), 1e-12)

	_, fewer := rows.VaryingColumns(x)
	assert.Less(t, fit.Run.Cost, learn(t, fewer, Config{Latent: 2, Loss: loss}).Run.Cost*(1-1e-6))
}
