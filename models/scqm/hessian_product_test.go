package scqm

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
)

// firstOnly hides the second derivatives of a problem.
type firstOnly struct{ framework.Problem }

// productAlong returns the Riemannian Hessian at x along the tangent vector v.
func productAlong(t *testing.T, p framework.Problem, x, v framework.Point) framework.Point {
	t.Helper()
	e := framework.NewEvaluator(context.Background(), p)
	grad, h := framework.NewPoint(p.Blocks()), framework.NewPoint(p.Blocks())
	_, err := e.Evaluate(grad, x)
	require.NoError(t, err)
	require.NoError(t, e.Hessian(h, x, grad, v))
	return h
}

// Products with the Hessian are what differences of gradients tend to, for losses with
// second derivatives of any structure and without, with rounded kinks, with weights and
// a penalty, with missing entries and their prior, and with any number of threads.
func TestHessianProducts(t *testing.T) {
	for _, name := range append([]string{"black box"}, allLosses...) {
		for _, missing := range []bool{false, true} {
			var loss framework.Loss = blackBox{Loss: named(t, "huber", 6)}
			if name != "black box" {
				loss = named(t, name, 6)
			}
			p, x := smallProblem(t, loss, 2, 3, true)
			if missing {
				if _, separable := loss.(framework.Separable); !separable {
					continue
				}
				x3 := p.Data().X
				x3[3], x3[20] = math.NaN(), math.NaN()
				data := *p.Data()
				data.Missing = true
				var err error
				p, err = NewProblem(context.Background(), data, loss, 2, 3, 2)
				require.NoError(t, err)
				p.Prior = []float64{2, 0.5, 0.5, 1}
			}
			p.Lambda = 0.7
			if _, kinked := loss.(framework.Smoother); kinked {
				p.Smooth(0.3)
			}
			v := framework.NewPoint(p.Blocks())
			for k, b := range p.Blocks() {
				b.Project(v[k], x[k], gaussians(uint64(k), b.Size()))
			}
			require.True(t, framework.NewEvaluator(context.Background(), p).HasHessian())
			got, want := productAlong(t, p, x, v), productAlong(t, firstOnly{p}, x, v)
			for k, b := range p.Blocks() {
				assert.Less(t, floats.Distance(got[k], want[k], 2), 2e-4*want.Norm(), "%s, block %s", name, b.Name)
			}
			frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: x, Seed: 6})
		}
	}
}

// Along the moves of the arrowhead, second derivatives are those of its matrices.
func TestHessianProductsAgreeWithTheArrowhead(t *testing.T) {
	p, x := smallProblem(t, named(t, "l2", 6), 2, 3, true)
	p.Lambda = 0.7
	shape, _ := p.ArrowheadShape()
	a := framework.NewArrowhead(shape)
	_, _, err := p.AssembleHessian(a, x)
	require.NoError(t, err)
	const h = 1e-6
	v, w := gaussians(8, shape.Outer), gaussians(9, shape.Inner())
	var want float64
	for i, u := range v {
		want += u * (floats.Dot(a.A[i*shape.Outer:(i+1)*shape.Outer], v) + 2*floats.Dot(a.B[i*shape.Inner():(i+1)*shape.Inner()], w))
	}
	for i, u := range w {
		from := i / shape.Dim * shape.Dim
		want += u * floats.Dot(a.C[i*shape.Dim:(i+1)*shape.Dim], w[from:from+shape.Dim])
	}
	// The velocity of the move; the polar retraction has no tangent acceleration.
	forth, back, velocity := x.Clone(), x.Clone(), framework.NewPoint(p.Blocks())
	small := append([]float64(nil), v...)
	floats.Scale(h, small)
	require.NoError(t, p.RetractOuter(forth, x, small))
	floats.Scale(-1, small)
	require.NoError(t, p.RetractOuter(back, x, small))
	for k := range velocity {
		floats.SubTo(velocity[k], forth[k], back[k])
		floats.Scale(1/(2*h), velocity[k])
	}
	copy(velocity[BlockTau], w)
	assert.InEpsilon(t, want, productAlong(t, p, x, velocity).Dot(velocity), 1e-6)
}

// rough says that it rounds kinks, and does not.
type rough struct{ *Problem }

func (rough) Smooth(float64) {}

// reversed has a preconditioner that turns steps around in Theta.
type reversed struct{ *Problem }

func (p reversed) Precondition(dst, v framework.Point) {
	p.Problem.Precondition(dst, v)
	floats.Scale(-1, dst[BlockTheta])
}

// The laws of what a problem offers find mistakes in it.
func TestCapabilityLawsFindMistakes(t *testing.T) {
	p, x := smallProblem(t, named(t, "l1", 6), 2, 3, true)
	for seed := range uint64(3) {
		o := frameworktest.ProblemOptions{Point: x, Seed: seed}
		assert.Subset(t, frameworktest.CheckProblem("rough", rough{p}, o).Broken(), []string{"smoothing tends to the cost", "smoothing rounds"})
		assert.Contains(t, frameworktest.CheckProblem("reversed", reversed{p}, o).Broken(), "preconditioner positive definite")
	}
}
