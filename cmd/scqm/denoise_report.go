package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
)

// chooseLoss sets the loss from --loss. Without the flag, the method auto and methods that take no
// loss get none. If Huber's loss has no delta, the loss is set later, from the rows.
func (f *denoiseFlags) chooseLoss(cmd *cobra.Command, s *denoise.Settings) error {
	given := cmd.Flags().Changed("loss")
	switch f.method {
	case methodAuto:
		if !given || f.loss.Name == lossTukey {
			return cli.Refuse(cmd, "with the loss tukey of the method auto (--method scqm takes any)", "p", "delta", "precision", "plugin", "loss-param", "plugin-sha256", "plugin-timeout")
		}
	case "scqm", "linear":
	default:
		return nil
	}
	if err := f.loss.Check(cmd); err != nil {
		return err
	}
	if f.loss.NeedsDelta() {
		s.LossFor = func(distances []float64) (framework.Loss, error) {
			return f.loss.WithDelta(losses.DefaultDelta(f.loss.Name, distances))
		}
		return nil
	}
	var err error
	s.Loss, err = f.loss.Make()
	return err
}

// denoiseSummary is what scqm denoise --json prints.
type denoiseSummary struct {
	Method     string             `json:"method"`
	Loss       string             `json:"loss,omitempty"`
	LossParams map[string]float64 `json:"loss_params,omitempty"`
	N          int                `json:"n"` // rows fitted
	D          int                `json:"D"`
	Latent     int                `json:"d"`
	Axes       int                `json:"axes"` // principal axes of wide rows, 0 where all columns are kept
	Note       string             `json:"note,omitempty"`
	Rows       int                `json:"rows"`      // rows denoised
	Neighbors  int                `json:"neighbors"` // median over rows, as are the fields below
	// GridEnd says whether the chosen number of neighbours is the smallest that was tried, the largest,
	// or between them. It is empty if the number was not chosen from the rows.
	GridEnd      string  `json:"grid_end"`
	Ridge        float64 `json:"ridge"`
	Residual     float64 `json:"residual"`
	Noise        float64 `json:"noise"`
	Extrapolated int     `json:"extrapolated"`
	Unchanged    int     `json:"unchanged"`
	// Dropped is the number of rows that --drop-outliers removed.
	Dropped int `json:"dropped"`
	// ShareError is the root mean square distance between these results and the results without --share.
	ShareError *float64 `json:"share_error,omitempty"`
	Header     []string `json:"header"` // names in the first row, null where it holds none
	Status     string   `json:"status"`
	Seconds    float64  `json:"seconds"`

	shareMoved float64
}

func newDenoiseSummary(d *denoise.Denoiser, f *denoiseFlags, x *dataset.Matrix, header []string, r *denoise.Result, took time.Duration) *denoiseSummary {
	s := f.newSummary(d.Method(), x.Rows, x.Cols, header)
	s.Seconds, s.GridEnd = took.Seconds(), d.Grid(f.choosesNeighbors()).String()
	s.take(d.Method(), d.Axes(), d.Note())
	if f.share > 0 {
		s.ShareError, s.shareMoved = &r.ShareError, r.ShareMoved
	}
	m := newMedians(len(r.Rows))
	for i, row := range r.Rows {
		m.add(s, i, row)
	}
	m.end(s)
	return s
}

// newSummary returns a summary for a method and for n fitted rows with D columns.
func (f *denoiseFlags) newSummary(method denoise.Method, n, D int, header []string) *denoiseSummary {
	s := &denoiseSummary{Method: f.method, N: n, D: D, Latent: f.latent, Status: "converged", Header: header}
	switch m := method.(type) {
	case classic.SCQM:
		s.Loss = m.Loss.Name()
		if p, ok := m.Loss.(rowloss.Parametric); ok {
			s.LossParams = p.Params()
		}
	case denoise.Auto:
		if s.Loss = lossTukey; m.LeastSquares {
			s.Loss = "squared_l2"
		}
	}
	return s
}

// take records the number of axes and the method used. note says why it is not the requested method, if so.
func (s *denoiseSummary) take(m denoise.Method, axes int, note string) {
	s.Axes, s.Note = axes, note
	if note != "" {
		s.Method = m.Name()
	}
}

// medianRows is the maximum number of rows from which medians are computed.
const medianRows = 1 << 16

// medians collects the values of a regular sample of the rows. The summary shows the medians of these values.
type medians struct {
	every                             int
	neighbors, ridge, residual, noise []float64
}

func newMedians(rows int) *medians { return &medians{every: (rows + medianRows - 1) / medianRows} }

// add counts row i and stores its values if i belongs to the sample.
func (m *medians) add(s *denoiseSummary, i int, row denoise.Row) {
	s.Rows++
	s.Extrapolated += int(cli.ZeroOrOne(row.Extrapolated))
	s.Unchanged += int(cli.ZeroOrOne(row.Unchanged))
	if i%m.every == 0 {
		m.neighbors, m.ridge = append(m.neighbors, float64(row.Neighbors)), append(m.ridge, row.Ridge)
		m.residual, m.noise = append(m.residual, row.Residual), append(m.noise, row.Noise)
	}
}

// end stores the medians in the summary.
func (m *medians) end(s *denoiseSummary) {
	s.Neighbors, s.Ridge = int(cli.UpperMedian(m.neighbors)), cli.UpperMedian(m.ridge)
	s.Residual, s.Noise = cli.UpperMedian(m.residual), cli.UpperMedian(m.noise)
}

// print prints the summary, as JSON with --json. Otherwise it prints nothing if the rows go to standard output.
func (s *denoiseSummary) print(cmd *cobra.Command, f *denoiseFlags) error {
	switch {
	case f.json:
		return cli.PrintJSON(cmd.OutOrStdout(), s)
	case f.output == "-":
		return nil
	}
	method := s.Method
	if s.Loss != "" {
		method += ", loss " + s.Loss
	}
	for _, name := range slices.Sorted(maps.Keys(s.LossParams)) {
		method += fmt.Sprintf(", %s = %.4g", name, s.LossParams[name])
	}
	rows := [][]string{
		{"method", fmt.Sprintf("%s, d = %d, %d neighbours%s, ridge %.3g", method, s.Latent, s.Neighbors, gridEnds[s.GridEnd], s.Ridge)},
		{"rows", fmt.Sprintf("%d of %d columns, by %d; %d extrapolated, %d unchanged", s.Rows, s.D, s.N, s.Extrapolated, s.Unchanged)},
		{"moved", fmt.Sprintf("%.4g in the middle; noise about %.4g in each direction", s.Residual, s.Noise)},
		{"work", fmt.Sprintf("%.3g s", s.Seconds)},
		{"saved to", f.output},
	}
	if f.geometry.dropping() {
		rows = slices.Insert(rows, 3, []string{"dropped", fmt.Sprintf("%d rows with an outlier score above the limit", s.Dropped)})
	}
	if s.ShareError != nil {
		rows = slices.Insert(rows, 3, []string{"shared", fmt.Sprintf("%.2g (root mean square) from where charts of their own take rows, which is %.2g from where they were", *s.ShareError, s.shareMoved)})
	}
	rows = slices.Insert(rows, 2, cli.HeaderRow(s.Header)...)
	if s.Axes > 0 {
		rows = slices.Insert(rows, 1, []string{"axes", fmt.Sprintf("%d principal axes of %d columns", s.Axes, s.D)})
	}
	if s.Note != "" {
		rows = slices.Insert(rows, 1, []string{"note", s.Note})
	}
	return cli.PrintTable(cmd.OutOrStdout(), rows)
}

// gridEnds maps each position of the chosen number of neighbours in the grid to its text in the summary.
var gridEnds = map[string]string{
	"smallest": " (the smallest tried: fewer may do better)",
	"largest":  " (the largest tried: more may do better)",
}
