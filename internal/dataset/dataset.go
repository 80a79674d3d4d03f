// Package dataset reads rows of numbers from the files people keep them in
// (CSV, TSV, NPY, NPZ, IDX, each also gzipped) and writes them back.
//
// All input is untrusted. Memory is only allocated after the size that a file declares was
// compared with the bytes that are there. An error about input is one line with the place,
// the cause and a remedy.
package dataset

import (
	"fmt"
	"io"
)

// Read reads a table of at least one row and one column. All entries must be finite
// numbers; with o.Missing set, entries may also be missing.
//
// The name tells the format: .npy, .npz, .csv, .tsv, .idx or *-ubyte, each
// possibly followed by .gz; "-" is CSV on o.Stdin. An array inside an .npz file
// is named as in file.npz:key; the key may be left out when just one of the
// arrays is two-dimensional. IDX arrays of more than two dimensions are
// flattened to one row for each index of the first. [HeaderAuto] describes when the first
// row of a CSV or TSV file is a header; if that is ambiguous, the error matches ErrHeader.
//
// Every error about the content of the file matches ErrInput.
func Read(path string, o ReadOptions) (*Matrix, error) {
	if path == "-" {
		if o.Stdin == nil {
			return nil, noStdin()
		}
		return readTable(o.Stdin, stdinName, formatCSV, o)
	}
	src, err := open(path, formats...)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if src.isText() {
		m, err := readTable(src, src.name, src.format, o)
		return unlessChanged(src, m, err)
	}
	if err := src.refuseHeader(o); err != nil {
		return nil, err
	}
	return src.matrix(2, o)
}

// matrix reads the table of a binary file, or its one-dimensional array if dims is 1.
func (s *input) matrix(dims int, o ReadOptions) (*Matrix, error) {
	c, err := s.contents(dims, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if c.at != nil {
		return s.readPlaced(c, o)
	}
	m, err := c.matrix(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	m, err = m.selected(o)
	return unlessChanged(s, m, err)
}

// stdinName is the name of standard input in messages.
const stdinName = "<stdin>"

func noStdin() error {
	return inputErrorf(ErrInput, "%s: there is no standard input to read", stdinName)
}

// readPlaced reads values at an offset of a file directly into the result, without a
// second copy in memory.
func (s *input) readPlaced(c *contents, o ReadOptions) (*Matrix, error) {
	t := &Source{name: s.name, input: s, scale: o.Scale, missing: o.Missing}
	if err := t.take(c, o); err != nil {
		return nil, err
	}
	if err := t.selectLabels(o); err != nil {
		return nil, err
	}
	return t.Matrix()
}

func unlessChanged(s *input, m *Matrix, err error) (*Matrix, error) {
	if err == nil {
		err = s.unchanged()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func readTable(r io.Reader, name, format string, o ReadOptions) (*Matrix, error) {
	if err := refuseScale(name, o); err != nil {
		return nil, err
	}
	m, err := readCSV(r, name, format, o)
	if err != nil {
		return nil, err
	}
	return m.selected(o)
}

// refuseScale returns an error if o.Scale is set, which text does not support.
func refuseScale(name string, o ReadOptions) error {
	if o.Scale {
		return inputErrorf(ErrFormat, "%s: scaling by 255 is for 8-bit values, not for text; leave it out", name)
	}
	return nil
}

// refuseHeader returns an error if the options set a header, which binary files do not have.
func (s *input) refuseHeader(o ReadOptions) error {
	if o.Header != HeaderAuto {
		return inputErrorf(ErrFormat, "%s: a header is for CSV and TSV, and this file has none; leave it out", s.name)
	}
	return nil
}

// options checks the options against the array and returns the columns to keep,
// nil for all.
func (c *contents) options(o ReadOptions) (keep []int, err error) {
	if o.Scale && c.dtype.name != "u1" {
		return nil, inputErrorf(ErrFormat, "scaling by 255 is for unsigned 8-bit values, and these are %s; leave it out", c.dtype.name)
	}
	if len(o.Columns) == 0 {
		return nil, nil
	}
	return pickColumns(o.Columns, nil, c.shape[1])
}

// matrix reads the table from c.stream.
func (c *contents) matrix(o ReadOptions) (*Matrix, error) {
	keep, err := c.options(o)
	if err != nil {
		return nil, err
	}
	a, err := c.readArray(c.stream)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Rows: a.Shape[0], Cols: a.Shape[1], Data: a.Data}
	if o.Scale {
		for i := range m.Data {
			m.Data[i] /= 255
		}
	}
	if keep != nil {
		if err := checkMemory("a copy of the columns", valueBytes*float64(m.Rows)*float64(len(keep))); err != nil {
			return nil, err
		}
		m = m.columns(keep)
	}
	return m, m.checkFinite(keep, o.Missing)
}
