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

// chooseLoss sets the loss of --loss. Without the flag auto and methods without a loss get
// none. Huber's loss without a delta is set later, from the rows.
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
	Neighbors  int                `json:"neighbors"` // median, as those below
	// GridEnd says whether the number of neighbours that was chosen is the smallest or
	// the largest that was tried, or within; empty where none was chosen.
	GridEnd      string  `json:"grid_end"`
	Ridge        float64 `json:"ridge"`
	Residual     float64 `json:"residual"`
	Noise        float64 `json:"noise"`
	Extrapolated int     `json:"extrapolated"`
	Unchanged    int     `json:"unchanged"`
	// Dropped counts the rows left out by --drop-outliers.
	Dropped int `json:"dropped"`
	// ShareError is the root mean square distance from results without --share.
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

// newSummary returns one of a method and the shape of the rows fitted.
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

// take takes the axes, and the method with a note where it is not the one asked for.
func (s *denoiseSummary) take(m denoise.Method, axes int, note string) {
	s.Axes, s.Note = axes, note
	if note != "" {
		s.Method = m.Name()
	}
}

// medianRows bounds the rows that medians are of.
const medianRows = 1 << 16

// medians are the numbers of rows, every so many of them, of which a summary has the medians.
type medians struct {
	every                             int
	neighbors, ridge, residual, noise []float64
}

func newMedians(rows int) *medians { return &medians{every: (rows + medianRows - 1) / medianRows} }

// add counts row i, and keeps its numbers where it is one of the sample.
func (m *medians) add(s *denoiseSummary, i int, row denoise.Row) {
	s.Rows++
	s.Extrapolated += int(cli.ZeroOrOne(row.Extrapolated))
	s.Unchanged += int(cli.ZeroOrOne(row.Unchanged))
	if i%m.every == 0 {
		m.neighbors, m.ridge = append(m.neighbors, float64(row.Neighbors)), append(m.ridge, row.Ridge)
		m.residual, m.noise = append(m.residual, row.Residual), append(m.noise, row.Noise)
	}
}

// end tells the medians.
func (m *medians) end(s *denoiseSummary) {
	s.Neighbors, s.Ridge = int(cli.UpperMedian(m.neighbors)), cli.UpperMedian(m.ridge)
	s.Residual, s.Noise = cli.UpperMedian(m.residual), cli.UpperMedian(m.noise)
}

// print prints the summary, which standard output may have no room for.
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

// gridEnds says where the number of neighbours ended that was chosen.
var gridEnds = map[string]string{
	"smallest": " (the smallest tried: fewer may do better)",
	"largest":  " (the largest tried: more may do better)",
}
