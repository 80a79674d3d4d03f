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

// A problem keeps the laws of what it offers for losses of any structure, with rounded kinks,
// weights and a penalty, and with missing entries and their prior.
func TestProblemKeepsItsLaws(t *testing.T) {
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
			frameworktest.TestProblem(t, name, p, frameworktest.ProblemOptions{Point: x, Seed: 6})
		}
	}
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
