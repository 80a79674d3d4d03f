package main

import (
	"context"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// await does work that cannot be cancelled. When the context is done first, the
// work is left behind: the process is about to end.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// learn fits a model, choosing the loss where there is none. Before the solver has its first iterate there is nothing
// to keep, and an interruption ends the wait at once; from then on the solver
// obeys it and hands back the best model so far.
func learn(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	preparing, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	begun := context.AfterFunc(ctx, abandon)
	c.Options.Observers = append(c.Options.Observers, func(framework.Progress) { begun() })
	fit := scqm.Learn
	if c.Loss == nil {
		fit = scqm.LearnLoss
	}
	return await(preparing, func() (*scqm.Fit, error) { return fit(ctx, x, c) })
}
