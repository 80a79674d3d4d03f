package dataset

import (
	"bytes"
	"io"
	"math"
	"os"

	"github.com/scqm/scqm/internal/memory"
)

// Limits on what a small file may grow into. None is in the way of tables of
// measured numbers, which compress by less than 30.
const (
	// deflateRatio is the most that one byte of deflated data can stand for.
	deflateRatio = 1032
	// mostRatio bounds the ratio of what was unpacked beyond plainBytes.
	mostRatio  = 400
	plainBytes = 256 << 20
	// mostLine bounds the bytes of a line of text, or of a quoted field that
	// goes on over several, and mostFields the fields of a line.
	mostLine   = 64 << 20
	mostFields = 1 << 20
	// longLine is the length from which on a line is watched.
	longLine = 1 << 20
)

// valueBytes is the size of a number in memory.
const valueBytes = 8

// smaller is how a file takes less memory.
const smaller = "read a part of it, or store fewer rows or columns"

// checkMemory refuses to set aside memory that is not there.
func checkMemory(what string, bytes float64) error { return memory.Check(what, bytes, smaller) }

// bounded is a reader that knows the most bytes it can give, -1 for not at all.
type bounded interface{ mostBytes() int64 }

// mostBytes is what bounds the bytes of r, -1 if nothing does.
func mostBytes(r io.Reader) int64 {
	if s, ok := r.(*source); ok {
		r = s.Reader
	}
	if b, ok := r.(bounded); ok {
		return b.mostBytes()
	}
	return -1
}

// unpacked is the most that so many deflated bytes can give.
func unpacked(packed int64) int64 {
	if packed < 0 || packed > (math.MaxInt64>>1)/deflateRatio {
		return -1
	}
	return packed*deflateRatio + 1<<16
}

// ratio guards the output of a decompressor.
type ratio struct{ packed, out int64 }

// grow counts bytes that came out. packed are those that went in, or all there
// are where that is not known.
func (g *ratio) grow(what string, n int) error {
	g.out += int64(n)
	if g.out > plainBytes && g.packed >= 0 && g.out/mostRatio > g.packed {
		return inputErrorf(ErrFormat, "%s unpacks to more than %d times its size, over %s; unpack it first if it is meant to", what, mostRatio, memory.Format(float64(g.out)))
	}
	return nil
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	n int64
}

// Read counts.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// readAll reads a whole file of size bytes, -1 if that is not known, without
// setting aside memory that is not there.
func readAll(r io.Reader, size int64) ([]byte, error) {
	if size >= 0 {
		if err := checkMemory("bytes of the file", float64(size)); err != nil {
			return nil, err
		}
		b := make([]byte, size)
		n, err := io.ReadFull(r, b)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		return b[:n], err
	}
	var parts [][]byte
	total := 0
	for length := 1 << 16; ; length = min(2*length, 32<<20) {
		if err := checkMemory("bytes of the file", float64(total+length)+float64(total+length)); err != nil {
			return nil, err
		}
		part := make([]byte, length)
		n, err := io.ReadFull(r, part)
		parts, total = append(parts, part[:n]), total+n
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			if len(parts) == 1 {
				return parts[0], nil
			}
			return bytes.Join(parts, nil), nil
		default:
			return nil, err
		}
	}
}

// values collects numbers one by one. Memory that is not there is refused before
// it is set aside: growing a slice would take three times as much as it holds.
type values struct {
	name  string // of the file
	full  [][]float64
	last  []float64
	count int // in full
}

const (
	firstValues = 1 << 13
	mostValues  = 1 << 22
)

// newValues makes room for so many values, a bound, or for an unknown number if
// that is negative.
func newValues(name string, expected float64) (*values, error) {
	v := &values{name: name}
	if expected < 0 {
		return v, nil
	}
	if err := checkMemory(name+": its numbers", valueBytes*expected); err != nil {
		return nil, err
	}
	v.last = make([]float64, 0, int(expected))
	return v, nil
}

func (v *values) add(x float64) error {
	if len(v.last) == cap(v.last) {
		if err := v.grow(); err != nil {
			return err
		}
	}
	v.last = append(v.last, x)
	return nil
}

// grow begins another part, if there is room for it and for all parts in one.
func (v *values) grow() error {
	v.count += len(v.last)
	length := min(max(v.count, firstValues), mostValues)
	err := checkMemory(v.name+": its numbers", valueBytes*float64(2*length+v.count))
	if err != nil {
		return err
	}
	v.full, v.last = append(v.full, v.last), make([]float64, 0, length)
	return nil
}

// all returns the values in one slice.
func (v *values) all() []float64 {
	if v.count == 0 {
		return v.last
	}
	out := make([]float64, 0, v.count+len(v.last))
	for k, part := range v.full {
		out = append(out, part...)
		v.full[k] = nil
	}
	return append(out, v.last...)
}

// countRows returns a bound of the rows of a text file, from where it is now, by
// counting the lines that are neither blank nor comments; -1 if it cannot be read
// twice.
func countRows(r io.Reader) (float64, error) {
	s, ok := r.(*source)
	if !ok || s.size < 0 || s.Reader != io.Reader(s.file) {
		return -1, nil
	}
	rows, begins := 0, true
	buf := make([]byte, 1<<18)
	for {
		n, err := s.file.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			if begins && b[0] != '\n' && b[0] != '\r' && b[0] != '#' {
				rows++
			}
			k := bytes.IndexByte(b, '\n')
			if begins = k >= 0; !begins {
				break
			}
			b = b[k+1:]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return float64(rows), err
}

// lines passes text on and refuses lines that are too long, before they are put
// together. A line break within quotes ends no line.
type lines struct {
	r       io.Reader
	comma   byte // 0: not known yet
	number  int  // of the line, from 1
	length  int  // of the line so far
	fields  int  // separators in it
	checked int  // length at which memory was last looked at
	begins  bool // at the start of a line
	comment bool // in one
	quoted  bool // within quotes
}

func newLines(r io.Reader) *lines { return &lines{r: r, number: 1, begins: true} }

// Read looks at what it passes on.
func (l *lines) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for b := p[:n]; len(b) > 0; {
		k := bytes.IndexByte(b, '\n')
		part := b
		if k >= 0 {
			part = b[:k+1]
		}
		l.scan(part, k >= 0)
		if refused := l.check(); refused != nil {
			return 0, refused
		}
		b = b[len(part):]
	}
	return n, err
}

// scan takes a part of a line, which may be its end.
func (l *lines) scan(part []byte, ends bool) {
	if l.begins && !l.quoted {
		l.comment = part[0] == '#'
	}
	l.begins = false
	l.length += len(part)
	if !l.comment {
		if bytes.Count(part, []byte{'"'})%2 == 1 {
			l.quoted = !l.quoted
		}
		if l.comma != 0 {
			l.fields += bytes.Count(part, []byte{l.comma})
		}
	}
	if ends {
		l.number++
		l.begins = true
		if !l.quoted {
			l.length, l.fields, l.checked = 0, 0, longLine
		}
	}
}

// check refuses a line that is too long, or for which there is no memory: its
// bytes are held several times, and each of its fields has a record.
func (l *lines) check() error {
	switch {
	case l.length > mostLine && l.quoted:
		return inputErrorf(ErrFormat, "line %d: a quoted field goes on for more than %s; check the quotes", l.number, memory.Format(mostLine))
	case l.length > mostLine:
		return inputErrorf(ErrFormat, "line %d is longer than %s; check the line breaks, or save the table as .npy", l.number, memory.Format(mostLine))
	case l.fields > mostFields && !l.quoted:
		return inputErrorf(ErrShape, "line %d has more than %d fields; check the line breaks, or save the table as .npy", l.number, mostFields)
	case l.length > 2*max(l.checked, longLine):
		l.checked = l.length
		return checkMemory("fields of a long line", 16*float64(l.length)+128*float64(l.fields))
	}
	return nil
}

// packedSize is the size of a regular file, -1 of any other.
func packedSize(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}
