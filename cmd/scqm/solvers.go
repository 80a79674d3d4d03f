package main

import (
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/solvers"
)

// solverEntry is one line of the output of scqm solvers.
type solverEntry struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
}

func solversCommand() *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "solvers",
		Short: "List the solvers",
	}, solverEntries, func(list []solverEntry) [][]string {
		rows := [][]string{{"NAME", "WHAT IT DOES"}}
		for _, e := range list {
			rows = append(rows, []string{e.Name, e.Summary})
		}
		return rows
	})
}

func solverEntries() []solverEntry {
	list := []solverEntry{{options.SolverAuto, "chooses one of those below to suit the problem"}}
	for _, d := range solvers.Describe() {
		list = append(list, solverEntry(d))
	}
	return list
}
