package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Source gives the rows of a table whenever they are asked for, from the file or
// from a temporary copy of it, without holding them in memory. Its methods may be
// called from many goroutines at a time, but for Close.
type Source struct {
	name    string
	input   *input // what is read, nil where all of it is in the copy
	copy    spool
	table   *table
	names   []string
	keep    []int // columns, nil for all
	place   []int // of each column among those kept
	list    []int // rows, nil for all
	scale   bool
	missing bool
}

// OpenSource opens the table that [Read] with the same arguments reads, and
// refuses what that refuses; infinities, and NaN unless o.Missing is set, are found
// when their row is first read, or when rows are selected.
//
// .npy, .idx and members of .npz that are stored are read in place. All others,
// compressed files, text and standard input, are read once and kept in the folder
// for temporary files beyond a few megabytes, as binary numbers, until Close; the
// file there has no name and goes with the process.
//
// The caller must Close it. Whatever is wrong with the file matches ErrInput.
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

// take makes an array the table.
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

// Close ends the reading, and removes the copy.
func (s *Source) Close() error {
	err := s.copy.Close()
	if s.input != nil {
		err = errors.Join(err, s.input.Close())
	}
	return err
}

// Unchanged refuses a file that somebody has written to since it was opened. To
// be called after the last row was read.
func (s *Source) Unchanged() error {
	if s.input == nil {
		return nil
	}
	return s.input.unchanged()
}

// ReadRows writes the rows from first on into dst, row-major, len(dst)/cols of
// them, all within the table.
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

// readListed reads rows of the list, those that are close to each other at once.
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

// readSpan reads rows of the file that follow each other.
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

// Check reads all rows once, and returns the first error.
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

// selectLabels keeps the rows with the labels asked for. All rows are read once
// for that: as in memory, those that are left out must be numbers, too.
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
