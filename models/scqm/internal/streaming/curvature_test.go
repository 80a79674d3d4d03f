package streaming

import (
	"slices"
	"testing"

	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/models/scqm/internal/problemtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// The reduced gradient and Hessian are those of the cost with tau eliminated.
func TestStreamCurvature(t *testing.T) {
	x := bentRows(5, 1100, 5)
	for _, name := range []string{"mahalanobis", "lp 4", "huber"} {
		loss := problemtest.Named(t, name, x.D)
		p := New(t.Context(), &engine{x, loss}, loss, 1, 1)
		starts, err := p.NewStarts()
		require.NoError(t, err)
		starts.Begin(1, 1e-3, nil)
		at, err := starts.Point()
		require.NoError(t, err)
		shape, fits := p.ArrowheadShape()
		require.True(t, fits)
		a := latent.NewArrowhead(shape)
		cost, _, err := p.AssembleHessian(a, at)
		require.NoError(t, err)
		v := problemtest.Gaussians(9, shape.Outer)
		var slope, bend float64
		for i, u := range v {
			slope += a.OuterGrad[i] * u
			bend += u * floats.Dot(a.A[i*shape.Outer:(i+1)*shape.Outer], v)
		}
		const h = 2e-4
		costs := [2]float64{}
		for k, sign := range []float64{-h, h} {
			step, there := slices.Clone(v), at.Clone()
			floats.Scale(sign, step)
			require.NoError(t, p.RetractOuter(there, at, step))
			costs[k], _, err = p.InnerStep(there, nil)
			require.NoError(t, err)
		}
		assert.InEpsilon(t, (costs[1]-costs[0])/(2*h), slope, 1e-4, name)
		assert.InEpsilon(t, (costs[0]+costs[1]-2*cost)/(h*h), bend, 1e-3, name)
	}
}
