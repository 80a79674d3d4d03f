package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

const fitLong = `Learn a model of the rows of DATA, and save it where -o says.

DATA is a file whose name ends in .npy, .npz (or .npz:KEY), .csv, .tsv, .idx or
-ubyte, possibly followed by .gz, or - for CSV on standard input. The first row of a CSV
or TSV file is a header if it has names and no number; numbers such as 0, 1, 2 or
years are data unless --header yes says otherwise.

Rows for which there is no room in memory (--memory) are read again and again: the
file is not held, and the model has no coordinates of its rows. Text, compressed
files and standard input are kept in the folder for temporary files meanwhile.

An interrupt (Ctrl-C) saves the best model so far where -o says; a second one
does not wait.`

const fitExample = `  scqm fit data.csv -o model.npz
  scqm fit data.npy -d 3 --loss huber --time-limit 30s -o model.npz
  scqm fit data.csv --plugin tukey --loss-param c=3 -o model.npz
  scqm fit images-idx3-ubyte.gz --scale --labels labels-idx1-ubyte.gz --keep 4,9 --first 50 -o model.npz`

// fitFlags are the flags of scqm fit.
type fitFlags struct {
	data       options.Data
	loss       options.Loss
	solver     options.Solver
	checkpoint options.Checkpoint

	config   scqm.Config // parameters set by flags
	progress options.Progress
	json     bool
	noTau    bool
	output   string
}

func fitCommand() *cobra.Command {
	var f fitFlags
	cmd := &cobra.Command{
		Use:     "fit DATA [-o MODEL.npz]",
		Short:   "Learn a model",
		Long:    fitLong,
		Example: fitExample,
		Args:    cli.Arguments("DATA"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "where to save the model; a name ending in .npz (default: nowhere, the report is all)")
	flags.BoolVar(&f.noTau, "no-tau", false, "leave the latent coordinates of the rows out of the model file, which then does not grow with their number")
	options.AddFitTo(cmd, &f.config)
	f.loss.AddTo(cmd)
	flags.Lookup("loss").Usage += ", and auto chooses one by the residuals of l2"
	f.solver.AddTo(cmd)
	f.checkpoint.AddTo(cmd)
	f.data.AddTo(cmd)
	flags.Lookup("missing").Usage += "; ignore takes squared_l2, l1, lp, huber, by entry, and plugins that are separable"
	f.progress.AddTo(cmd)
	flags.BoolVar(&f.json, "json", false, "print the report as one JSON object")
	return cmd
}

// run fits the file path. It does the checks that can fail quickly before the long computation.
func (f *fitFlags) run(cmd *cobra.Command, path string) error {
	defer f.loss.Close()
	defer f.checkpoint.Close()
	outputs := []cli.Named{{Flag: "-o", Path: f.output}, f.checkpoint.Output()}
	if err := cli.Distinct(outputs, []string{path}, f.data.Inputs(), f.loss.Inputs()); err != nil {
		return err
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	out, err := f.learn(cmd, path)
	if out.fit == nil {
		return err
	}
	return f.finish(cmd, out.fit, out.header, err)
}

func (f *fitFlags) check(cmd *cobra.Command) error {
	if f.output != "" {
		if err := dataset.CheckOutput(f.output, ".npz"); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	} else if err := cli.Refuse(cmd, "without -o", "no-tau"); err != nil {
		return err
	}
	if f.config.Linear {
		if err := cli.Refuse(cmd, "beside --linear", "ridge"); err != nil {
			return err
		}
	}
	if f.config.Inits > 1 {
		if err := cli.Refuse(cmd, "with several starts", "checkpoint"); err != nil {
			return err
		}
	}
	if err := f.solver.Check(cmd); err != nil {
		return err
	}
	if err := f.checkpoint.Check(cmd); err != nil {
		return err
	}
	if err := f.data.Check(cmd); err != nil {
		return err
	}
	if f.data.IgnoresMissing() {
		if err := f.checkMissing(); err != nil {
			return err
		}
	}
	if f.choosesLoss() {
		return cli.Refuse(cmd, "with --loss auto", "p", "delta", "precision", "loss-param", "plugin-sha256", "plugin-timeout", "checkpoint", "resume")
	}
	return f.loss.Check(cmd)
}

// checkMissing returns an error, before any file is read, if missing entries are to be
// ignored and the loss cannot ignore them.
func (f *fitFlags) checkMissing() error {
	switch {
	case !f.loss.BuiltIn():
		return nil // the plugin tells, when it runs
	case f.loss.Name == "l2" || f.loss.Name == "mahalanobis" || f.choosesLoss():
		return cli.Usagef("--missing ignore does not go with --loss %s, which weighs whole rows; take --loss squared_l2, huber (by entry), l1 or lp", f.loss.Name)
	}
	return nil
}

// choosesLoss reports whether the loss is to be chosen from the residuals.
func (f *fitFlags) choosesLoss() bool { return f.loss.Name == choiceAuto && f.loss.BuiltIn() }

// finish saves the model if the flags ask for it, then prints the report. After an
// interruption or a failure, the model is the best one found before it.
func (f *fitFlags) finish(cmd *cobra.Command, fit *scqm.Fit, header []string, failure error) error {
	if f.noTau {
		fit.Model.Tau = nil
	}
	fit.Model.Meta.NameFeatures(header)
	if f.output != "" {
		if err := cli.Save(cmd.Context(), f.output, func() error { return fit.Model.Save(f.output) }); err != nil {
			return err
		}
	}
	if failure == nil {
		if err := newFitReport(fit, header).print(cmd.OutOrStdout(), f.json, f.output); err != nil {
			return err
		}
		if !f.json && fit.Run.Status != framework.Cancelled {
			for _, text := range fit.Model.Meta.Warnings {
				cli.Warn(cmd, text)
			}
		}
	}
	if fit.Run.Status == framework.Cancelled {
		failure = context.Canceled
	}
	if failure != nil && f.output != "" {
		return fmt.Errorf("%s holds the best model so far: %w", f.output, failure)
	}
	return failure
}
