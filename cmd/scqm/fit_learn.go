package main

import (
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// learned is what a fit gives, and what it was learned from.
type learned struct {
	fit    *scqm.Fit
	header []string // names of the columns, nil where the file has none
}

// learn reads the rows and fits them.
func (f *fitFlags) learn(cmd *cobra.Command, path string) (learned, error) {
	m, err := f.data.Read(cmd, path)
	if err != nil {
		return learned{}, err
	}
	x := cli.RowsOf(m)
	x.Missing = f.data.Missing
	var loss framework.Loss // nil: to be chosen
	if !f.choosesLoss() {
		if loss, err = f.loss.Make(cmd.Context(), x, f.latent); err != nil {
			return learned{}, err
		}
	}
	fit, err := f.progress.Learn(cmd, x, f.config(loss))
	return learned{fit, m.Names}, err
}

// config is what the flags ask for.
func (f *fitFlags) config(loss framework.Loss) scqm.Config {
	c := scqm.Config{
		Latent: f.latent, Curvature: f.curvature, Linear: f.linear, Loss: loss,
		Ridge: f.chosenRidge(), Inits: f.inits, Seed: f.seed, Threads: f.threads, IgnoreMissing: f.data.Missing,
	}
	c.Solver, c.Options = f.solver.Choose()
	c.Options.Checkpoint = f.checkpoint.Choose()
	return c
}
