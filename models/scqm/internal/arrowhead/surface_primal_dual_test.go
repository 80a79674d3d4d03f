package arrowhead

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// anyHessian is that of a sheet of some shape at a point of n rows.
func anyHessian(t *testing.T, rng *rand.Rand, loss framework.Loss, n, D, d, s int) (*Hessian, framework.Point) {
	t.Helper()
	x := rows.Data{N: n, D: D, X: make([]float64, n*D)}
	for i := range x.X {
		x.X[i] = rng.NormFloat64()
	}
	o, err := objective.New(t.Context(), x, loss, d, s, 1)
	require.NoError(t, err)
	at := framework.NewPoint(o.Blocks())
	for _, block := range at {
		for i := range block {
			block[i] = rng.NormFloat64()
		}
	}
	q := make([]float64, D*(d+s))
	dense.Transpose(q, at[objective.BlockQ], D, d+s)
	dense.OrthonormalizeRows(q, D)
	dense.Transpose(at[objective.BlockQ], q, d+s, D)
	return New(o), at
}

// The kernels of surfaces give what those for any sheet do.
func TestSurfacePrimalDual(t *testing.T) {
	for _, loss := range []framework.Loss{losses.L2(), losses.L1(), lp(t, 1.25), lp(t, 1.4), lp(t, 1.5), lp(t, 1.75)} {
		t.Run(loss.Name(), func(t *testing.T) { testSurfacePrimalDual(t, loss) })
	}
}

func lp(t *testing.T, p float64) framework.Loss {
	t.Helper()
	loss, err := losses.Lp(p)
	require.NoError(t, err)
	return loss
}

func testSurfacePrimalDual(t *testing.T, loss framework.Loss) {
	rng := rand.New(rand.NewPCG(6, 7))
	const n = 150 // more than a batch
	a, x := anyHessian(t, rng, loss, n, 3, 2, 1)
	for i := range n {
		copy(a.o.Data().Row(i), x[objective.BlockC]) // some residuals are small
		for j := range 3 {
			a.o.Data().Row(i)[j] += rng.NormFloat64()
		}
	}
	a.o.Smooth(1e-2)
	shape, _ := a.ArrowheadShape()
	got, want := latent.NewArrowhead(shape), latent.NewArrowhead(shape)
	dual := make([]float64, 3*n)
	for i := range dual {
		dual[i] = rng.NormFloat64() / 2
	}
	cost, _, err := a.AssemblePrimalDual(got, x, dual)
	require.NoError(t, err)
	require.True(t, a.isDualSurface())
	a.growDiagonal()
	generic := &anySheetShard{primalDualShard{assembleShard: assembleShard{dst: want, tau: x[objective.BlockTau]}, dual: dual}}
	require.NoError(t, a.eachShard(generic))
	a.total.reset()
	for _, s := range a.sums {
		a.total.add(s)
	}
	a.finish(want, a.total, a.total.dual)
	a.addPenalty(want, x[objective.BlockTheta])
	assert.InEpsilon(t, a.total.cost+a.o.Penalty(nil, x[objective.BlockTheta]), cost, 1e-12)
	for _, pair := range [][2][]float64{
		{want.A, got.A}, {want.B, got.B}, {want.C, got.C}, {want.OuterGrad, got.OuterGrad}, {want.InnerGrad, got.InnerGrad},
	} {
		assert.InDeltaSlice(t, pair[0], pair[1], 1e-11*(1+floats.Norm(pair[0], math.Inf(1))))
	}

	v, w := make([]float64, shape.Outer), make([]float64, 2*n)
	for _, some := range [][]float64{v, w} {
		for i := range some {
			some[i] = 0.1 * rng.NormFloat64()
		}
	}
	moved := append([]float64(nil), dual...)
	require.NoError(t, a.MoveDual(moved, x, v, w, 0.7))
	slow := moveDualShard{
		primalDualShard: primalDualShard{assembleShard: assembleShard{tau: x[objective.BlockTau]}, dual: dual}, inner: w, fraction: 0.7,
		outer: make([]float64, 3*7),
	}
	for p, step := range v {
		for _, term := range a.TermsOf(p) {
			slow.outer[term.Row*7+term.Feature] += term.Sign * step
		}
	}
	worker := a.worker(0)
	require.NoError(t, slow.eachRow(a, worker, 0, n, func(i, k int) { slow.moveRow(a, worker, i, k) }))
	assert.InDeltaSlice(t, dual, moved, 1e-12)
}

func TestRaise(t *testing.T) {
	for _, p := range []float64{1, 1.25, 1.4, 1.5, 1.75} {
		for _, v := range []float64{0, 1e-300, 1e-9, 0.3, 1, 2, 1e9, 1e150} {
			want := math.Pow(v, p)
			assert.InDelta(t, want, raise(v, p), 1e-14*want, "%v^%v", v, p)
		}
	}
}

// anySheetShard assembles rows without the kernels of surfaces.
type anySheetShard struct{ primalDualShard }

func (job *anySheetShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.reset()
	return job.addRows(a, w, s, lo, hi)
}
