package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

const projectLong = `Write, for every row of DATA, the point of the model that is nearest to it under
the model's loss: what reconstruct makes of what transform makes of it.

--report adds the columns

  residual        distance of the row from its projection
  min_eigenvalue  smallest second derivative of the row's loss with respect to its
                  latent coordinates; at 0 or below the projection is not held in
                  place
  certified       1 where the residual is so small that the projection is certain
                  to be the nearest point (l2, squared_l2, huber), or the loss to
                  be convex around it (lp, 1 < p <= 2); there is no such column for
                  other losses
  parts           places of the model found at which the row could be, nearest
                  points of their surroundings
  second          distance of the row from the second best of them, 0 if there is
                  one`

// projection is the command scqm project.
type projection struct {
	mapping
	report bool
}

func projectCommand() *cobra.Command {
	f := projection{mapping: mapping{projects: true}}
	f.apply = f.project
	cmd := &cobra.Command{
		Use:     "project MODEL DATA",
		Short:   "Move rows onto the model",
		Long:    projectLong,
		Example: "  scqm project model.npz noisy.csv -o clean.csv\n  scqm project model.npz noisy.csv --report -o clean.csv",
		Args:    cli.Arguments("MODEL", "DATA"),
		RunE:    f.run,
	}
	f.addTo(cmd)
	cmd.Flags().BoolVar(&f.report, "report", false, "write columns about each row beside it")
	f.data.AddTo(cmd)
	return cmd
}

// project projects the rows of x. It appends the columns of the report if --report is given.
func (f *projection) project(m *scqm.Model, ctx context.Context, x block, threads int) (*dataset.Matrix, error) {
	out := &dataset.Matrix{Rows: x.N, Cols: x.D, Names: x.names}
	var err error
	if !f.report {
		out.Data, err = m.Project(ctx, x.Data, threads)
		return out, err
	}
	found, err := m.ProjectAll(ctx, x.Data, threads)
	if err != nil {
		return nil, err
	}
	more, err := projectionColumns(found)
	if err != nil {
		return nil, err
	}
	out.Data = found.X
	return cli.Beside(out, more)
}

// projectionColumns returns the columns that --report adds.
func projectionColumns(p *scqm.Projection) (*dataset.Matrix, error) {
	names := []string{"residual", "min_eigenvalue"}
	if p.Certifies {
		names = append(names, "certified")
	}
	m, err := cli.NewTable(len(p.Rows), append(names, "parts", "second")...)
	if err != nil {
		return nil, err
	}
	for _, r := range p.Rows {
		m.Data = append(m.Data, r.Residual, r.MinEigenvalue)
		if p.Certifies {
			m.Data = append(m.Data, cli.ZeroOrOne(r.Certified))
		}
		m.Data = append(m.Data, float64(r.Parts), r.Second)
	}
	return m, nil
}
