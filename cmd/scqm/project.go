package main

import (
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/models/scqm"
)

const projectLong = `Write, for every row of DATA, the point of the model that is nearest to it under
the model's loss: what reconstruct makes of what transform makes of it.`

func projectCommand() *cobra.Command {
	f := mapping{
		width:    func(m *scqm.Model) int { return m.D },
		apply:    (*scqm.Model).Project,
		projects: true,
		named:    true,
	}
	cmd := &cobra.Command{
		Use:     "project MODEL DATA",
		Short:   "Move rows onto the model",
		Long:    projectLong,
		Example: "  scqm project model.npz noisy.csv -o clean.csv",
		Args:    arguments("MODEL", "DATA"),
		RunE:    f.run,
	}
	f.addTo(cmd)
	f.data.addTo(cmd)
	return cmd
}
