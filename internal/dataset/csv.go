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

// csvTable reads the records of a text table: RFC 4180 quoting, UTF-8 with or without a
// byte order mark, LF or CRLF. It skips blank lines, and lines before the first record
// that start with #. All records must have as many fields as the first.
//
// TSV is separated by tabs. CSV is separated by commas. If the first record of a CSV file
// has no comma but semicolons or tabs, these are the separators.
type csvTable struct {
	csv   *csv.Reader
	lines *lines
	name  string
	width int // number of fields of the first record, 0 before it is read
	line  int // number of the line of the first record
	above int // number of comment lines before it
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

// skipComments skips comment lines before the first record.
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

// next returns the next record, or io.EOF. The record is valid until the following call of next.
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

// place returns the place of field i of the last record as file:line:field, where line and field count from 1.
func (t *csvTable) place(i int) string {
	line, _ := t.csv.FieldPos(i)
	return fmt.Sprintf("%s:%d:%d", t.name, t.above+line, i+1)
}

// readCSV reads the columns that o selects.
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

// collector receives numbers one by one.
type collector interface{ add(v float64) error }

// readCells reads the numbers of the columns that o selects, and passes them to the
// collector that begin returns. The argument of begin is an upper bound of their count,
// negative if unknown. The returned matrix has no numbers.
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

// collect passes the numbers of a record, in the columns keep, to data.
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

// cleanName makes a column name valid UTF-8 on one line. It replaces invalid bytes first,
// because removing a byte order mark could join them to a new one.
func cleanName(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), byteOrderMark, "")
	return strings.Join(strings.Fields(s), " ")
}

// writeNames writes a header line, unless all names are numbers: readCSV would read such a
// line as a row.
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

// writeLines writes rows as text, with the fewest digits that parse back to the same numbers.
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

// formula reports whether a spreadsheet would execute a name as a formula.
func formula(name string) bool { return name != "" && strings.IndexByte("=+-@", name[0]) >= 0 }

// appendName appends a name. It quotes names with separators or comment signs, and puts an
// apostrophe before a formula.
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
