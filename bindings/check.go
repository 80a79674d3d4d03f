package bindings

import (
	"github.com/scqm/scqm/framework/frameworktest"
)

// lossCheckOf checks a loss against the laws that every loss must satisfy. The precision of the loss
// may be an array. dim is the number of entries of a row, and scale the typical size of a residual.
func lossCheckOf(in *input) work {
	var s struct {
		Loss      lossChoice `json:"loss"`
		Dim       int        `json:"dim"`
		Scale     float64    `json:"scale"`
		NonConvex bool       `json:"non_convex"`
		Tolerance float64    `json:"tolerance"`
		Seed      uint64     `json:"seed"`
	}
	in.decode(&s)
	in.loss(&s.Loss)
	return func(j *job) (*outcome, error) {
		l, err := s.Loss.build(j)
		if err != nil {
			return nil, err
		}
		report := frameworktest.CheckLoss(l, frameworktest.LossOptions{
			Dim: s.Dim, Scale: s.Scale, NonConvex: s.NonConvex, Tolerance: s.Tolerance, Seed: s.Seed,
		})
		return &outcome{report: report.Verdicts}, j.ctx.Err()
	}
}

// solverCheckOf checks a solver written in Python against the laws of solvers. The job
// calls the solver by QuestionMinimum.
func solverCheckOf(in *input) work {
	var s struct {
		Name string `json:"name"`
	}
	in.decode(&s)
	return func(j *job) (*outcome, error) {
		report := frameworktest.CheckSolver(pythonSolver{job: j, name: s.Name}, frameworktest.SolverOptions{
			// The state of a Python iterator cannot be stored, and a panic can only come from Go code.
			Without: []string{frameworktest.StoredState, frameworktest.Panic},
		})
		return &outcome{report: report.Verdicts}, j.ctx.Err()
	}
}
