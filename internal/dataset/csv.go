package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

const byteOrderMark = "\ufeff"

// csvTable reads the records of a text table: RFC 4180 quoting, UTF-8 with or
// without a byte order mark, LF or CRLF. Blank lines are skipped, and lines before the
// first record that start with #. All records have as many fields as the first.
//
// TSV is separated by tabs; CSV by commas, or by semicolons or tabs when the
// first record has no comma but one of those.
type csvTable struct {
	csv   *csv.Reader
	lines *lines
	name  string
	width int // fields of the first record, 0 before it
	line  int // of the first record
	above int // lines of comments
}

func openCSV(r io.Reader, name, format string) (*csvTable, error) {
	guard := newLines(r)
	buffered := bufio.NewReaderSize(guard, 1<<16)
	head, err := buffered.Peek(1 << 16)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, inputErrorf(ErrFormat, "%s: is not text: %s", name, resemblance(head[:min(8, len(head))]))
	}
	if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		return nil, fmt.Errorf("%s: %w", name, errCR())
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		if _, err := buffered.Discard(len(byteOrderMark)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, bare(err))
		}
	}
	t := &csvTable{csv: csv.NewReader(buffered), lines: guard, name: name}
	if err := t.skipComments(buffered); err != nil {
		return nil, err
	}
	head, _ = buffered.Peek(1 << 16)
	t.csv.Comma = delimiter(head, format)
	guard.comma = byte(t.csv.Comma)
	t.csv.FieldsPerRecord = -1 // counted by next, for a better message
	t.csv.ReuseRecord = true
	return t, nil
}

// skipComments leaves out the lines before the first record.
func (t *csvTable) skipComments(r *bufio.Reader) error {
	for {
		head, _ := r.Peek(len("#N/A"))
		if len(head) == 0 || head[0] != '\n' && head[0] != '\r' && (head[0] != '#' || !isComment(head)) {
			return nil
		}
		t.above++
		for {
			_, err := r.ReadSlice('\n')
			if err == nil || err == io.EOF {
				break
			}
			if err != bufio.ErrBufferFull {
				return fmt.Errorf("%s: %w", t.name, bare(err))
			}
		}
	}
}

func delimiter(head []byte, format string) rune {
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	if c := separator(first, ",;\t"); c != 0 && format != formatTSV {
		return rune(c)
	}
	if format == formatTSV {
		return '\t'
	}
	return ','
}

// next returns the next record, valid until the call after, or io.EOF.
func (t *csvTable) next() ([]string, error) {
	record, err := t.csv.Read()
	var syntax *csv.ParseError
	switch {
	case err == io.EOF:
		return nil, err
	case errors.As(err, &syntax):
		return nil, inputErrorf(ErrFormat, "%s:%d: %w; check the quotes", t.name, t.above+syntax.Line, syntax.Err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.name, bare(err))
	}
	line, _ := t.csv.FieldPos(0)
	line += t.above
	if t.width == 0 {
		t.width, t.line = len(record), line
	}
	if len(record) != t.width {
		hint := ""
		if strings.HasPrefix(record[0], "#") {
			hint = "; comments stand before the first row"
		}
		return nil, inputErrorf(ErrShape, "%s:%d: %d fields, expected %d as in line %d%s", t.name, line, len(record), t.width, t.line, hint)
	}
	return record, nil
}

// place names field i of the last record as file:line:field, both from 1.
func (t *csvTable) place(i int) string {
	line, _ := t.csv.FieldPos(i)
	return fmt.Sprintf("%s:%d:%d", t.name, t.above+line, i+1)
}

// readCSV reads the columns that o asks for.
func readCSV(r io.Reader, name, format string, o ReadOptions) (*Matrix, error) {
	var data *values
	m, err := readCells(r, name, format, o, func(expected float64) (collector, error) {
		var err error
		data, err = newValues(name, expected)
		return data, err
	})
	if err != nil {
		return nil, err
	}
	m.Data = data.all()
	return m, nil
}

// collector takes numbers one by one.
type collector interface{ add(v float64) error }

// readCells reads the numbers of the columns that o asks for into the collector
// that begin returns. It passes begin an upper bound on their count, negative if
// unknown. The matrix that readCells returns has no numbers.
func readCells(r io.Reader, name, format string, o ReadOptions, begin func(expected float64) (collector, error)) (*Matrix, error) {
	rows, err := countRows(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, bare(err))
	}
	t, err := openCSV(r, name, format)
	if err != nil {
		return nil, err
	}
	record, err := t.next()
	if err == io.EOF {
		return nil, inputErrorf(ErrShape, "%s: holds no rows", name)
	}
	if err != nil {
		return nil, err
	}
	keep, header, err := t.chooseColumns(o, record)
	if err != nil {
		return nil, err
	}
	m := &Matrix{Cols: len(keep), Names: header}
	data, err := begin(rows * float64(m.Cols))
	if err != nil {
		return nil, err
	}
	if header != nil {
		record, err = t.next()
	}
	for ; err == nil; record, err = t.next() {
		if err := t.collect(data, record, keep, o.Missing); err != nil {
			return nil, err
		}
		m.Rows++
	}
	if err != io.EOF {
		return nil, err
	}
	if m.Rows == 0 {
		return nil, inputErrorf(ErrShape, "%s: holds a header but no rows", name)
	}
	return m, nil
}

// collect parses the fields of a record in the columns to keep.
func (t *csvTable) collect(data collector, record []string, keep []int, acceptMissing bool) error {
	for _, j := range keep {
		v, kind := parseCell(record[j])
		switch {
		case kind == number:
		case acceptMissing && (kind == missing || kind == special && !math.IsInf(v, 0)):
			v = math.NaN()
		default:
			return cellError(t.place(j), record[j], kind)
		}
		if err := data.add(v); err != nil {
			return err
		}
	}
	return nil
}

// cleanName puts a column name on one line of valid UTF-8. Bytes that are not
// are replaced first: next to a byte order mark they could make up another.
func cleanName(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), byteOrderMark, "")
	return strings.Join(strings.Fields(s), " ")
}

// writeNames writes a header. Names that are all numbers are left out: readCSV would take
// them for a row.
func writeNames(w io.Writer, names []string, comma byte) error {
	if !hasWord(names) {
		return nil
	}
	var line []byte
	for j, name := range names {
		line = appendName(separate(line, j, comma), cleanName(name))
	}
	_, err := w.Write(append(line, '\n'))
	return err
}

// writeLines writes numbers with the fewest digits that read back the same.
func writeLines(w io.Writer, data []float64, cols int, comma byte) error {
	var line []byte
	for ; len(data) > 0; data = data[cols:] {
		line = line[:0]
		for j, v := range data[:cols] {
			line = appendNumber(separate(line, j, comma), v)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func separate(line []byte, j int, comma byte) []byte {
	if j > 0 {
		return append(line, comma)
	}
	return line
}

// formula reports whether a spreadsheet would run a name.
func formula(name string) bool { return name != "" && strings.IndexByte("=+-@", name[0]) >= 0 }

// appendName quotes where a reader would otherwise see a separator or a comment, and
// puts an apostrophe before what a spreadsheet would run.
func appendName(line []byte, name string) []byte {
	if formula(name) {
		name = "'" + name
	}
	if !strings.ContainsAny(name, "\",;\t#") {
		return append(line, name...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(name, `"`, `""`)...)
	return append(line, '"')
}
