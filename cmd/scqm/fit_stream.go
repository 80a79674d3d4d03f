package main

import (
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// learnStreaming fits rows that are not held in memory. It reads them block by block
// each time the solver needs them.
func (f *fitFlags) learnStreaming(cmd *cobra.Command, src *dataset.Source) (learned, error) {
	ctx := cmd.Context()
	n, _ := src.Shape()
	show, end := f.progress.Reads(cmd, n)
	engine := &scqm.LocalEngine{
		Source: src, Threads: f.config.Threads,
		Observe: func(p scqm.ReadProgress) { show(p.Read, p.Rows) },
	}
	c := f.settings(nil)
	c.Options = c.Options.Begun()
	var fit *scqm.Fit
	var err error
	if c.Loss, err = f.loss.MakeFrom(ctx, engine, c); err == nil {
		engine.Loss = c.Loss
		fit, err = scqm.LearnFrom(ctx, engine, c)
	}
	end()
	if changed := src.Unchanged(); changed != nil {
		return learned{}, changed
	}
	return learned{fit, src.Names()}, err
}
