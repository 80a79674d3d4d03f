package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/scqm"
)

// chooseLoss sets the loss asked for; none is the default of auto and of methods
// without one. Huber's without delta waits for the rows.
func (f *denoiseFlags) chooseLoss(cmd *cobra.Command, s *denoise.Settings) error {
	given := cmd.Flags().Changed("loss")
	switch f.method {
	case methodAuto:
		if !given || f.loss.name == lossTukey {
			return refuse(cmd, "with the loss tukey of the method auto (--method scqm takes any)", "p", "delta", "precision", "plugin", "loss-param", "plugin-sha256", "plugin-timeout")
		}
	case "scqm", "linear":
	default:
		return nil
	}
	if err := f.loss.check(cmd); err != nil {
		return err
	}
	if f.loss.name == huber && !cmd.Flags().Changed("delta") {
		s.LossFor = func(distances []float64) (framework.Loss, error) {
			params := f.loss.params
			params.Delta = new(losses.DefaultHuberDelta(distances))
			return f.loss.lossFor(params)
		}
		return nil
	}
	var err error
	s.Loss, err = f.loss.loss(cmd.Context(), scqm.Data{}, f.latent)
	return err
}

// reportColumns are the columns that --report adds.
func (f *denoiseFlags) reportColumns(r *denoise.Result) *dataset.Matrix {
	m := &dataset.Matrix{Rows: len(r.Rows), Names: []string{"residual", "noise", "neighbors", "ridge", "extrapolated", "unchanged"}}
	if f.partial {
		m.Names = append(m.Names, "done")
	}
	m.Cols = len(m.Names)
	for _, row := range r.Rows {
		m.Data = append(m.Data, row.Residual, row.Noise, float64(row.Neighbors), row.Ridge, zeroOrOne(row.Extrapolated), zeroOrOne(row.Unchanged))
		if f.partial {
			m.Data = append(m.Data, zeroOrOne(row.Done))
		}
	}
	return m
}

func zeroOrOne(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// beside puts the columns of more, which may be nil, to the right of those of m.
func beside(m, more *dataset.Matrix) *dataset.Matrix {
	if more == nil {
		return m
	}
	out := &dataset.Matrix{Rows: m.Rows, Cols: m.Cols + more.Cols, Names: slices.Clone(m.Names)}
	if out.Names == nil {
		for j := range m.Cols {
			out.Names = append(out.Names, "x"+strconv.Itoa(j+1))
		}
	}
	out.Names = append(out.Names, more.Names...)
	for i := range m.Rows {
		out.Data = append(append(out.Data, m.Row(i)...), more.Row(i)...)
	}
	return out
}

// denoiseSummary is what scqm denoise --json prints.
type denoiseSummary struct {
	Method       string             `json:"method"`
	Loss         string             `json:"loss,omitempty"`
	LossParams   map[string]float64 `json:"loss_params,omitempty"`
	N            int                `json:"n"` // rows fitted
	D            int                `json:"D"`
	Latent       int                `json:"d"`
	Rows         int                `json:"rows"` // rows denoised
	Done         int                `json:"done"`
	Neighbors    int                `json:"neighbors"` // median, as those below
	Ridge        float64            `json:"ridge"`
	Residual     float64            `json:"residual"`
	Noise        float64            `json:"noise"`
	Extrapolated int                `json:"extrapolated"`
	Unchanged    int                `json:"unchanged"`
	// ShareError is the root mean square distance from results without --share.
	ShareError *float64 `json:"share_error,omitempty"`
	Status     string   `json:"status"`
	Seconds    float64  `json:"seconds"`

	shareMoved float64
}

func newDenoiseSummary(m denoise.Method, f *denoiseFlags, x *dataset.Matrix, r *denoise.Result, took time.Duration) *denoiseSummary {
	s := &denoiseSummary{
		Method: f.method, N: x.Rows, D: x.Cols, Latent: f.latent, Rows: len(r.Rows),
		Status: "converged", Seconds: took.Seconds(),
	}
	switch m := m.(type) {
	case denoise.SCQM:
		s.Loss = m.Loss.Name()
		if p, ok := m.Loss.(framework.Parametric); ok {
			s.LossParams = p.Params()
		}
	case denoise.Auto:
		if s.Loss = lossTukey; m.LeastSquares {
			s.Loss = "squared_l2"
		}
	}
	if f.share > 0 {
		s.ShareError, s.shareMoved = &r.ShareError, r.ShareMoved
	}
	var neighbors, ridge, residual, noise []float64
	for _, row := range r.Rows {
		if !row.Done {
			s.Status = "cancelled"
			continue
		}
		s.Done++
		s.Extrapolated += int(zeroOrOne(row.Extrapolated))
		s.Unchanged += int(zeroOrOne(row.Unchanged))
		neighbors, ridge = append(neighbors, float64(row.Neighbors)), append(ridge, row.Ridge)
		residual, noise = append(residual, row.Residual), append(noise, row.Noise)
	}
	s.Neighbors, s.Ridge = int(middle(neighbors)), middle(ridge)
	s.Residual, s.Noise = middle(residual), middle(noise)
	return s
}

// middle is the upper median, 0 of nothing.
func middle(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// print prints the summary, which standard output may have no room for.
func (s *denoiseSummary) print(cmd *cobra.Command, f *denoiseFlags) error {
	switch {
	case f.json:
		return printJSON(cmd.OutOrStdout(), s)
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
		{"method", fmt.Sprintf("%s, d = %d, %d neighbours, ridge %.3g", method, s.Latent, s.Neighbors, s.Ridge)},
		{"rows", fmt.Sprintf("%d of %d columns, by %d; %d extrapolated, %d of them unchanged", s.Rows, s.D, s.N, s.Extrapolated, s.Unchanged)},
		{"moved", fmt.Sprintf("%.4g in the middle; noise about %.4g in each direction", s.Residual, s.Noise)},
		{"work", fmt.Sprintf("%.3g s", s.Seconds)},
		{"saved to", f.output},
	}
	if s.ShareError != nil {
		rows = slices.Insert(rows, 3, []string{"shared", fmt.Sprintf("%.2g (root mean square) from where charts of their own take rows, which is %.2g from where they were", *s.ShareError, s.shareMoved)})
	}
	return printTable(cmd.OutOrStdout(), rows)
}

const (
	partLayout = `{{percent .}} {{bar .}} {{etime .}}`
	partSteps  = 1000
)

// showPart draws a bar on w. It returns the function that moves the bar to a part of the
// work and one that takes it away.
func showPart(w io.Writer) (show func(part float64), end func()) {
	bar := pb.ProgressBarTemplate(partLayout).New(partSteps).SetWriter(w).
		Set(pb.Static, true).Set(pb.ReturnSymbol, "\r").Set(pb.CleanOnFinish, true).Start()
	if bar.Width() == 0 { // a terminal that does not know its size
		bar.SetWidth(80)
	}
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
