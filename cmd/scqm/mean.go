package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/mean"
	"github.com/scqm/scqm/models/scqm"
)

const meanLong = `Write the mean of the rows of DATA under a loss: the point c for which the sum of
loss(c - row) is least. With squared_l2 it is the ordinary mean, with l1 the
median of every column, with l2, the default, the geometric median, which
outliers among the rows hardly move.

With -o FILE, --json or --influence, the rows on which the mean depends most are
found too: the influence of a row is how far the mean moves when the row is left
out, from derivatives. Rows are counted from 0.`

// meanFlags are the flags of scqm mean.
type meanFlags struct {
	data      options.Data
	loss      options.Loss
	top       int
	threads   int
	json      bool
	output    string
	influence string
}

func meanCommand() *cobra.Command {
	f := meanFlags{top: 10, output: "-"}
	f.data.Complete = true
	cmd := &cobra.Command{
		Use:     "mean DATA",
		Short:   "Compute a robust mean of rows",
		Long:    meanLong,
		Example: "  scqm mean data.csv\n  scqm mean data.npy --loss huber -o mean.npy --influence influence.csv",
		Args:    cli.Arguments("DATA"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "file to write the mean to, ending in .npy, .npz, .csv or .tsv; - is CSV on standard output")
	f.loss.AddTo(cmd)
	flags.Var(cli.Name(&f.influence, "FILE"), "influence", "file to write influence and residual of every row to")
	flags.Var(cli.Count(&f.top), "top", "rows to list")
	flags.BoolVar(&f.json, "json", false, "print mean and list as one JSON object")
	options.AddThreadsTo(flags, &f.threads)
	f.data.AddTo(cmd)
	return cmd
}

func (f *meanFlags) run(cmd *cobra.Command, path string) error {
	defer f.loss.Close()
	outputs := []cli.Named{{Flag: "-o", Path: f.output}, {Flag: "--influence", Path: f.influence}}
	if err := cli.Distinct(outputs, []string{path}, f.data.Inputs(), f.loss.Inputs()); err != nil {
		return err
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	m, err := f.data.Read(cmd, path)
	if err != nil {
		return err
	}
	start := time.Now()
	found, err := f.compute(cmd.Context(), cli.RowsOf(m))
	if err != nil {
		return err
	}
	if f.output != "-" || !f.json {
		out := &dataset.Matrix{Rows: 1, Cols: m.Cols, Data: found.mean.C, Names: m.Names}
		if err := cli.WriteMatrix(cmd, f.output, out); err != nil {
			return err
		}
	}
	if f.influence != "" {
		columns, err := found.columns()
		if err != nil {
			return err
		}
		if err := cli.WriteMatrix(cmd, f.influence, columns); err != nil {
			return err
		}
	}
	if f.output == "-" && !f.json {
		return nil
	}
	return f.print(cmd, found.report(m, f, time.Since(start)))
}

func (f *meanFlags) check(cmd *cobra.Command) error {
	if err := dataset.CheckOutput(f.output); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	if f.influence != "" {
		if err := dataset.CheckOutput(f.influence); err != nil {
			return fmt.Errorf("--influence: %w", err)
		}
		if f.influence == "-" {
			return cli.Usagef("--influence: standard output is for the mean; name a file")
		}
	}
	if f.output == "-" && !f.json {
		if err := cli.Refuse(cmd, "without -o FILE or --json", "top"); err != nil {
			return err
		}
	}
	if err := f.data.Check(cmd); err != nil {
		return err
	}
	return f.loss.Check(cmd)
}

// foundMean is a mean and the influence of each row on it. The influence is nil if the
// loss does not provide it; note gives the reason.
type foundMean struct {
	mean      *mean.Mean
	residuals []float64
	moves     []float64
	rounding  float64
	note      string
}

func (f *meanFlags) compute(ctx context.Context, x scqm.Data) (*foundMean, error) {
	return cli.Await(ctx, func() (*foundMean, error) {
		loss, err := f.chooseLoss(ctx, x)
		if err != nil {
			return nil, err
		}
		m, err := mean.Of(ctx, x, mean.Config{Loss: loss, Threads: f.threads})
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found := &foundMean{mean: m, residuals: m.Distances(x)}
		if f.output == "-" && !f.json && f.influence == "" {
			return found, nil
		}
		return found, found.addInfluence(ctx, x, f)
	})
}

// chooseLoss returns the loss. It chooses the delta of huber from the distances of the
// rows to their geometric median.
func (f *meanFlags) chooseLoss(ctx context.Context, x scqm.Data) (framework.Loss, error) {
	if !f.loss.NeedsDelta() {
		return f.loss.MakeFor(ctx, x, scqm.Config{Latent: 1})
	}
	return mean.DefaultLoss(ctx, f.loss.Name, x, f.threads)
}

func (m *foundMean) addInfluence(ctx context.Context, x scqm.Data, f *meanFlags) error {
	s, err := m.mean.Sensitivity(ctx, x, f.threads)
	if f.influence == "" && (errors.Is(err, mean.ErrNoCurvature) || errors.Is(err, scqm.ErrInput)) {
		m.note = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	moves, err := s.Influence()
	if err != nil {
		return err
	}
	m.moves = make([]float64, 0, x.N)
	for i := range x.N {
		m.moves = append(m.moves, floats.Norm(moves[i*x.D:(i+1)*x.D], 2))
	}
	if m.rounding = s.Rounding; m.rounding > 0 {
		m.note = fmt.Sprintf("for the influences, the kinks of the loss were rounded over %.3g", m.rounding)
	}
	return nil
}

// columns returns the output columns, with one value for each row.
func (m *foundMean) columns() (*dataset.Matrix, error) {
	out, err := cli.NewTable(len(m.moves), "influence", "residual")
	if err != nil {
		return nil, err
	}
	for i, v := range m.moves {
		out.Data = append(out.Data, v, m.residuals[i])
	}
	return out, nil
}

// meanReport is the JSON output of scqm mean.
type meanReport struct {
	Mean      []float64 `json:"mean"`
	Loss      string    `json:"loss"`
	N         int       `json:"n"`
	D         int       `json:"D"`
	Objective float64   `json:"objective"`
	Status    string    `json:"status"`
	Message   string    `json:"message"`
	Rounding  float64   `json:"rounding"`
	Top       []meanRow `json:"top"`
	Notes     []string  `json:"notes"`
	Header    []string  `json:"header"` // names in the first row, null where it holds none
	Seconds   float64   `json:"seconds"`
}

type meanRow struct {
	Row       int     `json:"row"`
	Influence float64 `json:"influence"`
	Residual  float64 `json:"residual"`
}

func (m *foundMean) report(x *dataset.Matrix, f *meanFlags, took time.Duration) *meanReport {
	r := &meanReport{
		Mean: m.mean.C, Loss: m.mean.Loss.Name(), N: x.Rows, D: x.Cols, Objective: m.mean.Objective,
		Status: m.mean.Run.Status.String(), Message: m.mean.Run.Message, Rounding: m.rounding,
		Top: []meanRow{}, Notes: []string{}, Header: x.Names, Seconds: took.Seconds(),
	}
	for i, v := range m.moves {
		r.Top = append(r.Top, meanRow{f.data.Number(i), v, m.residuals[i]})
	}
	slices.SortStableFunc(r.Top, func(a, b meanRow) int { return cmp.Compare(b.Influence, a.Influence) })
	r.Top = r.Top[:min(f.top, len(r.Top))]
	if m.note != "" {
		r.Notes = append(r.Notes, m.note)
	}
	return r
}

func (f *meanFlags) print(cmd *cobra.Command, r *meanReport) error {
	if f.json {
		return cli.PrintJSON(cmd.OutOrStdout(), r)
	}
	rows := [][]string{
		{"mean", fmt.Sprintf("of %d rows of %d columns, loss %s", r.N, r.D, r.Loss)},
		{"objective", fmt.Sprintf("%.8g", r.Objective)},
		{"status", r.Status + ": " + r.Message},
	}
	rows = append(rows, cli.HeaderRow(r.Header)...)
	for _, note := range r.Notes {
		rows = append(rows, []string{"note", note})
	}
	rows = append(rows, []string{"saved to", f.output})
	if err := cli.PrintTable(cmd.OutOrStdout(), rows); err != nil || len(r.Top) == 0 {
		return err
	}
	list := [][]string{{}, {"row", "influence", "residual"}}
	for _, t := range r.Top {
		list = append(list, []string{strconv.Itoa(t.Row), strconv.FormatFloat(t.Influence, 'g', 4, 64), strconv.FormatFloat(t.Residual, 'g', 4, 64)})
	}
	return cli.PrintTable(cmd.OutOrStdout(), list)
}
