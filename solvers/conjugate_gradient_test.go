package solvers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/solvers"
)

func TestConjugateGradientLaws(t *testing.T) {
	for name, s := range map[string]solvers.ConjugateGradient{
		"default": {},
		"strict":  {Search: solvers.HagerZhang{C1: 0.1, C2: 0.2}},
	} {
		t.Run(name, func(t *testing.T) {
			frameworktest.TestSolver(t, s, frameworktest.SolverOptions{
				Cases: []frameworktest.SolverCase{
					pcaCase(8, 3), procrustesCase(6, 3), rosenbrockCase(), preconditionedCase(),
				},
				Options: framework.Options{MaxIterations: 5000, MinRelativeDecrease: -1},
			})
		})
	}
}

func TestConjugateGradientUsesThePreconditioner(t *testing.T) {
	start := framework.Point{make([]float64, 6)}
	near := run(t, &stretched{n: 6}, start, solvers.ConjugateGradient{}, framework.Options{})
	plain := run(t, struct{ framework.Problem }{&stretched{n: 6}}, start, solvers.ConjugateGradient{}, framework.Options{})
	assert.Equal(t, framework.Converged, near.Status, near.Message)
	assert.Less(t, 2*near.Counts.Passes, plain.Counts.Passes)
	bad := run(t, &misleading{stretched{n: 3}}, framework.Point{make([]float64, 3)}, solvers.ConjugateGradient{}, framework.Options{MinRelativeDecrease: -1})
	assert.InDelta(t, -0.555, bad.Cost, 1e-6)
}
