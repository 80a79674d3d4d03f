package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

const influenceLong = `List the rows of DATA that drive the fit: those without which MODEL would be
another. DATA must be the rows that MODEL was learned from.

The influence of a row is how far the model moves when it is left out: the root
mean square distance, over all rows, between the points of the model that belong
to a row before and after. It is computed without fitting anew, from derivatives
at the fit. The list says beside it how far the row is from the model, and how
far it would be from the model of the others; its leverage, from 0 to 0.95, is its
part in what holds the model in place against its pull. Rows are counted from 0.

With -o, the same numbers of all rows are written in the order of DATA.`

// influenceFlags are the flags of scqm influence.
type influenceFlags struct {
	plugin  options.Plugin
	data    options.Data
	top     int
	threads int
	json    bool
	output  string
}

func influenceCommand() *cobra.Command {
	f := influenceFlags{top: 10}
	cmd := &cobra.Command{
		Use:     "influence MODEL DATA",
		Short:   "List the rows that drive a fit",
		Long:    influenceLong,
		Example: "  scqm influence model.npz data.csv --top 5\n  scqm influence model.npz data.csv -o influence.csv",
		Args:    cli.Arguments("MODEL", "DATA"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "write the numbers of all rows to a file, ending in .npy, .npz, .csv or .tsv; - is CSV on standard output, without the list")
	flags.Var(cli.Count(&f.top), "top", "rows to list")
	flags.BoolVar(&f.json, "json", false, "print the list as one JSON object")
	f.plugin.AddTo(cmd, "where the plugin of the model's loss is now (default: found by its name)")
	options.AddThreadsTo(flags, &f.threads)
	f.data.AddTo(cmd)
	return cmd
}

func (f *influenceFlags) run(cmd *cobra.Command, model, data string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if err := cli.Distinct([]cli.Named{{Flag: "-o", Path: f.output}}, []string{model, data}, f.data.Inputs()); err != nil {
		return err
	}
	m, src, err := loadFor(cmd, model, data, &f.data, &f.plugin)
	if err != nil {
		return err
	}
	defer f.plugin.Close()
	defer src.Close()
	start := time.Now()
	r, err := f.find(cmd, m, src)
	if err != nil || f.output == "-" {
		return err
	}
	for k := range r.Top {
		r.Top[k].Row = f.data.Number(r.Top[k].Row)
	}
	r.Header = src.Names()
	r.Seconds = time.Since(start).Seconds()
	return r.print(cmd, f)
}

// find computes the influences of all rows. It reads the rows into memory if they fit;
// otherwise it reads the file twice.
func (f *influenceFlags) find(cmd *cobra.Command, m *scqm.Model, src *dataset.Source) (*influenceReport, error) {
	r, err := f.findInMemory(cmd, m, src)
	if !errors.Is(err, scqm.ErrMemory) {
		return r, err
	}
	streamed, failure := f.findStreaming(cmd, m, src)
	if errors.Is(failure, scqm.ErrAllRows) {
		return nil, err // this error already states the sizes
	}
	return streamed, failure
}

func (f *influenceFlags) findInMemory(cmd *cobra.Command, m *scqm.Model, src *dataset.Source) (*influenceReport, error) {
	ctx := cmd.Context()
	x, err := cli.Await(ctx, src.Matrix)
	if err != nil {
		return nil, err
	}
	influence, err := cli.Await(ctx, func() (*scqm.Influence, error) { return m.Influence(ctx, cli.RowsOf(x), f.threads) })
	if err != nil {
		return nil, err
	}
	r := newInfluenceReport(m, x.Rows, f.top)
	r.add(0, influence.Rows)
	r.end(influence)
	if f.output != "" {
		err := f.write(cmd, x.Rows, func(write func(int, []scqm.RowInfluence) error) error { return write(0, influence.Rows) })
		if err != nil || f.output == "-" {
			return nil, err
		}
	}
	return r, nil
}

func (f *influenceFlags) findStreaming(cmd *cobra.Command, m *scqm.Model, src *dataset.Source) (*influenceReport, error) {
	n, _ := src.Shape()
	r := newInfluenceReport(m, n, f.top)
	find := func(write func(int, []scqm.RowInfluence) error) error {
		influence, err := m.InfluenceFrom(cmd.Context(), src, f.threads, func(first int, rows []scqm.RowInfluence) error {
			r.add(first, rows)
			return write(first, rows)
		})
		if err = cmp.Or(src.Unchanged(), err); err == nil {
			r.end(influence)
		}
		return err
	}
	if f.output == "" {
		return r, find(func(int, []scqm.RowInfluence) error { return nil })
	}
	return r, f.write(cmd, n, find)
}

func (f *influenceFlags) check(cmd *cobra.Command) error {
	if f.output != "" {
		if err := dataset.CheckOutput(f.output); err != nil {
			return fmt.Errorf("-o: %w", err)
		}
	}
	if f.output == "-" {
		if err := cli.Refuse(cmd, "beside -o -, which leaves standard output to the rows", "json", "top"); err != nil {
			return err
		}
	}
	return f.data.Check(cmd)
}

// write writes the influences of n rows in the order in which find passes them to its callback.
func (f *influenceFlags) write(cmd *cobra.Command, n int, find func(write func(int, []scqm.RowInfluence) error) error) error {
	names := []string{"influence", "residual", "residual_without", "leverage"}
	table := dataset.Table{Rows: n, Cols: len(names), Names: names}
	return cli.WriteRows(cmd, f.output, table, func(write func([]float64) error) error {
		part := make([]float64, 0, blockNumbers)
		return find(func(_ int, rows []scqm.RowInfluence) error {
			for list := range slices.Chunk(rows, cap(part)/len(names)) {
				part = part[:0]
				for _, r := range list {
					part = append(part, r.Move, r.Residual, r.Without, r.Leverage)
				}
				if err := write(part); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// influenceReport is the JSON output of scqm influence.
type influenceReport struct {
	Loss      string           `json:"loss"`
	N         int              `json:"n"`
	D         int              `json:"D"`
	Latent    int              `json:"d"`
	Curvature int              `json:"s"`
	Median    float64          `json:"median_influence"`
	Residual  float64          `json:"mean_residual"`
	Without   float64          `json:"mean_residual_without"`
	Remaining float64          `json:"remaining"`
	Rounding  float64          `json:"rounding"`
	Top       []influentialRow `json:"top"`
	Notes     []string         `json:"notes"`
	Header    []string         `json:"header"` // names in the first row, null where it holds none
	Seconds   float64          `json:"seconds"`

	most  int // maximum number of rows to list
	moves []float64
}

type influentialRow struct {
	Row       int     `json:"row"`
	Influence float64 `json:"influence"`
	Residual  float64 `json:"residual"`
	Without   float64 `json:"residual_without"`
	Leverage  float64 `json:"leverage"`
}

func newInfluenceReport(m *scqm.Model, n, top int) *influenceReport {
	return &influenceReport{
		Loss: m.Loss.Name(), N: n, D: m.D, Latent: m.Latent, Curvature: m.Curvature,
		most: min(top, n), moves: make([]float64, 0, n),
	}
}

// add adds the influences of consecutive rows, of which the first has the index first.
func (r *influenceReport) add(first int, rows []scqm.RowInfluence) {
	for i, row := range rows {
		r.Top = append(r.Top, influentialRow{Row: first + i, Influence: row.Move, Residual: row.Residual, Without: row.Without, Leverage: row.Leverage})
		r.moves = append(r.moves, row.Move)
		r.Residual += row.Residual / float64(r.N)
		r.Without += row.Without / float64(r.N)
	}
	slices.SortStableFunc(r.Top, func(a, b influentialRow) int { return cmp.Compare(b.Influence, a.Influence) })
	r.Top = slices.Clone(r.Top[:min(r.most, len(r.Top))])
}

// end adds the values of o that concern all rows together.
func (r *influenceReport) end(o *scqm.Influence) {
	r.Remaining, r.Rounding, r.Notes = o.Remaining, o.Rounding, o.Notes
	if r.Notes == nil {
		r.Notes = []string{}
	}
	r.Median = cli.UpperMedian(r.moves)
}

func (r *influenceReport) print(cmd *cobra.Command, f *influenceFlags) error {
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), r)
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	rows := [][]string{{"row", "influence", "residual", "without it", "leverage"}}
	for _, t := range r.Top {
		rows = append(rows, []string{strconv.Itoa(t.Row), number(t.Influence), number(t.Residual), number(t.Without), number(t.Leverage)})
	}
	if err := cli.PrintTable(cmd.OutOrStdout(), rows); err != nil {
		return err
	}
	rest := [][]string{
		{},
		{"all " + strconv.Itoa(r.N) + " rows", "median influence " + number(r.Median)},
		{"", "mean residual " + number(r.Residual) + ", left out " + number(r.Without)},
	}
	rest = append(rest, cli.HeaderRow(r.Header)...)
	for _, note := range r.Notes {
		rest = append(rest, []string{"note", note})
	}
	if f.output != "" {
		rest = append(rest, []string{"saved to", f.output})
	}
	return cli.PrintTable(cmd.OutOrStdout(), rest)
}
