package dataset

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// numeric is a number type of a file, of size bytes: F for floats, I for signed and U for
// unsigned integers.
type numeric struct {
	kind byte
	size int
}

// field is a part of a record: values of one type.
type field struct {
	name string
	numeric
	count  int     // number of values, unless the field is a list
	length numeric // type of the length that precedes the values of a list; zero for other fields
	// scale and offset convert a stored integer v to v*scale + offset, unless scale is 0.
	scale, offset float64
	// scaled says that its description has another scale or offset.
	scaled bool
}

// record describes the fields of a point or of another element, in order. In binary files
// the fields are adjacent; in text files a record is a line. Reading, writing and checking
// use this description.
type record struct {
	fields []field
	order  byteOrder // nil for text
	comma  byte      // separator of text, 0 for blanks
	open   bool      // a line may have more values than fields
	known  bool      // its values have been checked
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// float64s is the type of added columns.
var float64s = numeric{'F', 8}

// bytes returns the size of the values of a field that is not a list.
func (f field) bytes() int { return f.size * f.count }

// isNumber reports whether the field is a single number, not several or a list.
func (f field) isNumber() bool { return f.count == 1 && f.length.size == 0 }

func (n numeric) value(b []byte, order byteOrder) float64 {
	var bits uint64
	switch n.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(order.Uint16(b))
	case 4:
		bits = uint64(order.Uint32(b))
	default:
		bits = order.Uint64(b)
	}
	switch unused := 64 - 8*n.size; {
	case n.kind == 'F' && n.size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case n.kind == 'F':
		return math.Float64frombits(bits)
	case n.kind == 'I':
		return float64(int64(bits<<unused) >> unused)
	}
	return float64(bits)
}

// parse parses a number and checks that the type can hold it. Floats may be NaN or infinite.
func (n numeric) parse(cell []byte) (v float64, err error) {
	s := string(cell)
	switch n.kind {
	case 'F':
		v, err = strconv.ParseFloat(s, 64)
		switch {
		case strings.ContainsAny(s, "xX_"): // which Go reads
			err = strconv.ErrSyntax
		case n.size == 4 && err == nil && !math.IsInf(v, 0):
			return v, fits32(v)
		}
	case 'I':
		var whole int64
		whole, err = strconv.ParseInt(s, 10, 8*n.size)
		v = float64(whole)
	default:
		var whole uint64
		whole, err = strconv.ParseUint(s, 10, 8*n.size)
		v = float64(whole)
	}
	if err == nil {
		return v, nil
	}
	if _, kind := parseCell(s); kind != number {
		return 0, cellFault(s, kind)
	}
	return 0, inputErrorf(ErrFormat, "%s is no number of the type %s", shortQuote(s), n)
}

// String names the type.
func (n numeric) String() string {
	return map[byte]string{'F': "float", 'I': "int", 'U': "uint"}[n.kind] + strconv.Itoa(8*n.size)
}

// append appends a value to out, encoded in the type of the field.
func (f field) append(out []byte, order byteOrder, v float64) ([]byte, error) {
	var bits uint64
	switch {
	case f.scale != 0:
		whole := math.Round((v - f.offset) / f.scale)
		if !(math.Abs(whole) <= math.MaxInt32) {
			return nil, inputErrorf(ErrNonFinite, "%s = %v is beyond the whole numbers of the file, in steps of %v from %v", f.name, v, f.scale, f.offset)
		}
		bits = uint64(int64(whole))
	case f.size == 4:
		if err := fits32(v); err != nil {
			return nil, err
		}
		bits = uint64(math.Float32bits(float32(v)))
	default:
		bits = math.Float64bits(v)
	}
	switch {
	case order == nil && f.size == 4:
		return strconv.AppendFloat(out, v, 'g', -1, 32), nil
	case order == nil:
		return appendNumber(out, v), nil
	case f.size == 4:
		return order.AppendUint32(out, uint32(bits)), nil
	}
	return order.AppendUint64(out, bits), nil
}

// fits32 returns an error if v is outside the range of float32.
func fits32(v float64) error {
	if math.IsInf(float64(float32(v)), 0) {
		return inputErrorf(ErrNonFinite, "%v is too large for the type float of the file", v)
	}
	return nil
}

// errEnds returns the error for a file that ends early.
func errEnds() error {
	return inputErrorf(ErrTruncated, "the file ends early; copy or download it again")
}

// split finds the end of the record that begins at from, and the place of each field, which it writes
// to cells. On error, at is the index of the invalid field, or -1 if no single field is invalid.
func (r *record) split(body []byte, from int, cells [][2]int) (end, at int, err error) {
	if r.order == nil {
		return r.splitLine(body, from, cells)
	}
	end = from
	for i, f := range r.fields {
		begin, count := end, f.count
		if f.length.size > 0 {
			if end += f.length.size; end > len(body) {
				return 0, -1, errEnds()
			}
			count = int(f.length.value(body[begin:], r.order))
		}
		switch {
		case count < 0:
			return 0, i, inputErrorf(ErrFormat, "a list of %d values", count)
		case count > (len(body)-end)/f.size:
			return 0, -1, errEnds()
		}
		end += count * f.size
		cells[i] = [2]int{begin - from, end - from}
	}
	return end, -1, nil
}

// splitLine splits a record of text, and checks all of its values.
func (r *record) splitLine(body []byte, from int, cells [][2]int) (end, at int, err error) {
	if from >= len(body) {
		return 0, -1, errEnds()
	}
	place := 0
	if r.open { // blank lines before it belong to it
		place = len(body[from:]) - len(bytes.TrimLeft(body[from:], " \t\r\n"))
	}
	end = len(body)
	if k := bytes.IndexByte(body[from+place:], '\n'); k >= 0 {
		end = from + place + k + 1
	}
	line := bytes.TrimRight(body[from:end], "\r\n")
	words := 0
	next := func(n numeric) (v float64, err error) {
		begin, to, ok := r.cell(line, place, words == 0)
		if !ok {
			return 0, inputErrorf(ErrShape, "%d values, expected more", words)
		}
		words, place = words+1, to
		if at >= 0 {
			cells[at][1] = to
			if cells[at][0] < 0 {
				cells[at][0] = begin
			}
		}
		if r.known && n != r.fields[at].length {
			return 0, nil
		}
		return r.parse(line[begin:to], n)
	}
	for at = range r.fields {
		f := r.fields[at]
		cells[at] = [2]int{-1, -1}
		count := f.count
		if f.length.size > 0 {
			v, err := next(f.length)
			if err != nil {
				return 0, at, err
			}
			if count = int(v); v < 0 {
				return 0, at, inputErrorf(ErrFormat, "a list of %v values", v)
			}
		}
		for range count {
			if _, err := next(f.numeric); err != nil {
				return 0, at, err
			}
		}
	}
	if expected := words; !r.open {
		for ok := true; ok; words++ {
			_, place, ok = r.cell(line, place, false)
		}
		if words--; words != expected {
			return 0, -1, inputErrorf(ErrShape, "%d values, expected %d", words, expected)
		}
	}
	return end, -1, nil
}

const blanks = " \t"

// cell returns the next cell of a line after position at.
func (r *record) cell(line []byte, at int, first bool) (from, to int, ok bool) {
	if r.comma == 0 {
		from = len(line) - len(bytes.TrimLeft(line[at:], blanks))
		if to = from + bytes.IndexAny(line[from:], blanks); to < from {
			to = len(line)
		}
		return from, to, to > from
	}
	if !first {
		k := bytes.IndexByte(line[at:], r.comma)
		if k < 0 {
			return at, at, false
		}
		at += k + 1
	}
	cell, _, _ := bytes.Cut(line[at:], []byte{r.comma})
	from = at + len(cell) - len(bytes.TrimLeft(cell, blanks))
	return from, from + len(bytes.Trim(cell, blanks)), true
}

// parse parses a number of type n. In text tables, words for missing values become NaN.
func (r *record) parse(cell []byte, n numeric) (float64, error) {
	if r.open && notAvailable[strings.ToLower(string(cell))] {
		return math.NaN(), nil
	}
	return n.parse(cell)
}

// value returns the number that a cell holds.
func (r *record) value(f field, cell []byte) (v float64) {
	if r.order == nil {
		v, _ = r.parse(cell, f.numeric) // which split has checked
	} else {
		v = f.numeric.value(cell, r.order)
	}
	if f.scale != 0 {
		v = v*f.scale + f.offset
	}
	return v
}

// index returns the index of the number field called name, -1 if there is none.
func (r *record) index(name string) int {
	return slices.IndexFunc(r.fields, func(f field) bool { return f.name == name && f.isNumber() })
}

// place merges columns into the fields. A column replaces the field of its name, as a
// float if that is no number or is scaled, or becomes a new last field. columns[i] is the
// column of field i, -1 if it is unchanged.
func (r *record) place(names []string) (fields []field, columns []int) {
	at := make(map[string]int, len(r.fields))
	for i, f := range r.fields {
		columns = append(columns, -1)
		if _, twice := at[f.name]; !twice {
			at[f.name] = i
		}
	}
	fields = slices.Clone(r.fields)
	for k, name := range names {
		i, there := at[name]
		switch {
		case !there:
			fields, columns = append(fields, field{name: name, numeric: float64s, count: 1}), append(columns, k)
			continue
		case fields[i].scaled || fields[i].scale == 0 && (fields[i].kind != 'F' || !fields[i].isNumber()):
			fields[i] = field{name: name, numeric: float64s, count: 1}
		}
		columns[i] = k
	}
	return fields, columns
}

// appendChanged appends the record row to out, with new values in the fields that
// have a column: columns[i] >= 0. A cell keeps its bytes if its value does not
// change, or if the new value is a coordinate and NaN.
func (r *record) appendChanged(out, row []byte, cells [][2]int, fields []field, columns []int, values []float64) (_ []byte, err error) {
	at, end := 0, len(row)
	if r.order == nil {
		end = len(bytes.TrimRight(row, "\r\n"))
	}
	for i, f := range fields {
		if i < len(cells) {
			cell := row[cells[i][0]:cells[i][1]]
			out = append(out, row[at:cells[i][0]]...)
			at = cells[i][1]
			if k := columns[i]; k < 0 || k < len(axes) && math.IsNaN(values[k]) || f == r.fields[i] && equalBits(r.value(f, cell), values[k]) {
				out = append(out, cell...)
				continue
			}
		} else {
			out, at = append(out, row[at:end]...), end
			if r.order == nil {
				out = append(bytes.TrimRight(out, blanks), cmp.Or(r.comma, ' '))
			}
		}
		if out, err = f.append(out, r.order, values[columns[i]]); err != nil {
			return nil, err
		}
	}
	return append(out, row[at:]...), nil
}

func equalBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
