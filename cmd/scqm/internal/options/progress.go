package options

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
)

const (
	progressAuto   = "auto"
	progressAlways = "always"
	progressNever  = "never"

	fitLayout      = `{{counters .}} {{bar .}} cost {{string . "cost"}}{{string . "change"}}, {{etime .}}`
	rowsLayout     = `{{counters .}} rows {{bar .}} {{etime .}}`
	readsLayout    = `read {{string . "read"}}: {{counters .}} rows {{bar .}} {{etime .}}`
	partLayout     = `{{percent .}} {{bar .}} {{etime .}}`
	partSteps      = 1000
	progressPeriod = 100 * time.Millisecond
)

// Progress holds the flag that says when a progress bar is shown. Without the flag, it
// is shown on a terminal.
type Progress struct{ when string }

// AddTo adds the flag to cmd.
func (f *Progress) AddTo(cmd *cobra.Command) {
	f.when = progressAuto
	cmd.Flags().Var(cli.Choice(&f.when, progressAuto, progressAlways, progressNever), "progress", "when to show a progress bar; auto: on a terminal")
}

// shows reports whether a progress bar is to be shown on w.
func (f *Progress) shows(w io.Writer) bool {
	switch f.when {
	case progressAlways:
		return true
	case progressNever:
		return false
	}
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// Learn fits a model and shows a progress bar.
func (f *Progress) Learn(cmd *cobra.Command, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	if stderr := cmd.ErrOrStderr(); f.shows(stderr) {
		observe, end := showFit(stderr, cmp.Or(c.Options.MaxIterations, framework.DefaultMaxIterations))
		defer end()
		c.Options.Observers = []func(framework.Record){observe}
	}
	return Learn(cmd.Context(), x, c)
}

// Part returns a function that sets the progress bar to a fraction of the work, and one
// that removes the bar. show is nil if there is no bar.
func (f *Progress) Part(cmd *cobra.Command) (show func(part float64), end func()) {
	if stderr := cmd.ErrOrStderr(); f.shows(stderr) {
		return showPart(stderr)
	}
	return nil, func() {}
}

// Rows returns a function that sets the progress bar to done of n rows, and one that
// removes the bar. If the rows are printed to standard output, a bar is shown only if
// the user asked for it.
func (f *Progress) Rows(cmd *cobra.Command, n int, printed bool) (show func(done int), end func()) {
	stderr := cmd.ErrOrStderr()
	if !f.shows(stderr) || printed && f.when == progressAuto {
		return func(int) {}, func() {}
	}
	bar := newBar(stderr, rowsLayout, n)
	var due time.Time
	show = func(done int) {
		if now := time.Now(); now.After(due) {
			due = now.Add(progressPeriod)
			bar.SetCurrent(int64(done))
			bar.Write()
		}
	}
	return show, func() { bar.Finish().Write() }
}

// Reads returns a function that sets the progress bar to done of n rows, for rows that
// are read several times, and one that removes the bar.
func (f *Progress) Reads(cmd *cobra.Command, n int) (show func(read, done int), end func()) {
	stderr := cmd.ErrOrStderr()
	if !f.shows(stderr) {
		return func(int, int) {}, func() {}
	}
	bar := newBar(stderr, readsLayout, n)
	var due time.Time
	show = func(read, done int) {
		if now := time.Now(); now.After(due) {
			due = now.Add(progressPeriod)
			bar.Set("read", read)
			bar.SetCurrent(int64(done))
			bar.Write()
		}
	}
	return show, func() { bar.Finish().Write() }
}

// Learn fits a model. If c has no loss, it chooses one. Before the first iterate of the
// solver, an interruption makes Learn return at once. After it, the solver stops and
// returns the best model so far.
func Learn(ctx context.Context, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	preparing, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	begun := context.AfterFunc(ctx, abandon)
	c.Options.Observers = append(c.Options.Observers, func(framework.Record) { begun() })
	fit := scqm.Learn
	if c.Loss == nil {
		fit = selection.LearnLoss
	}
	return cli.Await(preparing, func() (*scqm.Fit, error) { return fit(ctx, x, c) })
}

// newBar starts a progress bar on w with the given number of steps.
func newBar(w io.Writer, layout string, steps int) *pb.ProgressBar {
	bar := pb.ProgressBarTemplate(layout).New(steps).SetWriter(w).
		Set(pb.Static, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true).Start()
	if bar.Width() == 0 { // a terminal that reports no width
		bar.SetWidth(80)
	}
	return bar
}

// showFit shows a progress bar on w for a fit of at most limit iterations. It returns
// an observer that advances the bar and a function that removes it.
func showFit(w io.Writer, limit int) (func(framework.Record), func()) {
	bar := newBar(w, fitLayout, limit)
	last, due := math.NaN(), time.Duration(0)
	observe := func(p framework.Record) {
		change := (last - p.Cost) / math.Abs(last)
		last = p.Cost
		if p.Elapsed < due {
			return
		}
		due = p.Elapsed + progressPeriod
		bar.SetCurrent(int64(p.Iteration))
		bar.Set("cost", fmt.Sprintf("%.8g", p.Cost))
		if p.Iteration > 0 {
			bar.Set("change", fmt.Sprintf(", falling by %.1e", change))
		}
		bar.Write()
	}
	return observe, func() { bar.Finish().Write() }
}

// showPart shows a progress bar on w. It returns a function that sets the bar to a
// fraction of the work and one that removes it.
func showPart(w io.Writer) (show func(part float64), end func()) {
	bar := newBar(w, partLayout, partSteps)
	var due time.Time
	show = func(part float64) {
		if now := time.Now(); now.After(due) {
			due = now.Add(progressPeriod)
			bar.SetCurrent(int64(part * partSteps))
			bar.Write()
		}
	}
	return show, func() { bar.Finish().Write() }
}
