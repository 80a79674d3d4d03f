package scqm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
)

// The outer gradient of a row is that of the problem of this row alone, for losses of
// every structure, shapes with kernels of their own, weights and more rows than a batch.
func TestRowGradients(t *testing.T) {
	for _, name := range []string{"squared_l2", "huber", "mahalanobis", "lp", "no structure"} {
		for _, D := range []int{2, 3, 5} {
			rng := rand.New(rand.NewPCG(uint64(D), 7))
			s := minimaCase{minimaCell: minimaCell{loss: name}, d: min(2, D-1), x: noisyParaboloid(rng, D, min(2, D-1), 150)}
			s.x.Weights = make([]float64, s.x.N)
			for i := range s.x.Weights {
				s.x.Weights[i] = 0.5 + rng.Float64()
			}
			loss, err := s.newLoss(rng)
			require.NoError(t, err)
			if name == "no structure" {
				loss = problemtest.BlackBox{Loss: losses.L2()}
			}
			p, err := NewProblem(t.Context(), s.x, loss, s.d, D-s.d, 1)
			require.NoError(t, err)
			at := framework.NewPoint(p.Blocks())
			for b := range at {
				for k := range at[b] {
					at[b][k] = rng.NormFloat64()
				}
			}
			require.NoError(t, p.Blocks()[BlockQ].Restore(at[BlockQ]))
			rows := rng.Perm(s.x.N)[:100]
			shape, _ := p.ArrowheadShape()
			got := make([]float64, len(rows)*shape.Outer)
			require.NoError(t, p.RowGradients(got, at, rows))
			for k, i := range rows {
				alone, err := NewProblem(t.Context(), Data{N: 1, D: D, X: s.x.Row(i), Weights: s.x.Weights[i : i+1]}, loss, s.d, D-s.d, 1)
				require.NoError(t, err)
				want := framework.NewArrowhead(framework.ArrowheadShape{Block: shape.Block, Outer: shape.Outer, Rows: 1, Dim: s.d})
				_, _, err = alone.AssembleHessian(want, framework.Point{at[BlockC], at[BlockQ], at[BlockTheta], at[BlockTau][i*s.d : (i+1)*s.d]})
				require.NoError(t, err)
				assert.InDeltaSlice(t, want.OuterGrad, got[k*shape.Outer:(k+1)*shape.Outer], 1e-12, "%s D = %d row %d", name, D, i)
			}
		}
	}
}
