// Package dataset reads rows of numbers from the files people keep them in
// (CSV, TSV, NPY, NPZ, IDX, each also gzipped) and writes them back.
//
// Input is hostile until proven good: a size that a file claims is compared with
// the bytes that are there before memory is set aside, and bad input of any kind
// is a one-line error that names the place, the cause and what to do about it.
package dataset

import (
	"fmt"
	"io"
)

// Read reads a table of finite numbers, and of missing ones where o.Missing is set,
// with at least one row and one column.
//
// The name tells the format: .npy, .npz, .csv, .tsv, .idx or *-ubyte, each
// possibly followed by .gz; "-" is CSV on o.Stdin. An array inside an .npz file
// is named as in file.npz:key; the key may be left out when just one of the
// arrays is two-dimensional. IDX arrays of more than two dimensions are
// flattened to one row for each index of the first. Whether the first row of a
// CSV or TSV file is a header is told by [HeaderAuto]; an error matches ErrHeader
// when it cannot be told.
//
// Whatever is wrong with the file matches ErrInput.
func Read(path string, o ReadOptions) (*Matrix, error) {
	if path == "-" {
		if o.Stdin == nil {
			return nil, inputErrorf(ErrInput, "<stdin>: there is no standard input to read")
		}
		return readTable(o.Stdin, "<stdin>", formatCSV, o)
	}
	src, err := open(path, formats...)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if src.isText() {
		return readTable(src, src.name, src.format, o)
	}
	if o.Header != HeaderAuto {
		return nil, inputErrorf(ErrFormat, "%s: a header is for CSV and TSV, and this file has none; leave it out", src.name)
	}
	m, err := src.matrix(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.name, err)
	}
	return m, nil
}

func readTable(r io.Reader, name, format string, o ReadOptions) (*Matrix, error) {
	if o.Scale {
		return nil, inputErrorf(ErrFormat, "%s: scaling by 255 is for 8-bit values, not for text; leave it out", name)
	}
	return readCSV(r, name, format, o)
}

func (s *source) matrix(o ReadOptions) (*Matrix, error) {
	a, t, err := s.array(2)
	if err != nil {
		return nil, err
	}
	m, err := matrixOf(a)
	if err != nil {
		return nil, err
	}
	if o.Scale {
		if t.name != "u1" {
			return nil, inputErrorf(ErrFormat, "scaling by 255 is for unsigned 8-bit values, and these are %s; leave it out", t.name)
		}
		for i := range m.Data {
			m.Data[i] /= 255
		}
	}
	keep, err := pickColumns(o.Columns, nil, m.Cols)
	if err != nil {
		return nil, err
	}
	if len(o.Columns) > 0 {
		if err := checkMemory("a copy of the columns", valueBytes*float64(m.Rows)*float64(len(keep))); err != nil {
			return nil, err
		}
		m = m.columns(keep)
	}
	return m, m.checkFinite(keep, o.Missing)
}
