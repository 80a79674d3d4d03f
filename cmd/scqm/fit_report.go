package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm"
)

// fitReport is the JSON output of scqm fit. Unlike in a model file, the loss is a
// string here and its parameters are separate fields.
type fitReport struct {
	scqm.Meta
	Loss       string             `json:"loss"`
	LossParams map[string]float64 `json:"loss_params"`
	Plugin     *rowloss.Program   `json:"plugin,omitempty"`
	Header     []string           `json:"header"`          // names in the first row, null where it holds none
	Reads      int                `json:"reads,omitempty"` // of all rows, where they were streamed
	Seconds    float64            `json:"seconds"`

	placed bool // the model has coordinates for its training rows
}

func newFitReport(fit *scqm.Fit, header []string) *fitReport {
	r := &fitReport{
		Meta: fit.Model.Meta, Seconds: fit.Run.Elapsed.Seconds(),
		Loss: fit.Model.Meta.Loss.Name, LossParams: fit.Model.Meta.Loss.Params,
		Plugin: fit.Model.Meta.Loss.Plugin, Header: header, Reads: fit.Reads,
		placed: fit.Model.Tau != nil,
	}
	if r.LossParams == nil {
		r.LossParams = map[string]float64{}
	}
	if r.Notes == nil {
		r.Notes = []string{}
	}
	// As long as the rows: the model file has them.
	r.Mean, r.Explained, r.Distances, r.FeatureNames = nil, nil, nil, nil
	return r
}

func (r *fitReport) print(w io.Writer, asJSON bool, path string) error {
	if asJSON {
		return cli.PrintJSON(w, r)
	}
	return cli.PrintTable(w, r.rows(path))
}

func (r *fitReport) rows(path string) [][]string {
	shape := fmt.Sprintf("d = %d, s = %d, from %d rows of %d columns", r.Latent, r.Curvature, r.N, r.D)
	if r.Linear {
		shape += ", flat"
	}
	loss := r.Loss
	for name, v := range r.LossParams {
		loss += fmt.Sprintf(", %s = %.6g", name, v)
	}
	if r.Plugin != nil {
		loss += ", by a plugin"
	}
	objective := fmt.Sprintf("%.8g, mean %.8g", r.Objective, r.MeanLoss)
	if r.Ridge > 0 {
		objective += fmt.Sprintf(", penalty %.4g (ridge %g)", r.Penalty, r.Ridge)
	}
	rows := append([][]string{{"model", shape}}, cli.HeaderRow(r.Header)...)
	rows = append(rows, [][]string{
		{"loss", loss},
		{"objective", objective},
		{"status", r.Status + ": " + r.Message},
	}...)
	if r.R2 != nil {
		text := fmt.Sprintf("%.4g", *r.R2)
		if list := r.R2PCA; list != nil {
			text += fmt.Sprintf(", principal components %.4g with d = %d", list[0], r.Latent)
			if !r.Linear {
				text += fmt.Sprintf(", %.4g with d + s = %d", list[1], min(r.Latent+r.Curvature, r.D))
			}
		}
		rows = append(rows, []string{"R2", text})
	}
	if r.Evidence != nil {
		rows = append(rows, []string{"curvature", strings.TrimPrefix(r.Evidence.Sentence, "curvature: ")})
	}
	if r.Missing != nil {
		rows = append(rows, []string{"missing", fmt.Sprintf("%d entries, which carry no weight", r.Missing.Entries)})
	}
	if r.KKT != nil {
		rows = append(rows, []string{"gradients", fmt.Sprintf("c %.2g, Q %.2g, Theta %.2g, tau %.2g", r.KKT.C, r.KKT.Q, r.KKT.Theta, r.KKT.Tau)})
	}
	rows = append(rows, []string{"work", fmt.Sprintf("%s, %d iterations, %d evaluations, %.3g s", r.Solver, r.Iterations, r.Evaluations, r.Seconds)})
	if r.Reads > 0 && !r.placed {
		rows = append(rows, []string{"rows", "not in memory; scqm transform finds their coordinates"})
	}
	for _, note := range r.Notes {
		rows = append(rows, []string{"note", note})
	}
	if path != "" {
		rows = append(rows, []string{"saved to", path})
	}
	return rows
}
