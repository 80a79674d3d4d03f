package main

import (
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/solvers"
)

// solverEntry is one line of scqm solvers.
type solverEntry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

func solversCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "solvers",
		Short: "List the solvers",
		Args:  cli.Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), solverEntries())
			}
			rows := [][]string{{"NAME", "WHAT IT DOES"}}
			for _, e := range solverEntries() {
				rows = append(rows, []string{e.Name, e.Summary})
			}
			return cli.PrintTable(cmd.OutOrStdout(), rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func solverEntries() []solverEntry {
	list := []solverEntry{{options.SolverAuto, "chooses one of those below to suit the problem"}}
	for _, d := range solvers.Describe() {
		list = append(list, solverEntry(d))
	}
	return list
}
