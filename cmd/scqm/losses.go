package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/losses"
)

// lossEntry is one line of the output of scqm losses.
type lossEntry struct {
	Name       string          `json:"name"`
	Formula    string          `json:"formula"`
	Parameters []lossParameter `json:"parameters"`
	Noise      string          `json:"noise"`
	Summary    string          `json:"summary"`
}

type lossParameter struct {
	Name     string `json:"name"`
	Meaning  string `json:"meaning"`
	Optional bool   `json:"optional"`
}

func lossesCommand() *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "losses",
		Short: "List the losses",
		Long:  "List the losses of a residual row r with entries r_k and Euclidean norm |r|.",
	}, lossEntries, lossRows)
}

func lossEntries() []lossEntry {
	var list []lossEntry
	for _, d := range losses.Describe() {
		e := lossEntry{Name: d.Name, Formula: d.Formula, Parameters: []lossParameter{}, Noise: d.Noise, Summary: d.Summary}
		for _, p := range d.Parameters {
			e.Parameters = append(e.Parameters, lossParameter{p.Name, p.Meaning, p.Optional || losses.HasDelta(d.Name)})
		}
		list = append(list, e)
	}
	return list
}

func lossRows(list []lossEntry) [][]string {
	rows := [][]string{{"NAME", "FORMULA", "PARAMETERS", "NOISE", "FOR"}}
	for _, e := range list {
		var parameters []string
		for _, p := range e.Parameters {
			parameters = append(parameters, "--"+p.Name)
		}
		rows = append(rows, []string{e.Name, e.Formula, strings.Join(parameters, " "), e.Noise, e.Summary})
	}
	return rows
}
