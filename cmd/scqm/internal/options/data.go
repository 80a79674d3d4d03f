// Package options holds groups of flags that several commands share. Each group adds
// its flags to a command, rejects invalid combinations, and converts the flags to
// settings of the library.
package options

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/scqm"
)

// Data holds the flags that say which rows and columns of a table are read, and how.
type Data struct {
	columns []string
	memory  int64
	scale   bool
	labels  string
	keep    []string
	first   int
	header  string
	missing string
	drop    bool

	// Missing accepts missing entries, which are NaN in what Read returns.
	Missing bool
	// Complete omits rows with missing entries if Missing is set.
	Complete bool
	// Dropped holds the indices in the file of the rows that were omitted.
	Dropped []int
}

// The values of the flag --missing.
const (
	missingError  = "error"
	missingIgnore = "ignore"
)

const (
	headerAuto = "auto"
	headerYes  = "yes"
	headerNo   = "no"
)

var headers = map[string]dataset.Header{headerAuto: dataset.HeaderAuto, headerYes: dataset.HeaderYes, headerNo: dataset.HeaderNo}

// AddTo adds all flags of the group to cmd.
func (f *Data) AddTo(cmd *cobra.Command) {
	f.AddColumnsTo(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.scale, "scale", false, "divide 8-bit values by 255")
	flags.Var(cli.Name(&f.labels, "FILE"), "labels", "file with one label for each row, to select rows by")
	flags.StringSliceVar(&f.keep, "keep", nil, "keep the rows with these `LABELS`, such as 4,9")
	flags.Var(cli.Count(&f.first), "first", "keep the first N rows of each label")
	flags.Var(cli.Choice(&f.missing, missingError, missingIgnore), "missing", f.missingUsage())
	flags.BoolVar(&f.drop, "drop-missing", false, "leave out rows without any entry, and name them")
}

func (f *Data) missingUsage() string {
	if f.Complete {
		return "missing entries (NaN, NA; empty fields in CSV and TSV) are an error, or their rows are left out and named (default error)"
	}
	return "missing entries (NaN, NA; empty fields in CSV and TSV) are an error, or carry no weight (default error)"
}

// IgnoresMissing reports whether --missing asks to ignore missing entries.
func (f *Data) IgnoresMissing() bool { return f.missing == missingIgnore }

// MissingFor treats missing entries as the model m does, unless the flags make them an error.
func (f *Data) MissingFor(path string, m *scqm.Model) error {
	if f.IgnoresMissing() && m.Meta.Missing == nil {
		return cli.Usagef("--missing ignore: %s was learned without it, and takes complete rows; fit with --missing ignore, or fill in what is missing", path)
	}
	f.Missing = m.Meta.Missing != nil && f.missing != missingError
	return nil
}

// AddColumnsTo adds the flags that apply to every table to cmd.
func (f *Data) AddColumnsTo(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "take these `COLUMNS` only, by number from 1, range or name: 1,3-5,weight")
	f.header = headerAuto
	cmd.Flags().Var(cli.Choice(&f.header, headerAuto, headerYes, headerNo), "header", "whether the first row of a CSV or TSV file holds names; auto: by its cells, and an error where these do not tell")
	cmd.Flags().Var(cli.Ceiling(&f.memory), "memory", "most memory for data and the work on them, such as 512M or 4G (default what the machine and the limits of the process have)")
}

// Check returns an error for a flag that has no effect without another flag that is absent.
func (f *Data) Check(cmd *cobra.Command) error {
	f.Missing = f.Missing || f.IgnoresMissing()
	if f.labels == "" {
		return cli.Refuse(cmd, "without --labels", "keep", "first")
	}
	if len(f.keep) == 0 && f.first == 0 {
		return cli.Refuse(cmd, "without --keep or --first", "labels")
	}
	return nil
}

// Inputs returns the paths of the files that the flags name. A path is "" if its flag was not given.
func (f *Data) Inputs() []string { return []string{f.labels} }

// Read reads the rows that the flags select from the file path. The path - means
// standard input.
func (f *Data) Read(cmd *cobra.Command, path string) (*dataset.Matrix, error) {
	m, err := reading(f, cmd, path, dataset.Read)
	if err != nil || f.leavesOut() == dataset.LeaveOutNone {
		return m, err
	}
	m, dropped, err := m.Without(f.leavesOut(), f.Missing)
	return m, f.name(cmd, path, dropped, err)
}

// leavesOut returns which rows are to be omitted.
func (f *Data) leavesOut() dataset.LeaveOut {
	switch {
	case f.Complete && f.Missing:
		return dataset.LeaveOutIncomplete
	case f.drop:
		return dataset.LeaveOutEmpty
	}
	return dataset.LeaveOutNone
}

// shownRows is the maximum number of omitted rows that a message lists.
const shownRows = 10

// name warns about the rows omitted from the file path and stores them in Dropped. It returns err with the path.
func (f *Data) name(cmd *cobra.Command, path string, dropped []int, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f.Dropped = dropped
	if len(dropped) == 0 {
		return nil
	}
	what, more := "without any entry", ""
	if f.leavesOut() == dataset.LeaveOutIncomplete {
		what = "with missing entries"
	}
	if len(dropped) > shownRows {
		dropped, more = dropped[:shownRows], ", ..."
	}
	cli.Warn(cmd, fmt.Sprintf("%s: %d rows %s are left out (counted from 0): %s%s", path, len(f.Dropped), what, strings.Trim(fmt.Sprint(dropped), "[]"), more))
	return nil
}

// Number returns the index in the file of a row, given its index among the rows that were not omitted.
func (f *Data) Number(row int) int {
	for _, i := range f.Dropped {
		if i <= row {
			row++
		}
	}
	return row
}

// Open opens the file path like Read, but returns a source that need not hold all rows in memory.
func (f *Data) Open(cmd *cobra.Command, path string) (*dataset.Source, error) {
	src, err := reading(f, cmd, path, dataset.OpenSource)
	if err != nil || f.leavesOut() == dataset.LeaveOutNone {
		return src, err
	}
	dropped, err := cli.Await(cmd.Context(), func() ([]int, error) {
		return src.Without(cmd.Context(), f.leavesOut(), f.Missing)
	})
	if err = f.name(cmd, path, dropped, err); err != nil {
		src.Close()
		return nil, err
	}
	return src, nil
}

func reading[T any](f *Data, cmd *cobra.Command, path string, read func(string, dataset.ReadOptions) (T, error)) (T, error) {
	return cli.Await(cmd.Context(), func() (T, error) {
		o := dataset.ReadOptions{
			Columns: f.columns, Scale: f.scale, Header: headers[f.header], Missing: f.Missing || f.drop,
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
