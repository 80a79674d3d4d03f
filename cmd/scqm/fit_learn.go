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

// learned is the result of a fit together with its input.
type learned struct {
	fit    *scqm.Fit
	header []string // names of the columns; nil if the file has none
}

// learn fits the rows of a file. It reads them into memory if they fit; otherwise it
// reads the file repeatedly.
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

// needsMemory returns the name of a given flag that requires all rows in memory, or "" if there is none.
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

// learnInMemory reads all rows into memory and fits them. It reads from src if src is not nil.
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

// settings returns the configuration of the fit that the flags set.
func (f *fitFlags) settings(loss framework.Loss) scqm.Config {
	c := f.config
	c.Loss, c.IgnoreMissing = loss, f.data.Missing
	f.solver.ApplyTo(&c)
	c.Options.Checkpoint = f.checkpoint.Choose()
	return c
}
