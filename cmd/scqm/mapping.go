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

// mapping is a command that loads a model, sends the rows of a table through it
// and writes the rows that come out, block by block.
type mapping struct {
	// width is the number of columns the model takes.
	width func(*scqm.Model) int
	// apply returns the rows that come out of a block, with names of columns that
	// are no rows of DATA.
	apply func(m *scqm.Model, ctx context.Context, x block, threads int) (*dataset.Matrix, error)
	// projects says that the loss of the model is needed.
	projects bool

	plugin   options.Plugin
	data     options.Data
	progress options.Progress
	threads  int
	output   string
}

// addTo adds the flags that all mappings share.
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
	ctx := cmd.Context()
	m, err := cli.Await(ctx, func() (*scqm.Model, error) { return scqm.Load(args[0]) })
	if err != nil {
		return err
	}
	if f.projects {
		if err := f.data.MissingFor(args[0], m); err != nil {
			return err
		}
	}
	src, err := f.data.Open(cmd, args[1])
	if err != nil {
		return err
	}
	defer src.Close()
	if _, cols := src.Shape(); cols != f.width(m) {
		return cli.Usagef("%s: rows of %d columns do not fit %s, which takes %d", args[1], cols, args[0], f.width(m))
	}
	if f.projects {
		if err := m.Meta.CheckFeatures(src.Names()); err != nil {
			return fmt.Errorf("%s: %w", args[1], err)
		}
		defer f.plugin.Close()
		if err := f.plugin.OpenFor(cmd, m); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	return f.write(cmd, m, src)
}

// write sends the rows through the model.
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
