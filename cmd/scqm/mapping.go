package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// mapping is a command that loads a model, applies it to the rows of a table, and
// writes the resulting rows block by block.
type mapping struct {
	// apply returns the output rows for a block. It names the columns if they are not
	// columns of DATA.
	apply func(m *scqm.Model, ctx context.Context, x block, threads int) (*dataset.Matrix, error)
	// projects is true if DATA holds rows to project with the loss of the model, and false if it holds coordinates.
	projects bool

	plugin   options.Plugin
	data     options.Data
	progress options.Progress
	threads  int
	output   string
}

// addTo adds the flags that all mapping commands share.
func (f *mapping) addTo(cmd *cobra.Command) {
	f.output = "-"
	flags := cmd.Flags()
	flags.SortFlags = false
	if f.projects {
		f.plugin.AddTo(cmd, "where the plugin of the model's loss is now (default: found by its name)")
	}
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "file to write, ending in .npy, .npz, .csv or .tsv; - is CSV on standard output")
	options.AddThreadsTo(flags, &f.threads)
	f.progress.AddTo(cmd)
}

func (f *mapping) run(cmd *cobra.Command, args []string) error {
	if err := dataset.CheckOutput(f.output); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if err := cli.Distinct([]cli.Named{{Flag: "-o", Path: f.output}}, args, f.data.Inputs()); err != nil {
		return err
	}
	if err := f.data.Check(cmd); err != nil {
		return err
	}
	p := &f.plugin
	if !f.projects {
		p = nil
	}
	m, src, err := loadFor(cmd, args[0], args[1], &f.data, p)
	if err != nil {
		return err
	}
	defer f.plugin.Close()
	defer src.Close()
	return f.write(cmd, m, src)
}

// loadFor loads a model and starts the plugin of its loss. It also opens the data file,
// which holds rows, or coordinates if p is nil.
func loadFor(cmd *cobra.Command, model, data string, f *options.Data, p *options.Plugin) (*scqm.Model, *dataset.Source, error) {
	m, err := cli.Await(cmd.Context(), func() (*scqm.Model, error) { return scqm.Load(model) })
	if err != nil {
		return nil, nil, err
	}
	width := m.Latent
	if p != nil {
		width = m.D
		if err := f.MissingFor(model, m); err != nil {
			return nil, nil, err
		}
	}
	src, err := f.Open(cmd, data)
	if err != nil {
		return nil, nil, err
	}
	if _, cols := src.Shape(); cols != width {
		err = cli.Usagef("%s: rows of %d columns do not fit %s, which takes %d", data, cols, model, width)
	} else if p != nil {
		if err = m.Meta.CheckFeatures(src.Names()); err != nil {
			err = fmt.Errorf("%s: %w", data, err)
		} else if err = p.OpenFor(cmd, m); err != nil {
			err = fmt.Errorf("%s: %w", model, err)
		}
	}
	if err != nil {
		src.Close()
		return nil, nil, err
	}
	return m, src, nil
}

// write applies the model to all rows and writes the result.
func (f *mapping) write(cmd *cobra.Command, m *scqm.Model, src *dataset.Source) error {
	ctx := cmd.Context()
	in, err := newBlocks(src, m.D)
	if err != nil {
		return err
	}
	if f.output == "-" || dataset.IsStream(f.output) {
		if err := in.check(ctx); err != nil {
			return err
		}
	}
	n, _ := src.Shape()
	show, end := f.progress.Rows(cmd, n, f.output == "-")
	defer end()
	next := func() (*dataset.Matrix, error) {
		x, err := in.next(ctx)
		if err != nil || x.N == 0 {
			return nil, err
		}
		out, err := f.apply(m, ctx, x, f.threads)
		show(x.First + x.N)
		return out, err
	}
	// Its width is that of the table.
	first, err := next()
	if err != nil {
		return err
	}
	table := dataset.Table{Rows: n, Cols: first.Cols, Names: first.Names}
	return cli.WriteRows(cmd, f.output, table, func(write func([]float64) error) error {
		for out := first; out != nil; {
			err := write(out.Data)
			if err == nil {
				out, err = next()
			}
			if err != nil {
				return err
			}
		}
		return src.Unchanged()
	})
}
