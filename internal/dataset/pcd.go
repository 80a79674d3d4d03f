package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// pcd is a file of the Point Cloud Library: a header of text that names fields, and
// then the points, as text, binary, or compressed field by field. It is written as
// binary.
//
// Source: the documentation of PCL, The PCD (Point Cloud Data) file format, 0.7.
type pcd struct {
	fields        []pcdField
	width, height int
	viewpoint     string
	stride        int    // bytes of a point
	rows          []byte // points, one after the other
}

// pcdField is a field of count numbers of a type (F, I or U) with so many bytes.
type pcdField struct {
	name        string
	kind        byte
	size, count int
	at          int // place in a point
}

func (f pcdField) bytes() int { return f.size * f.count }

// pcdNames are the names of this format for columns that have others here.
var pcdNames = map[string]string{"nx": "normal_x", "ny": "normal_y", "nz": "normal_z"}

// newPCD is a file of n points and nothing else.
func newPCD(n int) *pcd {
	f := &pcd{width: n, height: 1, viewpoint: "0 0 0 1 0 0 0", stride: 24, rows: make([]byte, 24*n)}
	for k, name := range []string{"x", "y", "z"} {
		f.fields = append(f.fields, pcdField{name, 'F', 8, 1, 8 * k})
	}
	return f
}

func readPCD(text []byte) (*PointCloud, error) {
	f := &pcd{viewpoint: "0 0 0 1 0 0 0"}
	points, data, body, err := f.readHeader(text)
	if err != nil {
		return nil, err
	}
	switch data {
	case "ascii":
		err = f.readText(body, points)
	case "binary":
		if len(body)/f.stride < points {
			return nil, inputErrorf(ErrTruncated, "the file ends early, in point %d of %d; copy or download it again", len(body)/f.stride, points)
		}
		f.rows = body[:points*f.stride]
	case "binary_compressed":
		err = f.readCompressed(body, points)
	default:
		err = inputErrorf(ErrFormat, "unknown DATA %s; there are ascii, binary and binary_compressed", shortQuote(data))
	}
	if err != nil {
		return nil, err
	}
	m, err := f.points(points)
	if err != nil {
		return nil, err
	}
	return &PointCloud{Points: m, format: formatPCD, layout: f}, nil
}

// readHeader reads up to the line DATA.
func (f *pcd) readHeader(text []byte) (points int, data string, body []byte, err error) {
	entries := map[string][]string{}
	at, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		at += len(line)
		if len(line) > 1<<16 || bytes.IndexByte(line, 0) >= 0 {
			break
		}
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "VERSION", "FIELDS", "COLUMNS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS", "DATA":
		default:
			return 0, "", nil, inputErrorf(ErrFormat, "line %d of the header: %s is no line of a PCD header", number, shortQuote(strings.Join(words, " ")))
		}
		entries[words[0]] = words[1:]
		if words[0] != "DATA" {
			continue
		}
		if points, err = f.settle(entries, len(text)); err != nil {
			return 0, "", nil, err
		}
		return points, strings.Join(words[1:], " "), text[at:], nil
	}
	return 0, "", nil, inputErrorf(ErrTruncated, "the header has no line DATA; is it a PCD file, and whole?")
}

// settle takes the entries of the header of a file of so many bytes.
func (f *pcd) settle(entries map[string][]string, size int) (points int, err error) {
	names := slices.Concat(entries["FIELDS"], entries["COLUMNS"])
	if err := f.settleFields(names, entries); err != nil {
		return 0, err
	}
	number := func(key string, missing int) int {
		if len(entries[key]) != 1 {
			return missing
		}
		v, bad := strconv.Atoi(entries[key][0])
		// A point of text has a byte and a separator for each number; lzf packs 88 to 1.
		if bad != nil || v < 0 || v > 100*size {
			err = inputErrorf(ErrFormat, "%s %s in a file of %d bytes", key, shortQuote(entries[key][0]), size)
		}
		return v
	}
	f.width, f.height = number("WIDTH", -1), number("HEIGHT", 1)
	points = number("POINTS", -1)
	if err != nil {
		return 0, err
	}
	switch {
	case points < 0 && f.width < 0:
		return 0, inputErrorf(ErrFormat, "the header has neither POINTS nor WIDTH")
	case points < 0:
		points = f.width * f.height
	case f.width < 0:
		f.width, f.height = points, 1
	}
	if points != f.width*f.height {
		return 0, inputErrorf(ErrShape, "POINTS is %d, WIDTH times HEIGHT is %d x %d", points, f.width, f.height)
	}
	if points == 0 {
		return 0, inputErrorf(ErrShape, "holds no points")
	}
	if v := entries["VIEWPOINT"]; len(v) == 7 {
		f.viewpoint = strings.Join(v, " ")
	}
	return points, nil
}

func (f *pcd) settleFields(names []string, entries map[string][]string) error {
	sizes, kinds, counts := entries["SIZE"], entries["TYPE"], entries["COUNT"]
	if len(names) == 0 || len(sizes) != len(names) || len(kinds) != len(names) || counts != nil && len(counts) != len(names) {
		return inputErrorf(ErrFormat, "the header has %d FIELDS, %d of SIZE, %d of TYPE and %d of COUNT", len(names), len(sizes), len(kinds), len(counts))
	}
	for k, name := range names {
		p := pcdField{name: name, kind: kinds[k][0], count: 1, at: f.stride}
		var bad, worse error
		p.size, bad = strconv.Atoi(sizes[k])
		if counts != nil {
			p.count, worse = strconv.Atoi(counts[k])
		}
		known := strings.Contains("F4 F8 I1 I2 I4 I8 U1 U2 U4 U8", kinds[k]+sizes[k]) && len(kinds[k]+sizes[k]) == 2
		if bad != nil || worse != nil || !known || p.count < 1 || p.count > 1<<20 {
			return inputErrorf(ErrFormat, "the field %s has SIZE %s, TYPE %s and COUNT %d; want F of 4 or 8 bytes, or I or U of 1, 2, 4 or 8", shortQuote(name), shortQuote(sizes[k]), shortQuote(kinds[k]), p.count)
		}
		f.fields = append(f.fields, p)
		if f.stride += p.bytes(); f.stride > 1<<24 {
			return inputErrorf(ErrFormat, "a point of %d bytes", f.stride)
		}
	}
	for _, name := range []string{"x", "y", "z"} {
		p := f.field(name)
		if p == nil {
			return inputErrorf(ErrShape, "points have no field %s", name)
		}
		if p.kind != 'F' || p.count != 1 {
			return inputErrorf(ErrFormat, "the field %s is %d of type %c, which cannot hold denoised values; want one F", name, p.count, p.kind)
		}
	}
	return nil
}

// field returns the field of a name, the first of several, or nil.
func (f *pcd) field(name string) *pcdField {
	for k := range f.fields {
		if f.fields[k].name == name {
			return &f.fields[k]
		}
	}
	return nil
}

// room sets memory aside for the points.
func (f *pcd) room(points int) error {
	if err := checkMemory("points of the file", float64(points)*(float64(f.stride)+24)); err != nil {
		return err
	}
	f.rows = make([]byte, 0, points*f.stride)
	return nil
}

// readText reads one line for each point.
func (f *pcd) readText(body []byte, points int) error {
	if len(body)/2+1 < points {
		return inputErrorf(ErrTruncated, "%d points in %d bytes of text; copy or download the file again", points, len(body))
	}
	if err := f.room(points); err != nil {
		return err
	}
	read := 0
	for line := range bytes.Lines(body) {
		words := bytes.Fields(line)
		if len(words) == 0 {
			continue
		}
		if read == points {
			return inputErrorf(ErrShape, "more lines than the %d points of the header", points)
		}
		if err := f.appendText(words); err != nil {
			return fmt.Errorf("point %d (counting from 0): %w", read, err)
		}
		read++
	}
	if read < points {
		return inputErrorf(ErrTruncated, "the file ends early, after %d points of %d; copy or download it again", read, points)
	}
	return nil
}

func (f *pcd) appendText(words [][]byte) error {
	at := 0
	for _, p := range f.fields {
		for range p.count {
			if at == len(words) {
				return inputErrorf(ErrShape, "%d values, expected more", len(words))
			}
			var err error
			if f.rows, err = p.appendText(f.rows, string(words[at])); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			at++
		}
	}
	if at < len(words) {
		return inputErrorf(ErrShape, "%d values, expected %d", len(words), at)
	}
	return nil
}

// appendText appends the number that a word is.
func (f pcdField) appendText(out []byte, word string) ([]byte, error) {
	var bits uint64
	var err error
	switch f.kind {
	case 'F':
		var v float64
		if v, err = strconv.ParseFloat(word, 8*f.size); err == nil {
			bits = math.Float64bits(v)
			if f.size == 4 {
				bits = uint64(math.Float32bits(float32(v)))
			}
		}
	case 'I':
		var v int64
		v, err = strconv.ParseInt(word, 10, 8*f.size)
		bits = uint64(v)
	default:
		bits, err = strconv.ParseUint(word, 10, 8*f.size)
	}
	if err != nil {
		return out, inputErrorf(ErrFormat, "%s is no number of type %c with %d bytes", shortQuote(word), f.kind, f.size)
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	return append(out, b[:f.size]...), nil
}

// readCompressed unpacks the fields, each of which holds its values of all points.
func (f *pcd) readCompressed(body []byte, points int) error {
	if len(body) < 8 {
		return inputErrorf(ErrTruncated, "the file ends early, before the sizes of its data; copy or download it again")
	}
	packed, size := int(binary.LittleEndian.Uint32(body)), int(binary.LittleEndian.Uint32(body[4:]))
	if body = body[8:]; packed > len(body) {
		return inputErrorf(ErrTruncated, "the file ends early, %d of %d compressed bytes are there; copy or download it again", len(body), packed)
	}
	if size/f.stride != points || size%f.stride != 0 {
		return inputErrorf(ErrShape, "%d bytes of data do not make %d points of %d bytes", size, points, f.stride)
	}
	if size > lzfRatio*packed+lzfRatio {
		return inputErrorf(ErrFormat, "%d compressed bytes cannot hold %d", packed, size)
	}
	if err := f.room(points); err != nil {
		return err
	}
	columns := make([]byte, 0, size)
	columns, ok := appendLZF(columns, body[:packed])
	if !ok || len(columns) != size {
		return inputErrorf(ErrFormat, "the compressed data is damaged; copy or download the file again")
	}
	f.rows = f.rows[:size]
	for _, p := range f.fields {
		width := p.bytes()
		for i := range points {
			copy(f.rows[i*f.stride+p.at:], columns[p.at*points+i*width:p.at*points+(i+1)*width])
		}
	}
	return nil
}

// value is the number at the beginning of b.
func (f pcdField) value(b []byte) float64 {
	if f.size == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// columns returns the values of fields of type F, point by point.
func (f *pcd) columns(fields ...*pcdField) []float64 {
	out := make([]float64, 0, len(fields)*len(f.rows)/f.stride)
	for at := 0; at < len(f.rows); at += f.stride {
		for _, p := range fields {
			out = append(out, p.value(f.rows[at+p.at:]))
		}
	}
	return out
}

func (f *pcd) points(n int) (*Matrix, error) {
	if err := checkMemory("points of the file", 24*float64(n)); err != nil {
		return nil, err
	}
	m := &Matrix{Rows: n, Cols: 3, Names: []string{"x", "y", "z"}, Data: f.columns(f.field("x"), f.field("y"), f.field("z"))}
	for i, v := range m.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, inputErrorf(ErrNonFinite, "point %d (counting from 0), %s: %v is not a finite number; remove the point", i/3, "xyz"[i%3:i%3+1], v)
		}
	}
	return m, nil
}

func (f *pcd) normals() []float64 {
	var fields []*pcdField
	for _, name := range normalNames {
		p := f.field(pcdNames[name])
		if p == nil || p.kind != 'F' || p.count != 1 {
			return nil
		}
		fields = append(fields, p)
	}
	return f.columns(fields...)
}

func (f *pcd) only(list []int) (layout, error) {
	some := *f
	some.width, some.height, some.rows = len(list), 1, make([]byte, 0, len(list)*f.stride)
	for _, i := range list {
		some.rows = append(some.rows, f.rows[i*f.stride:(i+1)*f.stride]...)
	}
	return &some, nil
}

func (f *pcd) write(w io.Writer, points, more *Matrix) error {
	replaced := map[int]*pcdField{}
	fields := slices.Clone(f.fields)
	var names []string
	if more != nil {
		names = more.Names
	}
	for k, name := range names {
		if other, ok := pcdNames[name]; ok {
			name = other
		}
		if p := f.field(name); p != nil && p.kind == 'F' && p.count == 1 {
			replaced[k] = p
		} else {
			fields = append(fields, pcdField{name, 'F', 8, 1, 0})
		}
	}
	if _, err := io.WriteString(w, f.header(fields)); err != nil {
		return err
	}
	var out []byte
	for i := range points.Rows {
		out = append(out[:0], f.rows[i*f.stride:(i+1)*f.stride]...)
		for k, name := range []string{"x", "y", "z"} {
			if err := f.field(name).put(out, points.Row(i)[k]); err != nil {
				return fmt.Errorf("point %d: %w", i, err)
			}
		}
		for k := range names {
			v := more.Row(i)[k]
			if p := replaced[k]; p == nil {
				out = appendOrdered(out, binary.LittleEndian, math.Float64bits(v))
			} else if err := p.put(out, v); err != nil {
				return fmt.Errorf("point %d: %w", i, err)
			}
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// put writes a number of type F into its place of a point.
func (f pcdField) put(row []byte, v float64) error {
	if f.size == 8 {
		binary.LittleEndian.PutUint64(row[f.at:], math.Float64bits(v))
		return nil
	}
	if err := fits32(v); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	binary.LittleEndian.PutUint32(row[f.at:], math.Float32bits(float32(v)))
	return nil
}

// header is that of a binary file with these fields.
func (f *pcd) header(fields []pcdField) string {
	var names, sizes, kinds, counts strings.Builder
	for _, p := range fields {
		fmt.Fprintf(&names, " %s", p.name)
		fmt.Fprintf(&sizes, " %d", p.size)
		fmt.Fprintf(&kinds, " %c", p.kind)
		fmt.Fprintf(&counts, " %d", p.count)
	}
	return fmt.Sprintf("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS%s\nSIZE%s\nTYPE%s\nCOUNT%s\nWIDTH %d\nHEIGHT %d\nVIEWPOINT %s\nPOINTS %d\nDATA binary\n",
		names.String(), sizes.String(), kinds.String(), counts.String(), f.width, f.height, f.viewpoint, f.width*f.height)
}
