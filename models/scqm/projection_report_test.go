package scqm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The bound is no less than what is found by trying directions, and no more where
// it is exact.
func TestFormBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	for _, shape := range []struct {
		d, s  int
		slack float64
	}{{1, 1, 1}, {1, 4, 1}, {2, 1, 1}, {2, 2, 1}, {2, 3, 1}, {3, 1, 1}, {3, 2, math.Sqrt2}, {4, 6, math.Sqrt(6)}} {
		for range 5 {
			f := sheet.New(shape.d+shape.s, shape.d, shape.s)
			for i := range f.Theta {
				f.Theta[i] = 1e3 * rng.NormFloat64()
			}
			most, phi, bent, u := 0.0, make([]float64, f.Q), make([]float64, f.S), make([]float64, f.Latent)
			for range 3000 {
				for j := range u {
					u[j] = rng.NormFloat64()
				}
				floats.Scale(1/floats.Norm(u, 2), u)
				sheet.Vech(phi, u)
				f.Quadratic(bent, phi)
				most = math.Max(most, floats.Norm(bent, 2))
			}
			got := f.CurvatureBound()
			assert.GreaterOrEqual(t, got, most*(1-1e-12), "d = %d, s = %d", shape.d, shape.s)
			assert.LessOrEqual(t, got, most*shape.slack*1.02, "d = %d, s = %d", shape.d, shape.s)
		}
	}
}

// Correction of Theorem 1: two directions of curvature 1 bend like one of
// curvature sqrt 2. At the residual -0.4 e1 the largest single form promises
// convexity, up to 1/2, and there is none.
func TestConvexityRegionCountsAllForms(t *testing.T) {
	h := math.Sqrt(0.5)
	m := &Model{ // f = tau e3 + tau^2 (V1 + V2), V1 + V2 = sqrt 2 e1
		D: 3, Latent: 1, Curvature: 2, C: make([]float64, 3), U: []float64{0, 0, 1},
		V: []float64{h, h, h, -h, 0, 0}, Theta: []float64{1, 1}, Loss: losses.SquaredL2(),
	}
	require.NoError(t, m.Validate())
	c := newConvexity(m.sheet(), m.Loss)
	assert.InDelta(t, math.Sqrt2, c.most, 1e-15)
	for _, at := range []struct {
		size   float64
		convex bool
	}{{0.4, false}, {0.35, true}} {
		x := []float64{at.size, 0, 0}
		e := nearest.RowEvaluation{Sheet: m.sheet(), Loss: m.Loss, Data: Data{N: 1, D: 3, X: x}, Tau: []float64{0}}
		var hess [1]float64
		require.NoError(t, e.Run(context.Background(), nearest.NewWorker(m.sheet(), 1), nearest.RowResults{Hess: hess[:]}, nil, 0, 1))
		assert.Equal(t, at.convex, hess[0] > 0)
		assert.Equal(t, at.convex, c.holds([]float64{-at.size, 0, 0}))
	}
}

// projected reports on one row.
func projected(t *testing.T, m *Model, x []float64) RowProjection {
	t.Helper()
	p, err := m.ProjectAll(context.Background(), Data{N: 1, D: m.D, X: x}, 1)
	require.NoError(t, err)
	return p.Rows[0]
}

// minimaOnLine returns the distances of x from the sheet at the minima of the
// loss along a sheet of dimension 1, by a dense search, the least loss first.
func minimaOnLine(t *testing.T, m *Model, x []float64, reach float64) (distances []float64) {
	t.Helper()
	const steps = 8000
	at := func(i int) float64 { return reach * (2*float64(i)/steps - 1) }
	values := make([]float64, steps+1)
	for i := range values {
		values[i] = lossAt(t, m, x, []float64{at(i)})
	}
	type found struct{ value, distance float64 }
	var list []found
	for i := 1; i < steps; i++ {
		if values[i] < values[i-1] && values[i] <= values[i+1] {
			y, err := m.Reconstruct(context.Background(), []float64{at(i)}, 1)
			require.NoError(t, err)
			list = append(list, found{values[i], floats.Distance(x, y, 2)})
		}
	}
	slices.SortFunc(list, func(a, b found) int { return int(math.Copysign(1, a.value-b.value)) })
	for _, f := range list {
		distances = append(distances, f.distance)
	}
	return distances
}

func TestProjectionReportAgreesWithDenseSearch(t *testing.T) {
	parts := map[int]int{}
	for _, name := range []string{"l2", "squared_l2", "huber"} {
		m := randomModel(21, 4, 1, 2, 0.8, named(t, name, 4))
		for trial := range 8 {
			x := gaussians(uint64(300+trial), 4)
			floats.Scale(1.5, x)
			got, want := projected(t, m, x), minimaOnLine(t, m, x, 6)
			parts[got.Parts]++
			require.Equal(t, len(want), got.Parts, "%s %d", name, trial)
			assert.InDelta(t, want[0], got.Residual, 1e-3)
			if got.Parts > 1 {
				assert.InDelta(t, want[1], got.Second, 1e-3)
			} else {
				assert.Zero(t, got.Second)
			}
		}
	}
	assert.Positive(t, parts[1])
	assert.Positive(t, parts[2])
}

// Where the certificate holds, the loss is convex at the projection; for functions
// of the norm no point of the sheet is as near.
func TestCertifiedProjections(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, name := range []string{"l2", "squared_l2", "huber", "lp 1.5", "lp 1.25"} {
		for _, shape := range [][3]int{{3, 1, 2}, {4, 2, 2}, {6, 3, 2}} {
			D, d, s := shape[0], shape[1], shape[2]
			m := randomModel(31, D, d, s, 0.5, named(t, name, D))
			tau := gaussians(7, d*40)
			x, err := m.Reconstruct(context.Background(), tau, 1)
			require.NoError(t, err)
			for i := range x {
				x[i] += 0.1 * rng.NormFloat64()
			}
			p, err := m.ProjectAll(context.Background(), Data{N: 40, D: D, X: x}, 2)
			require.NoError(t, err)
			require.True(t, p.Certifies)
			certified := 0
			for i, r := range p.Rows {
				if !r.Certified {
					continue
				}
				certified++
				assert.Positive(t, r.MinEigenvalue, name)
				if name[0] != 'l' || name == "l2" {
					assert.True(t, r.Parts == 1 || r.Second > r.Residual, name)
					for range 30 {
						other := slices.Clone(p.Tau[i*d : (i+1)*d])
						scale := math.Pow(10, rng.Float64()*3-2)
						for j := range other {
							other[j] += scale * rng.NormFloat64()
						}
						y, err := m.Reconstruct(context.Background(), other, 1)
						require.NoError(t, err)
						require.Greater(t, floats.Distance(y, x[i*D:(i+1)*D], 2), r.Residual)
					}
				}
			}
			assert.Positive(t, certified, "%s %v", name, shape)
		}
	}
}

func TestProjectionReportIsProjection(t *testing.T) {
	for _, name := range allLosses {
		for _, shape := range [][3]int{{4, 2, 2}, {4, 1, 0}} {
			m := randomModel(41, 4, shape[1], shape[2], 0.3, named(t, name, 4))
			x := Data{N: 33, D: 4, X: gaussians(43, 33*4)}
			p, err := m.ProjectAll(context.Background(), x, 3)
			require.NoError(t, err, name)
			tau, err := m.Transform(context.Background(), x, 1)
			require.NoError(t, err)
			rows, err := m.Project(context.Background(), x, 1)
			require.NoError(t, err)
			assert.Equal(t, tau, p.Tau, name)
			assert.Equal(t, rows, p.X, name)
			for i, r := range p.Rows {
				assert.InDelta(t, floats.Distance(x.Row(i), rows[i*4:(i+1)*4], 2), r.Residual, 1e-12)
				assert.False(t, r.Certified && !p.Certifies)
				if shape[2] == 0 {
					assert.Equal(t, 1, r.Parts)
					assert.Equal(t, p.Certifies, r.Certified)
				}
			}
		}
	}
}

func TestProjectionReportRefusals(t *testing.T) {
	m := randomModel(51, 3, 1, 1, 0.5, losses.L2())
	_, err := m.ProjectAll(context.Background(), Data{N: 1, D: 2, X: []float64{1, 2}}, 1)
	assert.ErrorContains(t, err, "2 columns")
	_, err = m.ProjectAll(context.Background(), Data{N: 1, D: 3, X: []float64{1e300, 1e300, 1e300}}, 1)
	assert.ErrorIs(t, err, ErrInput)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = m.ProjectAll(ctx, Data{N: 1, D: 3, X: make([]float64, 3)}, 1)
	assert.ErrorIs(t, err, context.Canceled)
	// A row on the sheet itself, where l2 has its kink.
	on, err := m.Reconstruct(context.Background(), []float64{0.7}, 1)
	require.NoError(t, err)
	r := projected(t, m, on)
	assert.Less(t, r.Residual, 1e-12)
	assert.True(t, r.Certified)
	assert.False(t, math.IsInf(r.MinEigenvalue, 0) || math.IsNaN(r.MinEigenvalue))
}
