package options

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

const (
	// SolverAuto is the name that leaves the choice to the problem.
	SolverAuto  = "auto"
	presetPaper = "paper"
	streaming   = "streaming"
)

// Solver holds the flags that choose a solver.
type Solver struct {
	name, preset string
}

// AddTo adds the flags.
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

// NeedsMemory reports whether a solver was chosen that all rows must be in memory for.
func (f *Solver) NeedsMemory() bool {
	return f.name != SolverAuto && f.name != streaming || f.preset != ""
}

// Check refuses a solver beside a preset.
func (f *Solver) Check(cmd *cobra.Command) error {
	if f.preset == "" {
		return nil
	}
	return cli.Refuse(cmd, "beside --preset, which chooses a solver", "solver")
}

// ApplyTo sets the solver of a fit, and what a preset says beside it where the user says nothing.
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
		c.Solver, _ = solvers.ByName(f.name) // known since the command line was read
	}
}
