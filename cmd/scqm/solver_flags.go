package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

const (
	solverAuto  = "auto"
	presetPaper = "paper"
)

// solverFlags choose a solver and its limits.
type solverFlags struct {
	name, preset string
	maxIter      int
	tol          float64
	timeLimit    time.Duration
}

func (f *solverFlags) addTo(cmd *cobra.Command) {
	f.name = solverAuto
	flags := cmd.Flags()
	flags.Var(value[string]{&f.name, "NAME", knownSolver}, "solver", "solver; scqm solvers lists them")
	flags.Var(choice(&f.preset, presetPaper), "preset", "solver and limits of the released code of Zhai and Li")
	flags.Var(counting(&f.maxIter), "max-iter", fmt.Sprintf("most iterations (default %d)", scqm.DefaultMaxIterations))
	flags.Var(positive(&f.tol), "tol", fmt.Sprintf("first-order residual at which a fit counts as converged (default %g)", framework.DefaultTolerance))
	flags.Var(lasting(&f.timeLimit), "time-limit", "most time to spend on iterations, such as 30s")
}

func knownSolver(name string) (string, error) {
	known := []string{solverAuto}
	for _, d := range solvers.Describe() {
		known = append(known, d.Name)
	}
	if !slices.Contains(known, name) {
		return "", fmt.Errorf("want one of %s", strings.Join(known, ", "))
	}
	return name, nil
}

func (f *solverFlags) check(cmd *cobra.Command) error {
	if f.preset == "" {
		return nil
	}
	return refuse(cmd, "beside --preset, which chooses a solver", "solver")
}

// choose returns the solver, nil for auto, and the limits.
func (f *solverFlags) choose() (framework.Solver, framework.Options) {
	var solver framework.Solver
	limits := framework.Options{}
	switch {
	case f.preset == presetPaper:
		solver, limits = solvers.PaperRGD(), solvers.PaperOptions()
	case f.name != solverAuto:
		solver, _ = solvers.ByName(f.name) // known since the command line was read
	}
	if f.maxIter > 0 {
		limits.MaxIterations = f.maxIter
	}
	if f.tol > 0 {
		limits.Tolerance = f.tol
	}
	limits.TimeLimit = f.timeLimit
	return solver, limits
}
