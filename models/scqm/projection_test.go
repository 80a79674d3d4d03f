package scqm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// randomModel is a curved sheet with random axes.
func randomModel(seed uint64, D, d, s int, curvature float64, loss framework.Loss) *Model {
	f := sheet.New(D, d, s)
	copy(f.C, gaussians(seed, D))
	copy(f.QT, gaussians(seed+1, f.M*D))
	dense.OrthonormalizeRows(f.QT, D)
	copy(f.Theta, gaussians(seed+2, f.Q*s))
	floats.Scale(curvature, f.Theta)
	m := &Model{Loss: loss}
	m.fromSheet(f)
	return m
}

// lossAt returns the loss between x and f(tau).
func lossAt(t testing.TB, m *Model, x, tau []float64) float64 {
	t.Helper()
	y, err := m.Reconstruct(context.Background(), tau, 1)
	require.NoError(t, err)
	floats.Sub(y, x)
	v := make([]float64, 1)
	require.NoError(t, m.Loss.Evaluate(v, nil, y, m.D))
	return v[0]
}

// Points on the sheet, moderately curved, are their own projections.
func TestProjectionKeepsThePointsOfTheSheet(t *testing.T) {
	for _, name := range allLosses {
		m := randomModel(4, 7, 2, 3, 0.1, named(t, name, 7))
		tau := gaussians(5, 2*20)
		x, err := m.Reconstruct(context.Background(), tau, 1)
		require.NoError(t, err)
		got, err := m.Transform(context.Background(), Data{N: 20, D: 7, X: x}, 2)
		require.NoError(t, err)
		assert.InDeltaSlice(t, tau, got, 1e-7, name)
	}
}

// No nearby or random latent point is closer than the projection, rows far away
// included.
func TestProjectionIsTheNearestSheet(t *testing.T) {
	for _, name := range allLosses {
		if name == "quantile" {
			continue // whose rows have a near minimum, without certificate
		}
		for _, shape := range [][3]int{{3, 2, 1}, {6, 2, 3}, {2, 1, 1}, {8, 3, 4}} {
			D, d, s := shape[0], shape[1], shape[2]
			m := randomModel(11, D, d, s, 0.5, named(t, name, D))
			for trial := range 6 {
				x := gaussians(uint64(100+trial), D)
				floats.Scale([]float64{0.3, 2, 10}[trial%3], x)
				tau, err := m.Transform(context.Background(), Data{N: 1, D: D, X: x}, 1)
				require.NoError(t, err)
				best := lossAt(t, m, x, tau)
				rng := rand.New(rand.NewPCG(8, uint64(trial)))
				other := make([]float64, d)
				for k := range 600 {
					spread := math.Pow(10, -4+float64(k%6))
					for j := range other {
						other[j] = rng.NormFloat64() * spread
						if k%2 == 0 {
							other[j] += tau[j]
						}
					}
					require.GreaterOrEqual(t, lossAt(t, m, x, other), best*(1-1e-6), "%s %v row %d: tau %v, better %v", name, shape, trial, tau, other)
				}
			}
		}
	}
}

// A row above the vertex of a parabola is a saddle: the feet are on both sides.
func TestProjectionLeavesASaddle(t *testing.T) {
	m := &Model{D: 2, Latent: 1, Curvature: 1, C: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}, Theta: []float64{1}}
	for _, name := range []string{"l2", "l1", "squared_l2", "lp 1.5", "mahalanobis"} {
		m.Loss = named(t, name, 2)
		tau, err := m.Transform(context.Background(), Data{N: 1, D: 2, X: []float64{0, 10}}, 1)
		require.NoError(t, err)
		assert.InDelta(t, math.Sqrt(9.5), math.Abs(tau[0]), 0.4, name)
	}
	m.Loss = losses.L2()
	tau, err := m.Transform(context.Background(), Data{N: 1, D: 2, X: []float64{0, 10}}, 1)
	require.NoError(t, err)
	assert.InDelta(t, math.Sqrt(9.5), math.Abs(tau[0]), 1e-12)
}

func TestProjectionOfARowIgnoresItsBatch(t *testing.T) {
	const n, D = 130, 6
	for _, name := range []string{"l2", "l1", "lp 1.5", "mahalanobis"} {
		m := randomModel(3, D, 2, 3, 0.5, named(t, name, D))
		x := Data{N: n, D: D, X: gaussians(6, n*D)}
		one, err := m.Transform(context.Background(), x, 1)
		require.NoError(t, err)
		two, err := m.Transform(context.Background(), x, 2)
		require.NoError(t, err)
		assert.Equal(t, one, two)
		for _, i := range []int{0, 57, 129} {
			alone, err := m.Transform(context.Background(), Data{N: 1, D: D, X: x.Row(i)}, 1)
			require.NoError(t, err)
			assert.Equal(t, one[2*i:2*i+2], alone)
		}
	}
}

func TestProjectIsReconstructOfTransform(t *testing.T) {
	const n, D = 40, 5
	for _, name := range allLosses {
		m := randomModel(3, D, 2, 2, 0.3, named(t, name, D))
		x := Data{N: n, D: D, X: gaussians(6, n*D)}
		tau, err := m.Transform(context.Background(), x, 1)
		require.NoError(t, err)
		want, err := m.Reconstruct(context.Background(), tau, 1)
		require.NoError(t, err)
		got, err := m.Project(context.Background(), x, 1)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		again, err := m.Project(context.Background(), Data{N: n, D: D, X: got}, 1)
		require.NoError(t, err)
		assert.InDeltaSlice(t, got, again, 1e-7, name)
	}
}

func TestTransformRefuses(t *testing.T) {
	m := randomModel(3, 3, 1, 1, 0.3, losses.L2())
	for place, x := range map[string]Data{
		"row 1, column 2": {N: 2, D: 3, X: []float64{1, 2, 3, 4, 5, math.NaN()}},
		"2 columns":       {N: 1, D: 2, X: []float64{1, 2}},
		"0 x 3":           {N: 0, D: 3},
	} {
		_, err := m.Transform(context.Background(), x, 1)
		require.ErrorIs(t, err, ErrInput)
		assert.ErrorContains(t, err, place)
	}
	_, err := m.Reconstruct(context.Background(), []float64{math.Inf(1)}, 1)
	require.ErrorIs(t, err, ErrInput)
	_, err = m.Reconstruct(context.Background(), []float64{1e200}, 1)
	require.ErrorIs(t, err, ErrInput)
	m.Loss = nil
	_, err = m.Transform(context.Background(), Data{N: 1, D: 3, X: []float64{1, 2, 3}}, 1)
	assert.ErrorIs(t, err, ErrInput)
}

// The nearest point of a parabola to a row above its vertex.
func ExampleModel_Project() {
	m := &Model{
		D: 2, Latent: 1, Curvature: 1,
		C: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}, Theta: []float64{1},
		Loss: losses.L2(),
	}
	x, err := m.Project(context.Background(), Data{N: 1, D: 2, X: []float64{3, 2}}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", x)
	// Output: [1.5675 2.4570]
}
