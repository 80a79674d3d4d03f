package frameworktest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

const sphere = manifolds.Sphere(4)

func point(t *testing.T, m framework.Rander, size int) []float64 {
	t.Helper()
	x := make([]float64, size)
	m.Rand(x, rand.New(rand.NewPCG(7, 7)))
	return x
}

func TestManifoldAcceptsUserDefined(t *testing.T) {
	frameworktest.TestManifold(t, "orthant", orthant(3), 1, []float64{0.5, 1, 3})
	frameworktest.TestManifold(t, "bare sphere", bare{Manifold: sphere}, 1, []float64{0, 1, 0, 0}, []float64{-0.6, 0, 0.8, 0})
}

func TestManifoldReportsMeasuredSlopes(t *testing.T) {
	report := frameworktest.CheckManifold("sphere", sphere, 1)
	require.Empty(t, report.Broken())
	details := map[string]string{}
	for _, v := range report.Verdicts {
		details[v.Law] = v.Detail
	}
	assert.Regexp(t, `^slope (2\.0|1\.9)`, details["retraction slope"])
	assert.Regexp(t, `^slope (3\.0|2\.9)`, details["exponential"])
	assert.Contains(t, details, "concurrent")
}

func TestManifoldNeedsAPoint(t *testing.T) {
	assert.Equal(t, []string{"points"}, frameworktest.CheckManifold("no points", bare{Manifold: sphere}, 1).Broken())
	assert.Equal(t, []string{"points"}, frameworktest.CheckManifold("short", sphere, 1, []float64{1}).Broken())
	assert.Equal(t, []string{"points"}, frameworktest.CheckManifold("off", sphere, 1, []float64{1, 1, 0, 0}).Broken())
}

func TestManifoldIsReproducible(t *testing.T) {
	m := manifolds.NewStiefel(5, 2)
	assert.Equal(t, frameworktest.CheckManifold("a", m, 3), frameworktest.CheckManifold("a", m, 3))
}

// TestManifoldFindsBroken breaks manifolds in one way each.
func TestManifoldFindsBroken(t *testing.T) {
	stiefel := manifolds.NewStiefel(5, 2)
	start := point(t, stiefel, 10)
	spoiledRetraction := func(spoil func(dst, x, v []float64)) framework.Manifold {
		return bare{Manifold: stiefel, retract: func(dst, x, v []float64) error {
			err := stiefel.Retract(dst, x, v)
			spoil(dst, x, v)
			return err
		}}
	}
	spoiledProjection := func(spoil func(dst, x, v []float64)) framework.Manifold {
		return bare{Manifold: stiefel, project: func(dst, x, v []float64) {
			stiefel.Project(dst, x, v)
			spoil(dst, x, v)
		}}
	}
	var calls, inFlight atomic.Int64
	cases := map[string]struct {
		m      framework.Manifold
		broken []string
	}{
		"dimension above size": {sized{stiefel, 11}, []string{"sizes"}},
		"dimension too small":  {sized{stiefel, 6}, []string{"dimension"}},
		"dimension too large":  {sized{stiefel, 8}, []string{"dimension"}},
		"points drawn off the manifold": {
			rander{sphere, func(dst []float64, rng *rand.Rand) { manifolds.Euclidean(4).Rand(dst, rng) }},
			[]string{"points"},
		},
		"points drawn from a clock": {
			rander{sphere, func(dst []float64, _ *rand.Rand) {
				sphere.Rand(dst, rand.New(rand.NewPCG(uint64(calls.Add(1)), 0)))
			}},
			[]string{"points"},
		},
		"projection too short": {
			spoiledProjection(func(dst, _, _ []float64) { floats.Scale(0.9, dst) }),
			[]string{"projection idempotent"},
		},
		"projection oblique": {
			// Onto the same space, along a direction that is not normal.
			bare{Manifold: sphere, project: func(dst, x, v []float64) {
				c := floats.Dot(x, v)
				oblique := []float64{x[0] + 0.3*x[1], x[1] - 0.3*x[0], x[2] + 0.3*x[3], x[3] - 0.3*x[2]}
				floats.AddScaledTo(dst, v, -c, oblique)
			}},
			[]string{"projection self-adjoint"},
		},
		"projection not linear": {
			spoiledProjection(func(dst, _, _ []float64) {
				for i := range dst {
					dst[i] = math.Abs(dst[i])
				}
			}),
			[]string{"projection idempotent", "projection linear", "projection self-adjoint"},
		},
		"projection on another subspace": {
			bare{Manifold: sphere, project: func(dst, x, v []float64) {
				normal := []float64{x[1], -x[0], x[3], -x[2]}
				floats.AddScaledTo(dst, v, -floats.Dot(normal, v), normal)
			}},
			[]string{"retraction slope"},
		},
		"retraction leaves the manifold": {
			constrained{bare{Manifold: stiefel, retract: manifolds.Euclidean(10).Retract}, stiefel},
			[]string{"retraction on manifold"},
		},
		"retraction at twice the speed": {
			bare{Manifold: stiefel, retract: func(dst, x, v []float64) error {
				return stiefel.Retract(dst, x, floats.ScaleTo(make([]float64, len(v)), 2, v))
			}},
			[]string{"retraction slope"},
		},
		"retraction without sign fix": {
			spoiledRetraction(func(dst, _, _ []float64) { floats.Scale(-1, dst) }),
			[]string{"retraction at zero", "retraction slope"},
		},
		"retraction claims order 2": {
			claimed{bare{Manifold: stiefel}, 2},
			[]string{"second order"},
		},
		"retraction hides NaN": {
			bare{Manifold: sphere, retract: func(dst, x, v []float64) error {
				if sphere.Retract(dst, x, v) != nil {
					copy(dst, x)
				}
				return nil
			}},
			[]string{"retraction of non-finite steps"},
		},
		"retraction gives NaN": {
			bare{Manifold: sphere, retract: func(dst, x, v []float64) error {
				floats.AddTo(dst, x, v)
				floats.Scale(1/math.Sqrt(floats.Dot(dst, dst)), dst)
				return nil
			}},
			[]string{"retraction of non-finite steps"},
		},
		"retraction reads x after writing": {
			bare{Manifold: sphere, retract: func(dst, x, v []float64) error {
				err := sphere.Retract(dst, x, v)
				if floats.Distance(dst, x, 2) == 0 {
					copy(dst, v)
				}
				return err
			}},
			[]string{"retraction at zero", "aliasing"},
		},
		"projection clears its destination first": {
			bare{Manifold: sphere, project: func(dst, x, v []float64) {
				clear(dst)
				floats.AddScaled(dst, -floats.Dot(x, v), x)
				floats.Add(dst, v)
			}},
			[]string{"aliasing"},
		},
		"retraction overwrites its step": {
			spoiledRetraction(func(_, _, v []float64) { floats.Scale(2, v) }),
			[]string{"inputs kept"},
		},
		"projection adds to its destination": {
			bare{Manifold: sphere, project: func(dst, x, v []float64) {
				old := slices.Clone(dst)
				sphere.Project(dst, x, v)
				if &dst[0] != &x[0] && &dst[0] != &v[0] {
					floats.Add(dst, old)
				}
			}},
			[]string{"destination overwritten"},
		},
		"retraction counts its calls": {
			spoiledRetraction(func(dst, _, _ []float64) { dst[0] += 1e-15 * float64(calls.Add(1)%2) }),
			[]string{"deterministic"},
		},
		"retraction shares a buffer": {
			bare{Manifold: stiefel, retract: func(dst, x, v []float64) error {
				defer inFlight.Add(-1)
				alone := inFlight.Add(1) == 1
				for range 100 {
					runtime.Gosched()
				}
				err := stiefel.Retract(dst, x, v)
				if !alone {
					dst[0] += 1e-9
				}
				return err
			}},
			[]string{"concurrent"},
		},
		"transport leaves vectors as they are": {
			transporter{bare{Manifold: stiefel}, func(dst, _, _, v []float64) { copy(dst, v) }},
			[]string{"transport tangent"},
		},
		"transport normalizes": {
			transporter{bare{Manifold: stiefel}, func(dst, _, y, v []float64) {
				length := floats.Norm(v, 2)
				stiefel.Project(dst, y, v)
				floats.Scale(length/floats.Norm(dst, 2), dst)
			}},
			[]string{"transport linear"},
		},
		"transport shrinks": {
			transporter{bare{Manifold: stiefel}, func(dst, _, y, v []float64) {
				stiefel.Project(dst, y, v)
				floats.Scale(0.99, dst)
			}},
			[]string{"transport at rest"},
		},
		"exponential is the QR retraction": {
			exper{bare{Manifold: stiefel}, stiefel.Retract},
			[]string{"geodesic"},
		},
		"exponential is too slow": {
			exper{bare{Manifold: stiefel}, func(dst, x, v []float64) error {
				return stiefel.Exp(dst, x, floats.ScaleTo(make([]float64, len(v)), 0.999, v))
			}},
			[]string{"exponential", "geodesic"},
		},
		"exponential leaves the manifold for long steps": {
			struct {
				exper
				framework.Constrained
			}{exper{bare{Manifold: stiefel}, func(dst, x, v []float64) error {
				if floats.Norm(v, 2) > 10 {
					return manifolds.Euclidean(10).Exp(dst, x, v)
				}
				return stiefel.Exp(dst, x, v)
			}}, stiefel},
			[]string{"exponential on manifold"},
		},
		"exponential hides NaN": {
			exper{bare{Manifold: stiefel}, func(dst, x, v []float64) error {
				if stiefel.Exp(dst, x, v) != nil {
					copy(dst, x)
				}
				return nil
			}},
			[]string{"exponential of non-finite steps"},
		},
		"restore hides NaN": {
			restorer{sphere, func(x []float64) error {
				if sphere.Restore(x) != nil {
					clear(x)
				}
				return nil
			}},
			[]string{"restore"},
		},
		"hessian without curvature": {
			hessian{bare{Manifold: stiefel}, func(dst, x, _, h, _ []float64) { stiefel.Project(dst, x, h) }},
			[]string{"hessian"},
		},
		"hessian not tangent": {
			hessian{bare{Manifold: stiefel}, func(dst, _, _, h, _ []float64) { copy(dst, h) }},
			[]string{"hessian symmetric", "hessian"},
		},
		"restore does nothing": {
			restorer{sphere, func([]float64) error { return nil }},
			[]string{"restore"},
		},
		"restore jumps": {
			restorer{sphere, func(x []float64) error {
				floats.Scale(-1, x)
				return sphere.Restore(x)
			}},
			[]string{"restore"},
		},
		"metric not symmetric": {
			metric{orthant(6), func(x, u, v []float64) float64 {
				return orthant(6).Inner(x, u, v) + u[0]*v[1]
			}, orthant(6).Gradient},
			[]string{"second order", "geodesic", "metric", "gradient", "hessian symmetric", "hessian"},
		},
		"gradient left Euclidean": {
			metric{orthant(6), orthant(6).Inner, func(dst, _, g []float64) { copy(dst, g) }},
			[]string{"gradient"},
		},
		"panics": {
			bare{Manifold: stiefel, project: func(_, _, _ []float64) { panic("not implemented") }},
			[]string{"projection idempotent", "projection linear", "projection self-adjoint"},
		},
	}
	starts := map[int][]float64{10: start, 4: {0.1, 0.5, -0.5, 0.7}, 6: {1, 2, 3, 0.5, 1, 2}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var points [][]float64
			if _, ok := c.m.(framework.Rander); !ok {
				points = [][]float64{starts[c.m.Size()]}
			}
			report := frameworktest.CheckManifold(name, c.m, 1, points...)
			assert.Equal(t, c.broken, report.Broken(), "%v", report.Err())
		})
	}
}

// recorder is a TB that keeps what it is told.
type recorder struct{ failures []string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestManifoldReportsToT(t *testing.T) {
	var r recorder
	frameworktest.TestManifold(&r, "wrong", sized{manifolds.NewStiefel(3, 1), 4}, 1)
	require.Len(t, r.failures, 1)
	assert.Equal(t, "wrong: sizes: Dim is 4, Size 3", r.failures[0])
}
