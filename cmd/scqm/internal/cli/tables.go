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

// RowsOf returns the rows of m as Data. Both share the same memory.
func RowsOf(m *dataset.Matrix) scqm.Data { return scqm.Data{N: m.Rows, D: m.Cols, X: m.Data} }

// ZeroOrOne returns 1 if set is true and 0 otherwise, for a table of numbers.
func ZeroOrOne(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// NewTable returns an empty table with capacity for the given number of rows. The
// caller appends row by row. It returns an error if memory is insufficient.
func NewTable(rows int, names ...string) (*dataset.Matrix, error) {
	const numberBytes = 8
	if err := memory.Check("the columns to write", numberBytes*float64(rows)*float64(len(names)), "leave columns out"); err != nil {
		return nil, err
	}
	return &dataset.Matrix{Rows: rows, Cols: len(names), Names: names, Data: make([]float64, 0, rows*len(names))}, nil
}

// Beside returns m with the columns of more appended on the right. more may be nil.
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

// WriteRows writes a table row by row as produce computes the rows; see [dataset.WriteRows].
func WriteRows(cmd *cobra.Command, path string, t dataset.Table, produce func(write func([]float64) error) error) error {
	return Save(cmd.Context(), path, func() error { return dataset.WriteRows(path, t, cmd.OutOrStdout(), produce) })
}

// HeaderRow returns the line of a report that says which names were taken from the
// first row. It is nil if names is nil.
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

// UpperMedian returns the upper median of v, or 0 if v is empty.
func UpperMedian(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}
