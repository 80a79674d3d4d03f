package dataset

import (
	"bytes"
	"io"

	"github.com/scqm/scqm/internal/memory"
)

// Limits on a line of text.
const (
	// maxLine bounds the bytes of a line of text, including all lines of a quoted field.
	// maxFields bounds its fields.
	maxLine   = 64 << 20
	maxFields = 1 << 20
	// longLine is the length from which a line is checked against the limits.
	longLine = 1 << 20
)

// lines passes text on, and rejects lines that are too long before the caller assembles
// them. A line break within quotes does not end a line.
type lines struct {
	r       io.Reader
	comma   byte // 0: not known yet
	number  int  // of the line, from 1
	length  int  // bytes of the line so far
	fields  int  // number of separators in the line
	checked int  // length at the last check of memory
	begins  bool // at the start of a line
	comment bool // in a comment before the first record
	record  bool // a record was seen
	quoted  bool // within quotes
}

func newLines(r io.Reader) *lines { return &lines{r: r, number: 1, begins: true} }

// Read reads text, and returns an error for a line that is too long.
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

// scan examines a part of a line; ends reports whether the part ends the line.
func (l *lines) scan(part []byte, ends bool) {
	if l.begins && !l.quoted {
		l.comment = part[0] == '#' && !l.record
		l.record = l.record || part[0] != '#' && part[0] != '\n' && part[0] != '\r'
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

// check returns an error if a line is too long or memory is too small for it: for several
// copies of its bytes and a record of each field.
func (l *lines) check() error {
	switch {
	case l.length > maxLine && l.quoted:
		return inputErrorf(ErrFormat, "line %d: a quoted field goes on for more than %s; check the quotes", l.number, memory.Format(maxLine))
	case l.length > maxLine:
		return inputErrorf(ErrFormat, "line %d is longer than %s; check the line breaks, or save the table as .npy", l.number, memory.Format(maxLine))
	case l.fields > maxFields && !l.quoted:
		return inputErrorf(ErrShape, "line %d has more than %d fields; check the line breaks, or save the table as .npy", l.number, maxFields)
	case l.length > 2*max(l.checked, longLine):
		l.checked = l.length
		return checkMemory("fields of a long line", 16*float64(l.length)+128*float64(l.fields))
	}
	return nil
}
