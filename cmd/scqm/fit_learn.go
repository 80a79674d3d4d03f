package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// learned is what a fit gives, and what it was learned from.
type learned struct {
	fit    *scqm.Fit
	header []string // names of the columns, nil where the file has none
}

// learn fits the rows of a file in memory or, where there is no room for that, by
// reading the file again and again.
func (f *fitFlags) learn(cmd *cobra.Command, path string) (learned, error) {
	var src *dataset.Source
	var err error
	if dataset.ReadOnce(path) {
		if src, err = f.data.Open(cmd, path); err != nil {
			return learned{}, err
		}
		defer src.Close()
	}
	out, err := f.learnInMemory(cmd, path, src)
	if out.fit != nil || !errors.Is(err, scqm.ErrMemory) {
		return out, err
	}
	if flag := f.needsMemory(); flag != "" {
		return out, fmt.Errorf("%w, or leave out %s, for which all rows must be in memory", err, flag)
	}
	if src == nil {
		if src, err = f.data.Open(cmd, path); err != nil {
			return out, err
		}
		defer src.Close()
	}
	return f.learnStreaming(cmd, src)
}

// needsMemory names the flag, if any, that rows which are not in memory cannot serve.
func (f *fitFlags) needsMemory() string {
	switch {
	case f.solver.NeedsMemory():
		return "--solver or --preset"
	case f.choosesLoss():
		return "--loss auto"
	case f.config.Ridge == scqm.AutoRidge:
		return "--ridge auto"
	case f.data.IgnoresMissing():
		return "--missing ignore"
	}
	return ""
}

// learnInMemory reads the rows, from src if that is open already.
func (f *fitFlags) learnInMemory(cmd *cobra.Command, path string, src *dataset.Source) (learned, error) {
	read := func() (*dataset.Matrix, error) { return f.data.Read(cmd, path) }
	if src != nil {
		read = func() (*dataset.Matrix, error) { return cli.Await(cmd.Context(), src.Matrix) }
	}
	m, err := read()
	if err != nil {
		return learned{}, err
	}
	x := cli.RowsOf(m)
	x.Missing = f.data.Missing
	c := f.settings(nil) // no loss: to be chosen
	c.Options = c.Options.Begun()
	if !f.choosesLoss() {
		if c.Loss, err = f.loss.MakeFor(cmd.Context(), x, c); err != nil {
			return learned{}, err
		}
	}
	fit, err := f.progress.Learn(cmd, x, c)
	return learned{fit, m.Names}, err
}

// settings are what the flags ask for.
func (f *fitFlags) settings(loss framework.Loss) scqm.Config {
	c := f.config
	c.Loss, c.IgnoreMissing = loss, f.data.Missing
	f.solver.ApplyTo(&c)
	c.Options.Checkpoint = f.checkpoint.Choose()
	return c
}
