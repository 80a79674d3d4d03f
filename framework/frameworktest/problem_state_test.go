package frameworktest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/manifolds"
)

// learner counts evaluations, which its stationarity depends on: x^2 with a memory. Each
// field breaks the law of stored states.
type learner struct {
	seen                           byte
	forgets, refuses, gullible, up bool
}

func (*learner) Blocks() []framework.Block {
	return []framework.Block{{Name: "x", Manifold: manifolds.Euclidean(1)}}
}

func (p *learner) Evaluate(grad, x framework.Point) (float64, error) {
	if p.seen < 5 {
		p.seen++
	}
	if grad != nil && grad[0] != nil {
		grad[0][0] = 2 * x[0][0]
	}
	return x[0][0] * x[0][0], nil
}

func (p *learner) Stationarity(dst []float64, _ framework.Point) error {
	dst[0] = float64(p.seen)
	return nil
}

func (p *learner) MarshalState() ([]byte, error) { return []byte{p.seen}, nil }

func (p *learner) UnmarshalState(state []byte) error {
	if p.refuses || len(state) != 1 && !p.gullible {
		return errors.New("no state")
	}
	switch p.seen = state[0]; {
	case p.forgets:
		p.seen = 0
	case p.up:
		p.seen++
	}
	return nil
}

func TestStoredStateLaw(t *testing.T) {
	o := frameworktest.ProblemOptions{Point: framework.Point{{3}}, Seed: 1}
	frameworktest.TestProblem(t, "learner", &learner{}, o)
	for name, p := range map[string]*learner{
		"forgets": {forgets: true}, "refuses its own": {refuses: true}, "takes anything": {gullible: true}, "adds": {up: true},
	} {
		assert.Equal(t, []string{"stored state"}, frameworktest.CheckProblem(name, p, o).Broken(), name)
	}
}
