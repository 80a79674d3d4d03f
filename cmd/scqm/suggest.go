package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/models/selection"
)

const suggestLong = `Compare models with few latent dimensions d, flat and with s directions of
curvature, and recommend the simplest one that is as good as the best.

Each model is fitted without a part of the rows, and predicts each part of their
entries from the others, after a random rotation of the columns. PREDICTED is the
mean distance of those rows from what is predicted. Unlike HELD OUT, their distance
from the sheet, it gets worse with dimensions that follow noise.
LEARNED is the distance of the rows that the sheet was fitted to, and S USED the
number of directions into which the sheet of all rows really bends. RIDGE is the
penalty on curvature: the default, or a larger one that holds back a sheet that would
fold.

Curved models have as many directions as rows show. One is not recommended where its
curvature explodes, or where it predicts entries no better than a linear one.

Flat models are tried until a larger d predicts no better, and curved ones up to that d.`

// suggestFlags are the flags of scqm suggest.
type suggestFlags struct {
	data     options.Data
	loss     options.Loss
	latent   int
	folds    int
	rows     int
	seed     uint64
	threads  int
	progress options.Progress
	json     bool
	output   string
}

func suggestCommand() *cobra.Command {
	f := suggestFlags{}
	f.data.Complete = true
	cmd := &cobra.Command{
		Use:     "suggest DATA",
		Short:   "Compare numbers of dimensions, and recommend d, s and ridge",
		Long:    suggestLong,
		Example: "  scqm suggest data.csv --max-latent 3",
		Args:    cli.Arguments("DATA"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(cli.Count(&f.latent), "max-latent", "largest d to try (default 4, or one less than there are columns)")
	flags.Var(cli.Count(&f.folds), "folds", "parts of the rows, each of which is held out once (default 3)")
	flags.Var(cli.Count(&f.rows), "max-rows", "rows to look at, drawn at random if there are more (default 1000)")
	f.loss.AddTo(cmd)
	options.AddSeedTo(flags, &f.seed)
	options.AddThreadsTo(flags, &f.threads)
	f.data.AddTo(cmd)
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "where to save the table; a name ending in .csv, .tsv, .npy or .npz (default: nowhere)")
	f.progress.AddTo(cmd)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *suggestFlags) run(cmd *cobra.Command, path string) error {
	defer f.loss.Close()
	if f.output != "" {
		if err := dataset.CheckOutput(f.output, ".csv", ".tsv", ".npy", ".npz"); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	if err := cli.Distinct([]cli.Named{{Flag: "-o", Path: f.output}}, []string{path}, f.data.Inputs(), f.loss.Inputs()); err != nil {
		return err
	}
	if err := f.data.Check(cmd); err != nil {
		return err
	}
	if err := f.loss.Check(cmd); err != nil {
		return err
	}
	m, err := f.data.Read(cmd, path)
	if err != nil {
		return err
	}
	x := cli.RowsOf(m)
	loss, err := f.loss.MakeFor(cmd.Context(), x, scqm.Config{Latent: 1})
	if err != nil {
		return err
	}
	c := selection.SuggestConfig{MaxLatent: f.latent, Loss: loss, Folds: f.folds, MaxRows: f.rows, Seed: f.seed, Threads: f.threads}
	show, end := f.progress.Part(cmd)
	defer end()
	c.Progress = show
	s, err := cli.Await(cmd.Context(), func() (*selection.Suggestion, error) { return selection.Suggest(cmd.Context(), x, c) })
	if err != nil {
		return err
	}
	if f.output != "" {
		if err := cli.WriteMatrix(cmd, f.output, suggestionTable(s)); err != nil {
			return err
		}
	}
	return f.print(cmd, s, m.Names)
}

// suggestionTable returns a table with a row for each trial.
func suggestionTable(s *selection.Suggestion) *dataset.Matrix {
	m := &dataset.Matrix{Names: []string{"d", "s", "predicted", "worse", "worse_error", "learned", "held_out", "s_effective", "warned", "ridge", "curvature_extent", "recommended"}}
	m.Rows, m.Cols = len(s.Trials), len(m.Names)
	for k, t := range s.Trials {
		m.Data = append(m.Data, float64(t.Latent), float64(t.Curvature), t.Predicted, t.Worse, t.WorseError,
			t.Learned, t.HeldOut, float64(t.Effective), cli.ZeroOrOne(t.Warning != ""), t.Ridge, t.CurvatureExtent, cli.ZeroOrOne(k == s.Best))
	}
	return m
}

// suggestReport is the JSON output of scqm suggest.
type suggestReport struct {
	*selection.Suggestion
	Header []string `json:"header"` // names in the first row, null where it holds none
}

func (f *suggestFlags) print(cmd *cobra.Command, s *selection.Suggestion, header []string) error {
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), suggestReport{s, header})
	}
	rows := [][]string{{"", "D", "S", "PREDICTED", "ABOVE THE BEST", "LEARNED", "HELD OUT", "S USED", "RIDGE", "WARNING"}}
	for k, t := range s.Trials {
		mark := ""
		if k == s.Best {
			mark = "*"
		}
		rows = append(rows, []string{
			mark, fmt.Sprint(t.Latent), fmt.Sprint(t.Curvature), fmt.Sprintf("%.4g", t.Predicted), fmt.Sprintf("%.2g ± %.1g", t.Worse, t.WorseError),
			fmt.Sprintf("%.4g", t.Learned), fmt.Sprintf("%.4g", t.HeldOut), fmt.Sprint(t.Effective), fmt.Sprint(t.Ridge), t.Warning,
		})
	}
	if err := cli.PrintTable(cmd.OutOrStdout(), rows); err != nil {
		return err
	}
	next := ""
	switch best := s.Trials[s.Best]; {
	case best.Curvature > 0:
		next = fmt.Sprintf("fit with: -d %d -s %d --ridge %g\n", best.Latent, best.Curvature, best.Ridge)
	case best.Latent > 0:
		next = fmt.Sprintf("fit with: -d %d --linear\n", best.Latent)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "\n%s\n%s", s.Reason, next); err != nil {
		return err
	}
	return cli.PrintTable(cmd.OutOrStdout(), cli.HeaderRow(header))
}
