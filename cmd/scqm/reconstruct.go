package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

func reconstructCommand() *cobra.Command {
	f := mapping{
		apply: func(m *scqm.Model, ctx context.Context, tau block, threads int) (*dataset.Matrix, error) {
			x, err := m.Reconstruct(ctx, tau.X, threads)
			return &dataset.Matrix{Rows: tau.N, Cols: m.D, Data: x}, err
		},
	}
	cmd := &cobra.Command{
		Use:     "reconstruct MODEL TAU",
		Short:   "Turn latent coordinates into rows",
		Long:    "Write, for every row of TAU, the point of the model with these latent coordinates.",
		Example: "  scqm reconstruct model.npz tau.npy -o rows.csv",
		Args:    cli.Arguments("MODEL", "TAU"),
		RunE:    f.run,
	}
	f.addTo(cmd)
	f.data.AddColumnsTo(cmd)
	return cmd
}
