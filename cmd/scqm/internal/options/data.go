// Package options holds the groups of flags that several commands share. Each adds
// its flags to a command, refuses what does not fit together, and makes of them what
// the models need.
package options

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
)

// Data are the flags that say which part of a table is taken, and how.
type Data struct {
	columns []string
	memory  int64
	scale   bool
	labels  string
	keep    []string
	first   int
	header  string

	// Missing accepts missing entries, which are NaN in what Read returns.
	Missing bool
}

const (
	headerAuto = "auto"
	headerYes  = "yes"
	headerNo   = "no"
)

var headers = map[string]dataset.Header{headerAuto: dataset.HeaderAuto, headerYes: dataset.HeaderYes, headerNo: dataset.HeaderNo}

// AddTo adds the flags.
func (f *Data) AddTo(cmd *cobra.Command) {
	f.AddColumnsTo(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.scale, "scale", false, "divide 8-bit values by 255")
	flags.Var(cli.Name(&f.labels, "FILE"), "labels", "file with one label for each row, to select rows by")
	flags.StringSliceVar(&f.keep, "keep", nil, "keep the rows with these `LABELS`, such as 4,9")
	flags.Var(cli.Count(&f.first), "first", "keep the first N rows of each label")
}

// AddColumnsTo adds the flags that make sense for any table.
func (f *Data) AddColumnsTo(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "take these `COLUMNS` only, by number from 1, range or name: 1,3-5,weight")
	f.header = headerAuto
	cmd.Flags().Var(cli.Choice(&f.header, headerAuto, headerYes, headerNo), "header", "whether the first row of a CSV or TSV file holds names; auto: by its cells, and an error where these do not tell")
	cmd.Flags().Var(cli.Ceiling(&f.memory), "memory", "most memory for data and the work on them, such as 512M or 4G (default what the machine and the limits of the process have)")
}

// Check refuses flags that do nothing without others.
func (f *Data) Check(cmd *cobra.Command) error {
	if f.labels == "" {
		return cli.Refuse(cmd, "without --labels", "keep", "first")
	}
	if len(f.keep) == 0 && f.first == 0 {
		return cli.Refuse(cmd, "without --keep or --first", "labels")
	}
	return nil
}

// Inputs are the files that the flags name, "" where they name none.
func (f *Data) Inputs() []string { return []string{f.labels} }

// Read reads the rows that the flags select from path, "-" being standard
// input.
func (f *Data) Read(cmd *cobra.Command, path string) (*dataset.Matrix, error) {
	return reading(f, cmd, path, dataset.Read)
}

// Open is Read for rows that need not be in memory.
func (f *Data) Open(cmd *cobra.Command, path string) (*dataset.Source, error) {
	return reading(f, cmd, path, dataset.OpenSource)
}

func reading[T any](f *Data, cmd *cobra.Command, path string, read func(string, dataset.ReadOptions) (T, error)) (T, error) {
	return cli.Await(cmd.Context(), func() (T, error) {
		o := dataset.ReadOptions{
			Columns: f.columns, Scale: f.scale, Header: headers[f.header], Missing: f.Missing,
			Keep: f.keep, First: f.first, Stdin: cmd.InOrStdin(),
		}
		var err error
		if f.labels != "" {
			if o.Labels, err = dataset.ReadLabels(f.labels); err != nil {
				var none T
				return none, err
			}
		}
		table, err := read(path, o)
		if errors.Is(err, dataset.ErrHeader) {
			err = fmt.Errorf("%w, with --header yes or --header no", err)
		}
		return table, err
	})
}
