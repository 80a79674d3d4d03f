package options

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

const (
	// SolverAuto is the name that leaves the choice to the problem.
	SolverAuto  = "auto"
	presetPaper = "paper"
	streaming   = "streaming"
	stochastic  = "stochastic"
)

// Solver holds the flags that choose a solver and its limits.
type Solver struct {
	name, preset string
	maxIter      int
	tol          float64
	timeLimit    time.Duration
	reads        int
}

// AddTo adds the flags.
func (f *Solver) AddTo(cmd *cobra.Command) {
	f.name = SolverAuto
	flags := cmd.Flags()
	flags.Var(cli.Parsed(&f.name, "NAME", knownSolver), "solver", "solver; scqm solvers lists them")
	flags.Var(cli.Choice(&f.preset, presetPaper), "preset", "solver, limits and objective (no ridge) of the released code of Zhai and Li")
	flags.Var(cli.Count(&f.maxIter), "max-iter", fmt.Sprintf("most iterations (default %d)", framework.DefaultMaxIterations))
	flags.Var(cli.Positive(&f.tol), "tol", fmt.Sprintf("first-order residual at which a fit counts as converged (default %g)", framework.DefaultTolerance))
	flags.Var(cli.Count(&f.reads), "reads", "times that --solver stochastic draws all rows, before it goes over all of them (default 1)")
	flags.Var(cli.Duration(&f.timeLimit), "time-limit", "most time to spend from the start on, such as 30s")
}

func knownSolver(name string) (string, error) {
	known := []string{SolverAuto}
	for _, d := range solvers.Describe() {
		known = append(known, d.Name)
	}
	if !slices.Contains(known, name) {
		return "", fmt.Errorf("want one of %s", strings.Join(known, ", "))
	}
	return name, nil
}

// Paper reports whether the preset of the paper was chosen.
func (f *Solver) Paper() bool { return f.preset == presetPaper }

// NeedsMemory reports whether a solver was chosen that all rows must be in memory for.
func (f *Solver) NeedsMemory() bool {
	return f.name != SolverAuto && f.name != streaming && f.name != stochastic || f.preset != ""
}

// Check refuses a solver beside a preset, and settings of a solver beside another.
func (f *Solver) Check(cmd *cobra.Command) error {
	if f.name != stochastic {
		if err := cli.Refuse(cmd, "without --solver stochastic", "reads"); err != nil {
			return err
		}
	}
	if f.preset == "" {
		return nil
	}
	return cli.Refuse(cmd, "beside --preset, which chooses a solver", "solver")
}

// Choose returns the solver, nil for auto, and the limits.
func (f *Solver) Choose() (framework.Solver, framework.Options) {
	var solver framework.Solver
	limits := framework.Options{}
	switch {
	case f.preset == presetPaper:
		solver, limits = solvers.PaperRGD(), solvers.PaperOptions()
	case f.name == stochastic:
		solver = solvers.Stochastic{Reads: f.reads}
	case f.name != SolverAuto:
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
