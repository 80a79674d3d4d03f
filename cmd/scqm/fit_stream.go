package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// learnStreaming fits rows that are read block by block, as often as the solver
// asks for them.
func (f *fitFlags) learnStreaming(cmd *cobra.Command, src *dataset.Source) (learned, error) {
	ctx := cmd.Context()
	n, _ := src.Shape()
	loss, err := f.lossOfSample(ctx, src)
	if err != nil {
		return learned{}, err
	}
	show, end := f.progress.Reads(cmd, n)
	engine := &scqm.LocalEngine{
		Source: src, Loss: loss, Threads: f.threads,
		Observe: func(p scqm.ReadProgress) { show(p.Read, p.Rows) },
	}
	fit, err := scqm.LearnFrom(ctx, engine, f.config(loss))
	end()
	if changed := src.Unchanged(); changed != nil {
		return learned{}, changed
	}
	return learned{fit, src.Names()}, err
}

// sampleNumbers bounds the rows that a default of the loss is chosen by: 32 MiB.
const sampleNumbers = 1 << 22

// lossOfSample makes the loss. What is left to the data is chosen by rows spread
// evenly over them.
func (f *fitFlags) lossOfSample(ctx context.Context, src *dataset.Source) (framework.Loss, error) {
	if !f.loss.AsksData() {
		return f.loss.Make(ctx, scqm.Data{}, f.latent)
	}
	n, d := src.Shape()
	count := min(n, max(sampleNumbers/d, 1))
	x := scqm.Data{N: count, D: d, X: make([]float64, count*d)}
	_, err := cli.Await(ctx, func() (struct{}, error) {
		for i := range count {
			if err := src.ReadRows(ctx, x.X[i*d:(i+1)*d], i*n/count); err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, err
	}
	return f.loss.Make(ctx, x, f.latent)
}
