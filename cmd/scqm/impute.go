package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

const imputeLong = `Write the rows of DATA with their missing entries filled: by the mean of what they
may be, given the entries that are there and the rows that the model was fitted
to. The other entries stay as they are. The model is one of fit --missing ignore.`

func imputeCommand() *cobra.Command {
	f := mapping{apply: impute, projects: true}
	cmd := &cobra.Command{
		Use:     "impute MODEL DATA",
		Short:   "Fill missing entries",
		Long:    imputeLong,
		Example: "  scqm impute model.npz gaps.csv -o full.csv",
		Args:    cli.Arguments("MODEL", "DATA"),
		RunE:    f.run,
	}
	f.addTo(cmd)
	f.data.AddTo(cmd)
	return cmd
}

func impute(m *scqm.Model, ctx context.Context, x block, threads int) (*dataset.Matrix, error) {
	filled, err := m.Impute(ctx, x.Data, threads)
	if err != nil {
		return nil, err
	}
	return &dataset.Matrix{Rows: x.N, Cols: x.D, Data: filled.X, Names: x.names}, nil
}
