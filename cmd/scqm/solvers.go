package main

import (
	"github.com/spf13/cobra"

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
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), solverEntries())
			}
			rows := [][]string{{"NAME", "WHAT IT DOES"}}
			for _, e := range solverEntries() {
				rows = append(rows, []string{e.Name, e.Summary})
			}
			return printTable(cmd.OutOrStdout(), rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func solverEntries() []solverEntry {
	list := []solverEntry{{solverAuto, "chooses one of those below to suit the problem"}}
	for _, d := range solvers.Describe() {
		list = append(list, solverEntry(d))
	}
	return list
}
