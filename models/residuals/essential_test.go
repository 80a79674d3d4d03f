package residuals_test

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
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/residuals"
	"github.com/scqm/scqm/models/rows"
)

// views draws points in front of two cameras, as those see them, of which the first so
// many are seen elsewhere by the second, and all with noise.
func views(n, wrong int, noise float64, rng *rand.Rand) (a, b rows.Data, truth framework.Point) {
	m := manifolds.NewRotations(3)
	truth = framework.Point{make([]float64, 9), make([]float64, 3)}
	v := make([]float64, 9)
	identity := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	for i := range v {
		v[i] = 0.2 * rng.NormFloat64()
	}
	m.Project(v, identity, v)
	if err := m.Exp(truth[0], identity, v); err != nil {
		panic(err)
	}
	manifolds.Sphere(3).Rand(truth[1], rng)
	a, b = rows.Data{N: n, D: 2}, rows.Data{N: n, D: 2}
	for len(a.X) < 2*n {
		p := [3]float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64(), 4 + 4*rng.Float64()}
		var q [3]float64
		for j := range 3 {
			q[j] = floats.Dot(truth[0][3*j:3*j+3], p[:]) + truth[1][j]
		}
		if q[2] < 0.5 {
			continue
		}
		a.X = append(a.X, p[0]/p[2]+noise*rng.NormFloat64(), p[1]/p[2]+noise*rng.NormFloat64())
		b.X = append(b.X, q[0]/q[2]+noise*rng.NormFloat64(), q[1]/q[2]+noise*rng.NormFloat64())
		if len(b.X) <= 2*wrong {
			b.X[len(b.X)-2], b.X[len(b.X)-1] = rng.NormFloat64(), rng.NormFloat64()
		}
	}
	return a, b, truth
}

// gemanMcClure is the sum of s^2 r_k^2/(r_k^2 + s^2) with a scale s: it forgets rows that
// are far off.
type gemanMcClure struct{ s float64 }

func (gemanMcClure) Name() string { return "geman_mcclure" }

func (l gemanMcClure) Evaluate(values, grad, r []float64, dim int) error {
	clear(values)
	for i, v := range r {
		w := l.s * l.s / (v*v + l.s*l.s)
		if values != nil {
			values[i/dim] += v * v * w
		}
		if grad != nil {
			grad[i] = 2 * v * w * w
		}
	}
	return nil
}

func (l gemanMcClure) HessianProduct(dst, r, v []float64, _ int) error {
	for i, x := range r {
		w := l.s * l.s / (x*x + l.s*l.s)
		dst[i] = v[i] * 2 * w * w * (4*w - 3)
	}
	return nil
}

func TestEssentialLaws(t *testing.T) {
	a, b, truth := views(12, 3, 0.01, rand.New(rand.NewPCG(1, 1)))
	f, err := residuals.NewEssential(a, b)
	require.NoError(t, err)
	for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2(), gemanMcClure{0.1}} {
		p, err := residuals.New(context.Background(), f, loss, nil, 1)
		require.NoError(t, err)
		frameworktest.TestProblem(t, "essential, "+loss.Name(), p, frameworktest.ProblemOptions{Point: truth, Seed: 2})
	}
	a.X[3] = math.NaN()
	_, err = residuals.NewEssential(a, b)
	assert.ErrorContains(t, err, "view 1, row 1 has NaN")
	_, err = residuals.NewEssential(rows.Data{N: 7, D: 2, X: make([]float64, 14)}, rows.Data{N: 7, D: 2, X: make([]float64, 14)})
	assert.ErrorContains(t, err, "at least 8")
	same, err := residuals.NewEssential(rows.Data{N: 8, D: 2, X: make([]float64, 16)}, rows.Data{N: 8, D: 2, X: make([]float64, 16)})
	require.NoError(t, err)
	_, err = same.Start()
	assert.ErrorContains(t, err, "do not determine")
}

// TestDrillEssential: a third of the pairs may be wrong; the motion of the others is found
// to the last digits, and near by where they have noise.
func TestDrillEssential(t *testing.T) {
	drill.Run(t, "essential matrices", 6, func(c drill.Case) error {
		n := 30 + c.IntN(70)
		wrong, noise := c.IntN(1+n/3), []float64{0, 0, 1e-4}[c.IntN(3)]
		a, b, truth := views(n, wrong, noise, c.Rand)
		f, err := residuals.NewEssential(a, b)
		if err != nil {
			return err
		}
		start, err := f.Start()
		if err != nil {
			return err
		}
		// Wrong pairs that fit but for the scale count: it is that of the noise.
		fit, err := residuals.Fit(context.Background(), f, start, residuals.Config{Loss: gemanMcClure{max(10*noise, 1e-6)}, Threads: 1,
			Options: framework.Options{Tolerance: 1e-10}})
		if err != nil {
			return err
		}
		if fit.Run.Status != framework.Converged {
			return fmt.Errorf("%d of %d wrong, noise %g: %s", wrong, n, noise, fit.Run.Message)
		}
		off, err := framework.Product(f.Blocks()).Distance(fit.Point, truth)
		if err == nil && !(off <= 1e-6+300*noise) {
			return fmt.Errorf("%d of %d wrong, noise %g: ends %g from the truth", wrong, n, noise, off)
		}
		return err
	})
}
