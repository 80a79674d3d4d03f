package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/experiments"
	"github.com/scqm/scqm/internal/figures"
	"github.com/scqm/scqm/models/scqm"
)

const experimentLong = `Repeat an experiment of Zhai and Li (arXiv 2605.20300):

  toy     arcs in the plane under noise of six kinds, each with its loss
  sphere  every method of denoise on noisy points of a sphere
  mnist   fours and nines in two dimensions, by loss, flat and curved

The directory DIR gets NAME.csv and NAME.md, a table of means over repetitions
with their standard errors, pictures NAME*.png, and params.json, which says what
was run. The same seed gives the same table.`

// experiment is the result of one experiment.
type experiment struct {
	table    experiments.Table
	pictures []figures.Figure
	params   any
}

// experimentRuns maps the name of each experiment in experiments.Specs to the function that runs it.
var experimentRuns = map[string]func(*experimentFlags, *cobra.Command, experiments.Settings) (*experiment, error){
	"toy":    (*experimentFlags).toy,
	"sphere": (*experimentFlags).sphere,
	"mnist":  (*experimentFlags).mnist,
}

// experimentFlags are the flags of scqm experiment.
type experimentFlags struct {
	digits   options.Digits
	output   string
	quick    bool
	seed     uint64
	reps     int
	threads  int
	sigmas   []float64
	progress options.Progress
}

func experimentCommand() *cobra.Command {
	f := experimentFlags{digits: options.NewDigits()}
	cmd := &cobra.Command{
		Use:     "experiment NAME -o DIR",
		Short:   "Repeat an experiment of the paper",
		Long:    experimentLong,
		Example: "  scqm experiment toy -o out --quick",
		Args:    cli.Arguments("NAME"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "DIR"), "output", "o", "directory for the results, made if need be (required)")
	flags.BoolVar(&f.quick, "quick", false, "do less, in seconds")
	flags.Var(cli.Natural(&f.seed), "seed", "seed of the first repetition (default 0)")
	flags.Var(cli.Count(&f.reps), "reps", "repetitions (default 20 for toy, 10 for sphere, 5 for mnist; with --quick 2)")
	flags.Float64SliceVar(&f.sigmas, "sigma", nil, "standard deviations of the noise of sphere (default those of the paper's table)")
	options.AddThreadsTo(flags, &f.threads)
	f.digits.AddTo(cmd)
	f.progress.AddTo(cmd)
	return cmd
}

func (f *experimentFlags) run(cmd *cobra.Command, name string) error {
	spec, err := experiments.Find(name)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if err := f.check(cmd, spec); err != nil {
		return err
	}
	s := experiments.Settings{Seed: f.seed, Reps: f.reps, Quick: f.quick, Threads: f.threads}
	if s.Reps == 0 {
		if s.Reps = spec.Reps; f.quick {
			s.Reps = spec.QuickReps
		}
	}
	show, end := f.progress.Part(cmd)
	s.Progress = show
	result, err := experimentRuns[name](f, cmd, s)
	end()
	if err != nil {
		return err
	}
	return f.write(cmd, name, result)
}

func (f *experimentFlags) check(cmd *cobra.Command, spec experiments.Spec) error {
	name := spec.Name
	if f.output == "" {
		return cli.Usagef("no place for the results; name a directory with -o")
	}
	if name != "sphere" {
		if err := cli.Refuse(cmd, "with the experiment "+name, "sigma"); err != nil {
			return err
		}
	}
	for _, sigma := range f.sigmas {
		if !(sigma > 0 && sigma <= 1) {
			return cli.Usagef("--sigma %g: want numbers above 0, up to 1", sigma)
		}
	}
	if spec.NeedsDigits {
		if err := f.digits.Check(cmd); err != nil {
			return err
		}
	} else if err := cli.Refuse(cmd, "with the experiment "+name, "images", "labels"); err != nil {
		return err
	}
	if err := os.MkdirAll(f.output, 0o777); err != nil {
		return cli.Usagef("-o: %w", err)
	}
	if err := dataset.CheckOutput(filepath.Join(f.output, name+".csv"), ".csv"); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

func (f *experimentFlags) toy(cmd *cobra.Command, s experiments.Settings) (*experiment, error) {
	study, err := experiments.Toy(cmd.Context(), s)
	if err != nil {
		return nil, err
	}
	pictures := study.Cases
	if f.quick { // pictures take longer than what they show
		pictures = slices.DeleteFunc(slices.Clone(pictures), func(c *experiments.ToyCase) bool { return c.File != "long" })
	}
	return &experiment{study.Table, figures.Toy(pictures), s}, nil
}

func (f *experimentFlags) sphere(cmd *cobra.Command, common experiments.Settings) (*experiment, error) {
	s := experiments.SphereSettings{Settings: common, Sigmas: f.sigmas}.Defaulted()
	study, err := experiments.Sphere(cmd.Context(), s)
	if err != nil {
		return nil, err
	}
	return &experiment{study.Table, []figures.Figure{{Image: figures.SphereErrors(study)}, {Suffix: "-points", Image: figures.SpherePoints(study)}}, s}, nil
}

func (f *experimentFlags) mnist(cmd *cobra.Command, s experiments.Settings) (*experiment, error) {
	digits, err := f.digits.Read(cmd)
	if err != nil {
		return nil, err
	}
	study, err := experiments.MNIST(cmd.Context(), digits, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.digits.Images, err)
	}
	return &experiment{study.Table, []figures.Figure{{Image: figures.DigitReconstructions(study)}}, f.withDigits(s)}, nil
}

// withDigits returns the settings together with the paths of the files of digits.
func (f *experimentFlags) withDigits(s experiments.Settings) any {
	return struct {
		experiments.Settings
		Images string `json:"images"`
		Labels string `json:"labels"`
	}{s, f.digits.Images, f.digits.Labels}
}

// experimentParams is the content of params.json.
type experimentParams struct {
	Experiment string `json:"experiment"`
	Version    string `json:"version"`
	// Command is the command line that reproduces the table.
	Command  string `json:"command"`
	Settings any    `json:"settings"`
}

// command returns the command line that repeats the experiment called name.
func (f *experimentFlags) command(cmd *cobra.Command, name string) string {
	line := "scqm experiment " + name + " -o DIR"
	for _, flag := range []string{"quick", "seed", "reps", "sigma", "images", "labels"} {
		if set := cmd.Flag(flag); set.Changed {
			line += " --" + flag + "=" + strings.Trim(set.Value.String(), "[]")
		}
	}
	return line
}

func (f *experimentFlags) write(cmd *cobra.Command, name string, e *experiment) error {
	params := experimentParams{name, scqm.Version, f.command(cmd, name), e.params}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{name + ".csv", e.table.WriteCSV},
		{name + ".md", e.table.WriteMarkdown},
		{"params.json", func(w io.Writer) error { return cli.PrintJSON(w, params) }},
	} {
		if err := writeNamed(cmd.OutOrStdout(), filepath.Join(f.output, file.name), file.write); err != nil {
			return err
		}
	}
	for _, p := range e.pictures {
		if err := writePicture(cmd.OutOrStdout(), filepath.Join(f.output, name+p.Suffix+".png"), p.Image); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout())
	if err == nil {
		err = e.table.WriteMarkdown(cmd.OutOrStdout())
	}
	return err
}
