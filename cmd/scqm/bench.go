package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/bench"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/solvers"
)

const benchLong = `Run every solver on the same fits, side by side, and compare objective, work and
time with those of rgd, the published algorithm, and of principal components.

  digits   100 handwritten digits of 28 x 28 pixels, fours and nines
  sheet    many rows of 50 numbers near a sheet, 2 % of them outliers

Times depend on what else the machine does; ratios to rgd are of the same run.`

const benchExample = `  scqm bench
  scqm bench sheet --quick
  scqm bench digits --loss l2,l1`

const (
	benchTime  = 20 * time.Second // for each fit
	quickTime  = 4 * time.Second
	allRegimes = "all"
)

// benchFlags are the flags of scqm bench.
type benchFlags struct {
	digits    options.Digits
	losses    []string
	solvers   []string
	rows      []int
	timeLimit time.Duration
	threads   int
	quick     bool
	json      bool
}

func benchCommand() *cobra.Command {
	f := benchFlags{digits: options.NewDigits(), rows: []int{20000, 200000}, timeLimit: benchTime}
	cmd := &cobra.Command{
		Use:     "bench [digits|sheet|all]",
		Short:   "Compare the solvers, side by side",
		Long:    benchLong,
		Example: benchExample,
		Args:    regimeArgument,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.losses, "loss", nil, "compare on these `LOSSES` only, with default parameters: "+strings.Join(bench.LossNames(), ","))
	flags.StringSliceVar(&f.solvers, "solver", nil, "compare these `SOLVERS` only, with rgd")
	flags.IntSliceVar(&f.rows, "rows", f.rows, "numbers of rows near the sheet")
	flags.Var(cli.Duration(&f.timeLimit), "time-limit", "most time to spend on one fit")
	options.AddThreadsTo(flags, &f.threads)
	flags.BoolVar(&f.quick, "quick", false, fmt.Sprintf("a rough picture: %v for a fit, the first of --rows only", quickTime))
	f.digits.AddTo(cmd)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// regimeArgument returns an error if args has more than one entry or names an unknown regime.
func regimeArgument(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 1 && (args[0] == allRegimes || slices.Contains(bench.RegimeNames(), args[0])) {
		return nil
	}
	return cli.Usagef("arguments: want %s or %s, got %s; see %s --help",
		strings.Join(bench.RegimeNames(), ", "), allRegimes, strings.Join(args, " "), cmd.CommandPath())
}

func (f *benchFlags) run(cmd *cobra.Command, args []string) error {
	chosen := bench.RegimeNames()
	if len(args) == 1 && args[0] != allRegimes {
		chosen = args
	}
	if err := f.check(cmd, chosen); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.json {
		out = io.Discard
	}
	report := &benchReport{Machine: machineReport{
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Processors: runtime.NumCPU(), Threads: par.Threads(f.threads),
	}}
	if _, err := fmt.Fprintln(out, report.Machine); err != nil {
		return err
	}
	for _, r := range bench.Regimes {
		if !slices.Contains(chosen, r.Name) {
			continue
		}
		if err := f.regime(cmd, out, report, r); err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), report)
	}
	return nil
}

// options returns the options of the benchmark that the flags set.
func (f *benchFlags) options(cmd *cobra.Command) bench.Options {
	return bench.Options{
		Losses: f.losses, Solvers: f.solvers, Rows: f.rows, TimeLimit: f.timeLimit,
		Threads: f.threads, Learn: options.Learn,
		Digits: func() (scqm.Data, error) {
			all, err := f.digits.Read(cmd)
			if err != nil {
				return scqm.Data{}, err
			}
			learned, err := all.FoursAndNines()
			if err != nil {
				return scqm.Data{}, fmt.Errorf("%s: %w", f.digits.Images, err)
			}
			return learned.X, nil
		},
	}
}

// regime compares the solvers on each problem of r. It reports and prints each comparison as soon as it is complete.
func (f *benchFlags) regime(cmd *cobra.Command, out io.Writer, report *benchReport, r bench.Regime) error {
	o := f.options(cmd)
	problems, err := r.Problems(o)
	if err != nil {
		return err
	}
	for _, p := range problems {
		c, err := p.Compare(cmd.Context(), o)
		if err != nil {
			return fmt.Errorf("%s: %w", p.LossName, err)
		}
		report.Cases = append(report.Cases, c)
		if err := printComparison(out, c); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error for invalid flags before any problem is solved, and applies --quick.
func (f *benchFlags) check(cmd *cobra.Command, chosen []string) error {
	for _, name := range f.losses {
		if !slices.Contains(bench.LossNames(), name) {
			return cli.Usagef("--loss: no loss %q here; there are %s", name, strings.Join(bench.LossNames(), ", "))
		}
	}
	for _, name := range f.solvers {
		if _, err := solvers.ByName(name); err != nil {
			return fmt.Errorf("--solver: %w", err)
		}
	}
	for _, n := range f.rows {
		if n < bench.MinRows {
			return cli.Usagef("--rows: %d rows are too few; want at least %d", n, bench.MinRows)
		}
	}
	if f.quick {
		f.rows = f.rows[:min(len(f.rows), 1)]
		if !cmd.Flags().Changed("time-limit") {
			f.timeLimit = quickTime
		}
	}
	if slices.Contains(chosen, bench.RegimeDigits) {
		return f.digits.Check(cmd)
	}
	return nil
}
