package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

const transformLong = `Write, for every row of DATA, the latent coordinates of the point of the model
that is nearest to it under the model's loss.`

func transformCommand() *cobra.Command {
	f := mapping{
		apply:    transform,
		projects: true,
	}
	cmd := &cobra.Command{
		Use:     "transform MODEL DATA",
		Short:   "Turn rows into latent coordinates",
		Long:    transformLong,
		Example: "  scqm transform model.npz data.csv -o tau.npy",
		Args:    cli.Arguments("MODEL", "DATA"),
		RunE:    f.run,
	}
	f.addTo(cmd)
	f.data.AddTo(cmd)
	return cmd
}

func transform(m *scqm.Model, ctx context.Context, x block, threads int) (*dataset.Matrix, error) {
	tau, err := m.Transform(ctx, x.Data, threads)
	return &dataset.Matrix{Rows: x.N, Cols: m.Latent, Data: tau}, err
}
