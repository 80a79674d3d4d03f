package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Source reads rows of a table on demand, from the file or a temporary copy of it, without
// holding all in memory. Its methods, except Close, may be called concurrently.
type Source struct {
	name    string
	input   *input // the open file, nil if the copy holds the whole table
	copy    spool
	table   *table
	names   []string
	keep    []int // columns, nil for all
	place   []int // for each column, its index in keep
	list    []int // rows, nil for all
	scale   bool
	missing bool
}

// OpenSource opens the same table as [Read] with these arguments, and returns the same
// errors. Infinite entries, and NaN unless o.Missing is set, are errors only when their
// row is first read, or when rows are selected.
//
// It reads .npy, .idx and uncompressed members of .npz in place. It reads other files
// (compressed, text, standard input) once, into a copy of binary numbers: in memory up to
// a few megabytes, else in the folder for temporary files. That file has no name and is
// deleted at Close or when the process ends.
//
// The caller must Close the source. Every error about the content of the file matches ErrInput.
func OpenSource(path string, o ReadOptions) (*Source, error) {
	s := &Source{scale: o.Scale, missing: o.Missing}
	if err := s.open(path, o); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open(path string, o ReadOptions) error {
	if err := s.openTable(path, o); err != nil {
		return err
	}
	return s.selectLabels(o)
}

func (s *Source) openTable(path string, o ReadOptions) (err error) {
	if path == "-" {
		if o.Stdin == nil {
			return noStdin()
		}
		s.name = stdinName
		s.copy.name = s.name
		if err := refuseScale(s.name, o); err != nil {
			return err
		}
		s.table, s.names, err = spoolCSV(o.Stdin, s.name, formatCSV, o, &s.copy)
		return err
	}
	if s.input, err = open(path, formats...); err != nil {
		return err
	}
	s.name = s.input.name
	s.copy.name = s.name
	if s.input.isText() {
		if err := refuseScale(s.name, o); err != nil {
			return err
		}
		s.table, s.names, err = spoolCSV(s.input, s.name, s.input.format, o, &s.copy)
	} else {
		err = s.locate(o)
	}
	if err != nil || s.table.at != &s.copy {
		return err
	}
	// All of it has been read.
	err = errors.Join(s.input.unchanged(), s.input.Close())
	s.input = nil
	return err
}

// locate finds the values of a binary file.
func (s *Source) locate(o ReadOptions) error {
	if err := s.input.refuseHeader(o); err != nil {
		return err
	}
	c, err := s.input.contents(2, &s.copy)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return s.take(c, o)
}

// take sets the table of the source to an array.
func (s *Source) take(c *contents, o ReadOptions) (err error) {
	if s.keep, err = c.options(o); err == nil {
		s.table, err = c.table(&s.copy)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	if s.keep != nil {
		s.place = make([]int, s.table.cols)
		for j := range s.place {
			s.place[j] = -1
		}
		for k, j := range s.keep {
			s.place[j] = k
		}
	}
	return nil
}

// Shape returns the number of rows and of columns.
func (s *Source) Shape() (rows, cols int) {
	rows, cols = s.table.rows, s.table.cols
	if s.list != nil {
		rows = len(s.list)
	}
	if s.keep != nil {
		cols = len(s.keep)
	}
	return rows, cols
}

// Names returns the names of the columns, nil where the source has none.
func (s *Source) Names() []string { return s.names }

// Close closes the file and deletes the copy.
func (s *Source) Close() error {
	err := s.copy.Close()
	if s.input != nil {
		err = errors.Join(err, s.input.Close())
	}
	return err
}

// Unchanged returns an error if the file was modified after it was opened. Call it after
// reading the last row.
func (s *Source) Unchanged() error {
	if s.input == nil {
		return nil
	}
	return s.input.unchanged()
}

// ReadRows reads len(dst)/cols rows, from row first on, into dst, row-major. All must be
// rows of the table.
func (s *Source) ReadRows(ctx context.Context, dst []float64, first int) error {
	rows, cols := s.Shape()
	count := len(dst) / cols
	if first < 0 || count*cols != len(dst) || first > rows-count {
		return inputErrorf(ErrShape, "%s: %d numbers from row %d on are no rows of %d x %d", s.name, len(dst), first, rows, cols)
	}
	err := s.readListed(ctx, dst, first, count, cols)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return err
}

// readListed reads the rows of s.list. It reads rows that are close to each other together.
func (s *Source) readListed(ctx context.Context, dst []float64, first, count, cols int) error {
	if s.list == nil {
		return s.readSpan(ctx, dst, first, cols)
	}
	const sparse = 4 // at most so many rows are read for one
	var span []float64
	for list := s.list[first : first+count]; len(list) > 0; {
		n := 1
		for n < len(list) && list[n]-list[0] < sparse*n && (list[n]-list[0]+1)*cols <= blockLen {
			n++
		}
		from, whole := list[0], list[n-1]-list[0]+1
		if whole == n {
			if err := s.readSpan(ctx, dst[:n*cols], from, cols); err != nil {
				return err
			}
		} else {
			if span == nil {
				span = make([]float64, blockLen)
			}
			if err := s.readSpan(ctx, span[:whole*cols], from, cols); err != nil {
				return err
			}
			for k, i := range list[:n] {
				copy(dst[k*cols:(k+1)*cols], span[(i-from)*cols:])
			}
		}
		dst, list = dst[n*cols:], list[n:]
	}
	return nil
}

// readSpan reads consecutive rows of the file.
func (s *Source) readSpan(ctx context.Context, dst []float64, first, cols int) error {
	if err := s.table.read(ctx, dst, first, s.keep, s.place); err != nil {
		return err
	}
	if s.scale {
		for i := range dst {
			dst[i] /= 255
		}
	}
	for i, v := range dst {
		if v-v != 0 && (!s.missing || math.IsInf(v, 0)) {
			column := i % cols
			if s.keep != nil {
				column = s.keep[column]
			}
			return entryError(first+i/cols, column, v)
		}
	}
	return nil
}

// Check reads all rows once, and returns the first error found.
func (s *Source) Check(ctx context.Context) error {
	rows, cols := s.Shape()
	step := max(1, blockLen/cols)
	dst := make([]float64, min(step, rows)*cols)
	for first := 0; first < rows; first += step {
		if err := s.ReadRows(ctx, dst[:min(step, rows-first)*cols], first); err != nil {
			return err
		}
	}
	return nil
}

// selectLabels selects rows by label. It first checks all rows, since Read also returns an
// error if a row that is not selected is invalid.
func (s *Source) selectLabels(o ReadOptions) error {
	if o.Labels == nil {
		return nil
	}
	rows, _ := s.Shape()
	list, _, err := selected(rows, o.Labels, o.Keep, o.First)
	if err != nil {
		return err
	}
	if err := s.Check(context.Background()); err != nil {
		return err
	}
	s.list = list
	return nil
}

// Matrix reads the whole table into memory.
func (s *Source) Matrix() (*Matrix, error) {
	rows, cols := s.Shape()
	if err := checkMemory(s.name+": values of shape "+shapeString([]int{rows, cols}), valueBytes*float64(rows)*float64(cols)); err != nil {
		return nil, err
	}
	m := &Matrix{Rows: rows, Cols: cols, Names: s.names, Data: make([]float64, rows*cols)}
	if err := s.ReadRows(context.Background(), m.Data, 0); err != nil {
		return nil, err
	}
	return m, s.Unchanged()
}
