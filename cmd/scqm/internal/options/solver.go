package options

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

const (
	// SolverAuto is the name with which the solver is chosen from the problem.
	SolverAuto  = "auto"
	presetPaper = "paper"
	streaming   = "streaming"
)

// Solver holds the flags that choose a solver.
type Solver struct {
	name, preset string
}

// AddTo adds the flags to cmd.
func (f *Solver) AddTo(cmd *cobra.Command) {
	f.name = SolverAuto
	known := []string{SolverAuto}
	for _, d := range solvers.Describe() {
		known = append(known, d.Name)
	}
	flags := cmd.Flags()
	flags.Var(cli.OneOf(&f.name, "NAME", known...), "solver", usage("solver")+"; scqm solvers lists them")
	flags.Var(cli.Choice(&f.preset, presetPaper), "preset", "solver, limits and objective (no ridge) of the released code of Zhai and Li")
}

// NeedsMemory reports whether the chosen solver needs all rows in memory.
func (f *Solver) NeedsMemory() bool {
	return f.name != SolverAuto && f.name != streaming || f.preset != ""
}

// Check returns an error if both a solver and a preset are given.
func (f *Solver) Check(cmd *cobra.Command) error {
	if f.preset == "" {
		return nil
	}
	return cli.Refuse(cmd, "beside --preset, which chooses a solver", "solver")
}

// ApplyTo sets the solver of c. It also sets the other values of a preset that the user has not set.
func (f *Solver) ApplyTo(c *scqm.Config) {
	switch {
	case f.preset == presetPaper:
		asked := c.Options
		c.Solver, c.Options = solvers.PaperRGD(), solvers.PaperOptions()
		c.Options.MaxIterations = cmp.Or(asked.MaxIterations, c.Options.MaxIterations)
		c.Options.Tolerance = cmp.Or(asked.Tolerance, c.Options.Tolerance)
		c.Options.TimeLimit = asked.TimeLimit
		c.Ridge = cmp.Or(c.Ridge, scqm.NoRidge)
	case f.name != SolverAuto:
		c.Solver, _ = solvers.ByName(f.name) // the flag accepts known names only
	}
}
