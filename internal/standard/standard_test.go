package standard_test

import (
	"testing"

	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/standard"
)

func TestProblemsAreSound(t *testing.T) {
	for _, p := range standard.Problems(standard.Small) {
		frameworktest.TestProblem(t, p.Name, p.Problem(), frameworktest.ProblemOptions{Seed: 1})
	}
}
