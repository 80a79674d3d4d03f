// Package frameworktest provides the laws of package framework as test suites for manifolds, losses, problems and
// solvers of any author.
//
// Begin with [TestManifold], [TestLoss], [TestProblem] or [TestSolver] in your own test.
//
// Each Check function tests every law on one object and returns a [Report]. The corresponding Test function reports
// the failures to a testing.T. The package does not depend on package testing, so that programs can check plug-ins,
// too.
package frameworktest

import (
	"errors"
	"fmt"
	"strings"
)

// TB is the part of testing.TB that the suites use.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Verdict is the outcome of one law.
type Verdict struct {
	// Law names the law, such as "gradient slope".
	Law string `json:"law"`
	// OK reports whether the object obeys it.
	OK bool `json:"ok"`
	// Detail describes what was measured.
	Detail string `json:"detail"`
}

// Report is the outcome of all laws that apply to an object.
type Report struct {
	// Subject names the object.
	Subject string
	// Verdicts lists the laws in the order they were tested.
	Verdicts []Verdict
}

// OK reports whether every law holds.
func (r *Report) OK() bool { return len(r.Broken()) == 0 }

// Broken lists the names of the laws that do not hold.
func (r *Report) Broken() []string {
	var laws []string
	for _, v := range r.Verdicts {
		if !v.OK {
			laws = append(laws, v.Law)
		}
	}
	return laws
}

// Err returns nil, or one error that lists every broken law with its detail.
func (r *Report) Err() error {
	var lines []string
	for _, v := range r.Verdicts {
		if !v.OK {
			lines = append(lines, v.Law+": "+v.Detail)
		}
	}
	if lines == nil {
		return nil
	}
	return errors.New(r.Subject + " breaks " + strings.Join(lines, "; "))
}

// test reports every broken law to t.
func (r *Report) test(t TB) {
	t.Helper()
	for _, v := range r.Verdicts {
		if !v.OK {
			t.Errorf("%s: %s: %s", r.Subject, v.Law, v.Detail)
		}
	}
}

// add records a verdict; the detail is formatted whether the law holds or not.
func (r *Report) add(law string, ok bool, format string, args ...any) {
	r.Verdicts = append(r.Verdicts, Verdict{Law: law, OK: ok, Detail: fmt.Sprintf(format, args...)})
}

// try tests a law, which fails if its function returns an error or panics. A panic must not end the suite.
func (r *Report) try(law string, trial func() error) {
	if err := guard(trial); err != nil {
		r.add(law, false, "%v", err)
		return
	}
	r.add(law, true, "holds")
}

// guard turns a panic into an error.
func guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return call()
}
