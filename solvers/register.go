package solvers

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/scqm/scqm/framework"
)

// Description describes a solver in a list of solvers.
type Description struct {
	// Name is the name by which users choose the solver.
	Name string
	// Summary describes in one line what it does and when to use it.
	Summary string
}

type entry struct {
	Description
	construct func() framework.Solver
}

// registry are the solvers by name, those of this package first.
var (
	registryMu sync.RWMutex
	registry   []entry
)

// entries returns the solvers registered so far.
func entries() []entry {
	registryMu.RLock()
	defer registryMu.RUnlock()
	return registry[:len(registry):len(registry)]
}

// Register adds a solver under a name of its own.
func Register(name, summary string, construct func() framework.Solver) error {
	registryMu.Lock()
	defer registryMu.Unlock()
	if name == "" || construct == nil {
		return fmt.Errorf("solvers: register: a name and a constructor are needed: %w", framework.ErrInvalid)
	}
	if slices.ContainsFunc(registry, func(e entry) bool { return e.Name == name }) {
		return fmt.Errorf("solvers: register: %q is taken: %w", name, framework.ErrInvalid)
	}
	registry = append(registry, entry{Description{name, summary}, construct})
	return nil
}

// ByName returns the solver of that name with its default settings.
func ByName(name string) (framework.Solver, error) {
	var names []string
	for _, e := range entries() {
		if e.Name == name {
			return e.construct(), nil
		}
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("solvers: no solver %q; there are %s: %w", name, strings.Join(names, ", "), framework.ErrInvalid)
}

// Describe lists the solvers in the order they were registered.
func Describe() []Description {
	var list []Description
	for _, e := range entries() {
		list = append(list, e.Description)
	}
	return list
}

// Supports returns nil if a solver can serve a problem, otherwise a [framework.UnsupportedError] that names the
// registered solvers that can.
func Supports(s framework.Solver, p framework.Problem) error {
	lacks := lacks(s, p)
	if lacks == "" {
		return nil
	}
	return &framework.UnsupportedError{Solver: s.Name(), Lacks: lacks, Serving: Serving(p)}
}

// Serving lists the names of the registered solvers that can serve a problem.
func Serving(p framework.Problem) []string {
	var list []string
	for _, e := range entries() {
		if lacks(e.construct(), p) == "" {
			list = append(list, e.Name)
		}
	}
	return list
}

func lacks(s framework.Solver, p framework.Problem) string {
	if v, ok := s.(selective); ok {
		return v.Lacks(p)
	}
	return ""
}

// notNegative rejects a negative setting of a solver.
func notNegative(solver, name string, value int) error {
	if value < 0 {
		return fmt.Errorf("solvers: %s: %s is %d; want 0, for the default, or more: %w", solver, name, value, framework.ErrInvalid)
	}
	return nil
}
