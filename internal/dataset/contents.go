package dataset

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// contents is a two-dimensional array of a binary format, either at an offset of a file or
// in a stream that can be read only once.
type contents struct {
	arrayLayout
	at     io.ReaderAt // nil: the values are in stream
	offset int64
	stream io.Reader // holds the values and nothing after them
}

// contents reads the header of a binary file and returns its table, or its one-dimensional
// array if dims is 1. If an archive cannot be read twice, contents first copies it to
// hold, or to memory if hold is nil.
func (s *input) contents(dims int, hold *spool) (*contents, error) {
	if s.format == formatNPZ {
		return s.archived(dims, hold)
	}
	read := readNPYLayout
	if s.format == formatIDX {
		read = readIDXLayout
	}
	l, err := read(s, s.size)
	if err != nil {
		return nil, err
	}
	c := &contents{arrayLayout: l, stream: s}
	if s.size >= 0 {
		c.at, c.offset = s.file, l.header
	}
	return c, c.check(dims)
}

// check rejects invalid sizes, and makes a one-dimensional array a column.
func (c *contents) check(dims int) error {
	if err := checkClaim(c.stream, c.left, c.count, c.dtype); err != nil {
		return err
	}
	if dims == 1 {
		return c.list()
	}
	return c.arrayLayout.table()
}

// archived returns the contents of an .npz file.
func (s *input) archived(dims int, hold *spool) (*contents, error) {
	r, size, err := s.readerAt(hold)
	if err != nil {
		return nil, err
	}
	z, err := OpenNPZ(r, size)
	if err != nil {
		return nil, err
	}
	name := s.key
	if name == "" {
		if name, err = z.only(dims); err != nil {
			return nil, err
		}
	}
	m, err := z.open(name + formatNPY)
	if err != nil {
		return nil, err
	}
	c := &contents{stream: m}
	if c.arrayLayout, err = readNPYLayout(m, m.size); err == nil {
		err = c.check(dims)
	}
	if err == nil && m.size >= 0 {
		err = c.place(z.members[name+formatNPY], r, m)
	}
	if err != nil {
		return nil, fmt.Errorf("array %q: %w", name, err)
	}
	return c, nil
}

// place sets the position of an uncompressed archive member. It first reads the whole
// member to verify its checksum.
func (c *contents) place(f *zip.File, r io.ReaderAt, m *member) error {
	start, err := f.DataOffset()
	if err != nil {
		return damage(m.name, bare(err))
	}
	if _, err := io.Copy(io.Discard, m); err != nil {
		return bare(err)
	}
	c.at, c.offset = r, start+c.header
	return nil
}

// table returns a table of the values at their offset. It first copies a stream to hold.
func (c *contents) table(hold *spool) (*table, error) {
	t := &table{at: c.at, offset: c.offset, rows: c.shape[0], cols: c.shape[1], dtype: c.dtype, fortran: c.fortran}
	if t.at != nil {
		return t, nil
	}
	begin := hold.size
	got, err := io.CopyN(hold, c.stream, c.bytes())
	if err == io.EOF {
		return nil, missingBytes(c.bytes() - got)
	}
	if err != nil {
		return nil, bare(err)
	}
	t.at, t.offset = hold, begin
	return t, expectEnd(c.stream)
}

// numbers writes the numbers of a text table to a spool.
type numbers struct {
	w   *bufio.Writer
	buf [8]byte
}

func (n *numbers) add(v float64) error {
	binary.LittleEndian.PutUint64(n.buf[:], math.Float64bits(v))
	_, err := n.w.Write(n.buf[:])
	return err
}

// spoolCSV reads a text table into hold.
func spoolCSV(r io.Reader, name, format string, o ReadOptions, hold *spool) (*table, []string, error) {
	n := &numbers{w: bufio.NewWriterSize(hold, 1<<16)}
	m, err := readCells(r, name, format, o, func(float64) (collector, error) { return n, nil })
	if err == nil {
		err = n.w.Flush()
	}
	if err != nil {
		return nil, nil, err
	}
	return &table{at: hold, rows: m.Rows, cols: m.Cols, dtype: dtypes["f8"]}, m.Names, nil
}
