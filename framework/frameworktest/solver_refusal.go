package frameworktest

import (
	"context"
	"errors"
	"fmt"

	"github.com/scqm/scqm/framework"
)

// lacks returns the capability that the solver needs and the case lacks, if any.
func (k *solverCheck) lacks() string {
	if s, ok := k.s.(selective); ok {
		return s.Lacks(k.c.New())
	}
	return ""
}

// refusal tests a run on a problem that the solver cannot serve. The run must end before its first evaluation, with
// an error that names the missing capability.
func (k *solverCheck) refusal() error {
	p, problem := &probe{}, k.c.New()
	res, err := k.solve(p.of(context.Background()), problem, framework.Options{})
	lacks := k.s.(selective).Lacks(problem)
	var refused *framework.UnsupportedError
	switch {
	case !errors.As(err, &refused) || res != nil:
		return fmt.Errorf("lacks %s, but the error is %v and the result %v", lacks, err, res)
	case refused.Solver != k.s.Name() || refused.Lacks != lacks:
		return fmt.Errorf("the error %q names another solver or capability", err)
	case p.calls > 0:
		return fmt.Errorf("makes %d evaluations before it refuses", p.calls)
	}
	return nil
}
