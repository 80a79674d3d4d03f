package bindings

import (
	"github.com/scqm/scqm/framework/frameworktest"
)

// checkSettings are the settings of [StartLossCheck].
type checkSettings struct {
	Loss      lossChoice `json:"loss"`
	Dim       int        `json:"dim"`
	Scale     float64    `json:"scale"`
	NonConvex bool       `json:"non_convex"`
	Tolerance float64    `json:"tolerance"`
	Seed      uint64     `json:"seed"`
}

// StartLossCheck begins to try the laws of losses on a loss; [CheckReport] has
// the outcome. The settings are loss, dim (entries of a row), scale (size of
// ordinary residuals), non_convex, tolerance and seed. It returns 1.
func StartLossCheck(number int64, settings string, precision uint64) (int64, error) {
	return guarded("check", func() (int64, error) {
		var s checkSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		return start(number, "check", func(j *job) (any, error) {
			l, err := s.Loss.build(j, precision)
			if err != nil {
				return nil, err
			}
			report := frameworktest.CheckLoss(l, frameworktest.LossOptions{
				Dim: s.Dim, Scale: s.Scale, NonConvex: s.NonConvex, Tolerance: s.Tolerance, Seed: s.Seed,
			})
			return report, j.ctx.Err()
		})
	})
}

// StartSolverCheck begins to try the laws of solvers on one that is written in Python, which
// QuestionMinimum asks; [CheckReport] has the outcome. It returns 1.
func StartSolverCheck(number int64, name string) (int64, error) {
	return guarded("check", func() (int64, error) {
		return start(number, "check", func(j *job) (any, error) {
			report := frameworktest.CheckSolver(pythonSolver{job: j, name: name}, frameworktest.SolverOptions{
				// Iterators are not stored, and a panic of a problem is Go's.
				Without: []string{frameworktest.StoredState, frameworktest.Panic},
			})
			return report, j.ctx.Err()
		})
	})
}

// CheckReport is the outcome of a check as a JSON list of objects with the
// entries law, ok and detail.
func CheckReport(number int64) (string, error) {
	return onResult("check report", number, func(report *frameworktest.Report) (string, error) {
		return encodeVerdicts(report)
	})
}

// encodeVerdicts writes a report as CheckReport promises.
func encodeVerdicts(report *frameworktest.Report) (string, error) {
	type verdict struct {
		Law    string `json:"law"`
		OK     bool   `json:"ok"`
		Detail string `json:"detail"`
	}
	list := []verdict{}
	for _, v := range report.Verdicts {
		list = append(list, verdict{v.Law, v.OK, v.Detail})
	}
	return encode(list)
}
