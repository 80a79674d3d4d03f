package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/page"
	"github.com/scqm/scqm/models/scqm"
)

const reportLong = `Write a page about MODEL and the rows of DATA: one HTML file that needs no network.

It shows R2 and the error at hidden entries beside those of flat sheets, and says where
rows look like noise; the latent plane beside principal components, where rows tell
their number and distance under the pointer; what the sheet does along each axis, and
where no rows are; residuals by row and column; the rows that drive the fit where DATA
are those that MODEL was learned from; warnings, and settings to repeat the fit.`

// reportFlags are the flags of scqm report.
type reportFlags struct {
	plugin  options.Plugin
	data    options.Data
	title   string
	threads int
	output  string
}

func reportCommand() *cobra.Command {
	f := reportFlags{output: "report.html", title: "An SCQM fit"}
	cmd := &cobra.Command{
		Use:     "report MODEL DATA",
		Short:   "Write a page about a fit",
		Long:    reportLong,
		Example: "  scqm report model.npz data.csv -o report.html",
		Args:    cli.Arguments("MODEL", "DATA"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "file to write, ending in .html")
	flags.StringVar(&f.title, "title", f.title, "head of the page")
	f.plugin.AddTo(cmd, "where the plugin of the model's loss is now (default: found by its name)")
	options.AddThreadsTo(flags, &f.threads)
	f.data.AddTo(cmd)
	return cmd
}

func (f *reportFlags) run(cmd *cobra.Command, model, data string) error {
	if err := dataset.CheckOutput(f.output, ".html"); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if err := cli.Distinct([]cli.Named{{Flag: "-o", Path: f.output}}, []string{model, data}, f.data.Inputs()); err != nil {
		return err
	}
	m, src, err := loadFor(cmd, model, data, &f.data, &f.plugin)
	if err != nil {
		return err
	}
	defer f.plugin.Close()
	defer src.Close()
	ctx := cmd.Context()
	x, err := cli.Await(ctx, src.Matrix)
	if err != nil {
		return err
	}
	rows := cli.RowsOf(x)
	rows.Missing = f.data.Missing
	c := page.Config{
		Title: f.title, Names: x.Names, Threads: f.threads,
		Settings: fmt.Sprintf("scqm fit %s -o %s%s", data, model, fitArguments(&m.Meta)),
	}
	text, err := cli.Await(ctx, func() (string, error) { return writePage(ctx, m, rows, c) })
	if err != nil {
		return err
	}
	err = cli.Save(ctx, f.output, func() error {
		return dataset.WriteFileAtomic(f.output, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	})
	if err != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("-o: %w", err)
	}
	return err
}

func writePage(ctx context.Context, m *scqm.Model, x scqm.Data, c page.Config) (string, error) {
	var text strings.Builder
	err := page.Write(ctx, &text, m, x, c)
	return text.String(), err
}

// fitArguments returns the flags with which the model was fitted.
func fitArguments(m *scqm.Meta) string {
	text := fmt.Sprintf(" -d %d", m.Latent)
	if m.Linear {
		text += " --linear"
	} else {
		text += fmt.Sprintf(" -s %d --ridge %v", m.Curvature, m.Ridge)
	}
	text += " --loss " + m.Loss.Name
	for _, name := range []string{"p", "delta"} {
		if v, ok := m.Loss.Params[name]; ok {
			text += fmt.Sprintf(" --%s %v", name, v)
		}
	}
	if m.Inits > 1 {
		text += fmt.Sprintf(" --n-init %d", m.Inits)
	}
	if m.Missing != nil {
		text += " --missing ignore"
	}
	return text + fmt.Sprintf(" --seed %d", m.Seed)
}
