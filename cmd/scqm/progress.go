package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

const (
	progressAuto   = "auto"
	progressAlways = "always"
	progressNever  = "never"

	progressLayout = `{{counters .}} {{bar .}} cost {{string . "cost"}}{{string . "change"}}, {{etime .}}`
	progressPeriod = 100 * time.Millisecond
)

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// learnWatched fits a model under a progress bar, always, never, or where
// somebody can see it.
func learnWatched(cmd *cobra.Command, when string, x scqm.Data, c scqm.Config) (*scqm.Fit, error) {
	if stderr := cmd.ErrOrStderr(); when == progressAlways || when == progressAuto && isTerminal(stderr) {
		observe, end := showProgress(stderr, cmp.Or(c.Options.MaxIterations, scqm.DefaultMaxIterations))
		defer end()
		c.Options.Observers = []framework.Observer{observe}
	}
	return learn(cmd.Context(), x, c)
}

// showProgress draws a bar on w of a run of at most limit iterations. It returns
// the observer that moves the bar and a function that takes it away.
func showProgress(w io.Writer, limit int) (framework.Observer, func()) {
	bar := pb.ProgressBarTemplate(progressLayout).New(limit).SetWriter(w).
		Set(pb.Static, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true).Start()
	if bar.Width() == 0 { // a terminal that does not know its size
		bar.SetWidth(80)
	}
	last, due := math.NaN(), time.Duration(0)
	observe := func(p framework.Progress) {
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
