package solvers

import (
	"github.com/scqm/scqm/framework"
)

// Supports returns nil where a solver can serve a problem, else a
// [framework.UnsupportedError] that names the registered solvers which can.
func Supports(s framework.Solver, p framework.Problem) error {
	lacks := lacks(s, p)
	if lacks == "" {
		return nil
	}
	return &framework.UnsupportedError{Solver: s.Name(), Lacks: lacks, Serving: Serving(p)}
}

// Serving lists the names of the registered solvers that can serve a problem.
func Serving(p framework.Problem) []string {
	registryMu.RLock()
	entries := registry[:len(registry):len(registry)]
	registryMu.RUnlock()
	var list []string
	for _, e := range entries {
		if lacks(e.construct(), p) == "" {
			list = append(list, e.Name)
		}
	}
	return list
}

func lacks(s framework.Solver, p framework.Problem) string {
	if selective, ok := s.(framework.Selective); ok {
		return selective.Lacks(p)
	}
	return ""
}
