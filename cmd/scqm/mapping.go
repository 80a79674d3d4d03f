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
// and writes the rows that come out.
type mapping struct {
	// width is the number of columns the model takes.
	width func(*scqm.Model) int
	// apply has the form of a method of the model.
	apply func(m *scqm.Model, ctx context.Context, x scqm.Data, threads int) ([]float64, error)
	// named says that the columns that come out are those that go in.
	named bool
	// more returns columns to write beside those that come out; it may be nil.
	more func() (*dataset.Matrix, error)
	// projects says that the loss of the model is needed.
	projects bool

	plugin  options.Plugin
	data    options.Data
	threads int
	output  string
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
	flags.Var(cli.Count(&f.threads), "threads", "threads to use (default all processors); the result does not depend on it")
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
	f.data.Missing = f.projects && m.Meta.Missing != nil
	x, err := f.data.Read(cmd, args[1])
	if err != nil {
		return err
	}
	if want := f.width(m); x.Cols != want {
		return cli.Usagef("%s: rows of %d columns do not fit %s, which takes %d", args[1], x.Cols, args[0], want)
	}
	if f.projects {
		defer f.plugin.Close()
		if err := f.plugin.OpenFor(cmd, m); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
	}
	y, err := f.apply(m, ctx, cli.RowsOf(x), f.threads)
	if err != nil {
		return err
	}
	result := &dataset.Matrix{Rows: x.Rows, Cols: len(y) / x.Rows, Data: y}
	if f.named {
		result.Names = x.Names
	}
	if f.more != nil {
		more, err := f.more()
		if err != nil {
			return err
		}
		if result, err = cli.Beside(result, more); err != nil {
			return err
		}
	}
	return cli.WriteMatrix(cmd, f.output, result)
}
