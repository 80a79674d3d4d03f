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

// ply is a file in the polygon format of Stanford: a header of text that names
// elements and their properties, and then the elements, as text or binary.
//
// Source: G. Turk, The PLY Polygon File Format (1994).
type ply struct {
	header []byte // up to and with end_header
	insert int    // where more properties of a vertex go
	order  binary.ByteOrder
	text   bool
	before []byte   // elements before the vertices
	rows   [][]byte // the vertices
	cells  [][3][2]int
	after  []byte
	types  [3]string // of x, y, z
	vertex plyElement
	others []string // names of other elements that there are some of
}

// plyProperty is a property of an element; a list has the type of its count.
type plyProperty struct {
	name, kind, count string
}

type plyElement struct {
	name       string
	count      int
	properties []plyProperty
	end        int // of its lines in the header
}

// plySizes are the sizes of types, by both of the names that each has.
var plySizes = map[string]int{
	"char": 1, "int8": 1, "uchar": 1, "uint8": 1, "short": 2, "int16": 2, "ushort": 2, "uint16": 2,
	"int": 4, "int32": 4, "uint": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8, "float64": 8,
}

// newPLY is a binary file of n points and nothing else.
func newPLY(n int) *ply {
	header := fmt.Sprintf("ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n", n)
	f := &ply{vertex: plyElement{name: "vertex", count: n}, header: []byte(header + "end_header\n"), insert: len(header), order: binary.LittleEndian, types: [3]string{"double", "double", "double"}}
	for range n {
		f.rows = append(f.rows, make([]byte, 24))
		f.cells = append(f.cells, [3][2]int{{0, 8}, {8, 16}, {16, 24}})
	}
	return f
}

func readPLY(text []byte) (*PointCloud, error) {
	f := &ply{}
	elements, err := f.readHeader(text)
	if err != nil {
		return nil, err
	}
	body := text[len(f.header):]
	m := &Matrix{Cols: 3, Names: []string{"x", "y", "z"}}
	at, seen := 0, false
	for _, e := range elements {
		if e.name != "vertex" {
			if e.count > 0 && e.name != "camera" {
				f.others = append(f.others, e.name)
			}
			if seen {
				continue // as it comes
			}
			for i := range e.count {
				if at, _, err = f.next(body, at, e, nil); err != nil {
					return nil, fmt.Errorf("%s %d: %w", e.name, i, err)
				}
			}
			continue
		}
		seen = true
		f.before, f.insert, f.vertex = body[:at], e.end, e
		if at, err = f.readVertices(m, body, at, e); err != nil {
			return nil, err
		}
		f.after = body[at:]
	}
	if m.Rows == 0 {
		return nil, inputErrorf(ErrShape, "holds no points")
	}
	return &PointCloud{Points: m, format: formatPLY, layout: f}, nil
}

// readHeader reads up to end_header.
func (f *ply) readHeader(text []byte) ([]plyElement, error) {
	if !bytes.HasPrefix(text, []byte("ply")) {
		return nil, inputErrorf(ErrFormat, "is not a PLY file: %s", resemblance(text[:min(8, len(text))]))
	}
	var elements []plyElement
	at, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		at += len(line)
		words := strings.Fields(string(line[:min(len(line), 1000)]))
		if len(words) == 0 {
			continue
		}
		var err error
		switch last := len(elements) - 1; {
		case words[0] == "format" && len(words) == 3:
			err = f.setFormat(words[1])
		case words[0] == "element" && len(words) == 3:
			count, bad := strconv.Atoi(words[2])
			if bad != nil || count < 0 || count > len(text) {
				err = inputErrorf(ErrFormat, "%s elements in %d bytes", shortQuote(words[2]), len(text))
			}
			if words[1] == "vertex" && slices.ContainsFunc(elements, func(e plyElement) bool { return e.name == "vertex" }) {
				err = inputErrorf(ErrFormat, "a second element vertex; keep one of them")
			}
			elements = append(elements, plyElement{name: words[1], count: count, end: at})
		case words[0] == "property" && last >= 0:
			var p plyProperty
			p, err = newPLYProperty(words)
			elements[last].properties = append(elements[last].properties, p)
			elements[last].end = at
		case words[0] == "end_header":
			f.header = text[:at]
			if f.order == nil && !f.text {
				return nil, inputErrorf(ErrFormat, "the header names no format")
			}
			return elements, nil
		case words[0] == "ply" && number == 1, words[0] == "comment", words[0] == "obj_info":
		default:
			err = inputErrorf(ErrFormat, "%s is no line of a PLY header", shortQuote(strings.Join(words, " ")))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the header: %w", number, err)
		}
	}
	return nil, inputErrorf(ErrTruncated, "the header has no end; copy or download the file again")
}

func (f *ply) setFormat(name string) error {
	switch name {
	case "ascii":
		f.text = true
	case "binary_little_endian":
		f.order = binary.LittleEndian
	case "binary_big_endian":
		f.order = binary.BigEndian
	default:
		return inputErrorf(ErrFormat, "unknown format %s; there are ascii, binary_little_endian and binary_big_endian", shortQuote(name))
	}
	return nil
}

func newPLYProperty(words []string) (plyProperty, error) {
	p := plyProperty{name: words[len(words)-1]}
	switch {
	case len(words) == 3:
		p.kind = words[1]
	case len(words) == 5 && words[1] == "list":
		p.count, p.kind = words[2], words[3]
		if plySizes[p.count] == 0 || strings.HasPrefix(p.count, "f") || strings.HasPrefix(p.count, "d") {
			return p, inputErrorf(ErrFormat, "%s is no type for the length of a list", shortQuote(p.count))
		}
	default:
		return p, inputErrorf(ErrFormat, "%s is no property", shortQuote(strings.Join(words, " ")))
	}
	if plySizes[p.kind] == 0 {
		return p, inputErrorf(ErrFormat, "unknown type %s", shortQuote(p.kind))
	}
	return p, nil
}

// readVertices fills m and keeps the rest of the vertices.
func (f *ply) readVertices(m *Matrix, body []byte, at int, e plyElement) (int, error) {
	want := [3]int{-1, -1, -1}
	for k, name := range []string{"x", "y", "z"} {
		for i, p := range e.properties {
			if p.name == name && p.count == "" {
				want[k], f.types[k] = i, p.kind
			}
		}
		switch {
		case want[k] < 0:
			return 0, inputErrorf(ErrShape, "vertices have no property %s", name)
		case !strings.HasPrefix(f.types[k], "float") && f.types[k] != "double":
			return 0, inputErrorf(ErrFormat, "the property %s is of type %s, which cannot hold denoised values; convert it to float or double", name, f.types[k])
		}
	}
	cells := make([][2]int, len(e.properties))
	if err := f.makeRoom(m, e.count, len(body)-at); err != nil {
		return 0, err
	}
	for i := range e.count {
		end, row, err := f.next(body, at, e, cells)
		if err != nil {
			return 0, fmt.Errorf("vertex %d: %w", i, err)
		}
		var c [3][2]int
		for k, p := range want {
			c[k] = cells[p]
			v, err := f.value(row[c[k][0]:c[k][1]], f.types[k])
			if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				err = inputErrorf(ErrNonFinite, "%v is not a finite number; remove the point", v)
			}
			if err != nil {
				return 0, fmt.Errorf("vertex %d (counting from 0), %s: %w", i, "xyz"[k:k+1], err)
			}
			m.Data = append(m.Data, v)
		}
		f.rows, f.cells = append(f.rows, row), append(f.cells, c)
		m.Rows++
		at = end
	}
	return at, nil
}

// makeRoom sets memory aside for the vertices, each of which has at least six
// bytes of the body.
func (f *ply) makeRoom(m *Matrix, count, body int) error {
	const minBytes = 6
	count = min(count, body/minBytes+1)
	if err := checkMemory("vertices of the file", pointBytes*float64(count)); err != nil {
		return err
	}
	f.rows, f.cells = make([][]byte, 0, count), make([][3][2]int, 0, count)
	m.Data = make([]float64, 0, 3*count)
	return nil
}

// next finds the element of a kind that begins at a place, and the cells of its
// properties in it.
func (f *ply) next(body []byte, at int, e plyElement, cells [][2]int) (end int, row []byte, err error) {
	if f.text {
		return f.nextLine(body, at, cells)
	}
	from := at
	for i, p := range e.properties {
		size := plySizes[p.kind]
		if p.count != "" {
			head := plySizes[p.count]
			if len(body)-at < head {
				return 0, nil, errPLYShort()
			}
			size *= int(f.whole(body[at : at+head]))
			if size < 0 {
				return 0, nil, errPLYShort()
			}
			size += head
		}
		if len(body)-at < size {
			return 0, nil, errPLYShort()
		}
		if cells != nil {
			cells[i] = [2]int{at - from, at - from + size}
		}
		at += size
	}
	return at, body[from:at], nil
}

func errPLYShort() error {
	return inputErrorf(ErrTruncated, "the file ends early; copy or download it again")
}

// nextLine takes one line of text for each element. Lists cannot be told from
// other properties by looking at a cell, so that x, y and z must come before them.
func (f *ply) nextLine(body []byte, at int, cells [][2]int) (end int, row []byte, err error) {
	for {
		if at >= len(body) {
			return 0, nil, errPLYShort()
		}
		end = len(body)
		if k := bytes.IndexByte(body[at:], '\n'); k >= 0 {
			end = at + k + 1
		}
		row = body[at:end]
		if len(bytes.TrimSpace(row)) > 0 {
			break
		}
		at = end
	}
	place := 0
	for i := range cells {
		from, to, ok := nextCell(row, place)
		if !ok {
			return 0, nil, inputErrorf(ErrShape, "%d values, expected %d", i, len(cells))
		}
		cells[i], place = [2]int{from, to}, to
	}
	return end, row, nil
}

// whole reads the length of a list.
func (f *ply) whole(b []byte) uint32 {
	switch len(b) {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(f.order.Uint16(b))
	}
	return f.order.Uint32(b)
}

func (f *ply) value(b []byte, kind string) (float64, error) {
	switch {
	case f.text:
		v, k := parseCell(string(b))
		if k == number {
			if plySizes[kind] == 4 {
				return v, fits32(v)
			}
			return v, nil
		}
		if k == special {
			return math.NaN(), nil
		}
		return 0, inputErrorf(ErrFormat, "%s is not a number", shortQuote(string(b)))
	case plySizes[kind] == 4:
		return float64(math.Float32frombits(f.order.Uint32(b))), nil
	}
	return math.Float64frombits(f.order.Uint64(b)), nil
}

func (f *ply) write(w io.Writer, points, more *Matrix) error {
	header := append([]byte(nil), f.header[:f.insert]...)
	replaced, added := f.share(more)
	for _, k := range added {
		header = append(header, "property double "+more.Names[k]+"\n"...)
	}
	header = append(append(header, f.header[f.insert:]...), f.before...)
	if _, err := w.Write(header); err != nil {
		return err
	}
	var out []byte
	for i, row := range f.rows {
		var extra []float64
		for _, k := range added {
			extra = append(extra, more.Row(i)[k])
		}
		var err error
		out, err = f.appendRow(out[:0], row, f.cells[i], points.Row(i))
		if err == nil && len(replaced) > 0 {
			out, err = f.replace(out, replaced, more.Row(i))
		}
		if err != nil {
			return fmt.Errorf("vertex %d: %w", i, err)
		}
		out = f.appendMore(out, extra)
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	_, err := w.Write(f.after)
	return err
}

// appendRow appends a vertex with other coordinates.
func (f *ply) appendRow(out, row []byte, cells [3][2]int, point []float64) ([]byte, error) {
	bits := [3]int{64, 64, 64}
	for k, v := range point {
		if plySizes[f.types[k]] == 4 {
			bits[k] = 32
			if err := fits32(v); err != nil {
				return nil, err
			}
		}
	}
	if f.text {
		return appendMoved(out, row, cells, point, bits), nil
	}
	out = append(out, row...)
	for k, c := range cells {
		if plySizes[f.types[k]] == 4 {
			f.order.PutUint32(out[c[0]:], math.Float32bits(float32(point[k])))
		} else {
			f.order.PutUint64(out[c[0]:], math.Float64bits(point[k]))
		}
	}
	return out, nil
}

// appendMore appends more values to a vertex.
func (f *ply) appendMore(out []byte, more []float64) []byte {
	if len(more) == 0 {
		return out
	}
	if f.text {
		out = bytes.TrimRight(out, "\r\n")
		for _, v := range more {
			out = appendNumber(append(out, ' '), v)
		}
		return append(out, '\n')
	}
	for _, v := range more {
		out = appendOrdered(out, f.order, math.Float64bits(v))
	}
	return out
}

// appendNumber32 gives v the fewest digits that tell it from other floats.
func appendNumber32(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'g', -1, 32) }
