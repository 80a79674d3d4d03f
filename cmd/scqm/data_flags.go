package main

import (
	"github.com/spf13/cobra"

	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// dataFlags say which part of a table is taken, and how.
type dataFlags struct {
	columns []string
	scale   bool
	labels  string
	keep    []string
	first   int
}

func (f *dataFlags) addTo(cmd *cobra.Command) {
	f.addColumnsTo(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.scale, "scale", false, "divide 8-bit values by 255")
	flags.Var(naming(&f.labels, "FILE"), "labels", "file with one label for each row, to select rows by")
	flags.StringSliceVar(&f.keep, "keep", nil, "keep the rows with these `LABELS`, such as 4,9")
	flags.Var(counting(&f.first), "first", "keep the first N rows of each label")
}

// addColumnsTo adds the one flag that makes sense for any table.
func (f *dataFlags) addColumnsTo(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "take these `COLUMNS` only, by number from 1, range or name: 1,3-5,weight")
}

func (f *dataFlags) check(cmd *cobra.Command) error {
	if f.labels == "" {
		return refuse(cmd, "without --labels", "keep", "first")
	}
	if len(f.keep) == 0 && f.first == 0 {
		return refuse(cmd, "without --keep or --first", "labels")
	}
	return nil
}

// read reads the rows that the flags select from path, "-" being standard
// input.
func (f *dataFlags) read(cmd *cobra.Command, path string) (*dataset.Matrix, error) {
	return await(cmd.Context(), func() (*dataset.Matrix, error) {
		var labels []string
		if f.labels != "" {
			var err error
			if labels, err = dataset.ReadLabels(f.labels); err != nil {
				return nil, err
			}
		}
		m, err := dataset.Read(path, dataset.ReadOptions{Columns: f.columns, Scale: f.scale, Stdin: cmd.InOrStdin()})
		if err != nil || labels == nil {
			return m, err
		}
		m, _, err = dataset.Select(m, labels, f.keep, f.first)
		return m, err
	})
}

// rowsOf shares the memory of m.
func rowsOf(m *dataset.Matrix) scqm.Data { return scqm.Data{N: m.Rows, D: m.Cols, X: m.Data} }

// refuse returns an error if one of the flags was given although it does
// nothing under the circumstances.
func refuse(cmd *cobra.Command, circumstances string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usagef("--%s does nothing %s; leave it out", name, circumstances)
		}
	}
	return nil
}
