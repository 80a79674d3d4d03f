package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm"
)

// RowsOf shares the memory of m.
func RowsOf(m *dataset.Matrix) scqm.Data { return scqm.Data{N: m.Rows, D: m.Cols, X: m.Data} }

// ZeroOrOne is the number that stands for a flag in a table.
func ZeroOrOne(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// NewTable returns a table of so many rows with room for numbers in all columns,
// to be appended row by row. It fails where there is no memory for them.
func NewTable(rows int, names ...string) (*dataset.Matrix, error) {
	const numberBytes = 8
	if err := memory.Check("the columns to write", numberBytes*float64(rows)*float64(len(names)), "leave columns out"); err != nil {
		return nil, err
	}
	return &dataset.Matrix{Rows: rows, Cols: len(names), Names: names, Data: make([]float64, 0, rows*len(names))}, nil
}

// Beside puts the columns of more, which may be nil, to the right of those of m.
func Beside(m, more *dataset.Matrix) (*dataset.Matrix, error) {
	if more == nil {
		return m, nil
	}
	names := slices.Clone(m.Names)
	if names == nil {
		for j := range m.Cols {
			names = append(names, "x"+strconv.Itoa(j+1))
		}
	}
	out, err := NewTable(m.Rows, append(names, more.Names...)...)
	if err != nil {
		return nil, err
	}
	for i := range m.Rows {
		out.Data = append(append(out.Data, m.Row(i)...), more.Row(i)...)
	}
	return out, nil
}

// WriteMatrix writes a table to a file or, where path is -, to standard output.
func WriteMatrix(cmd *cobra.Command, path string, m *dataset.Matrix) error {
	return Save(cmd.Context(), path, func() error { return dataset.Write(path, m, cmd.OutOrStdout()) })
}

// WriteRows writes a table as its rows come, see [dataset.WriteRows].
func WriteRows(cmd *cobra.Command, path string, t dataset.Table, produce func(write func([]float64) error) error) error {
	return Save(cmd.Context(), path, func() error { return dataset.WriteRows(path, t, cmd.OutOrStdout(), produce) })
}

// HeaderRow is the line of a report about what was taken as names, none where
// nothing was.
func HeaderRow(names []string) [][]string {
	if names == nil {
		return nil
	}
	const most = 8
	quoted := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	text := strings.Join(quoted, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return [][]string{{"header", "the first row, taken as names: " + text}}
}

// UpperMedian is the upper median, 0 of nothing.
func UpperMedian(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}
