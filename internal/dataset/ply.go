package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ply is the header of a file in the Stanford polygon format, and the elements before the
// vertices. The header names elements and their properties.
//
// Source: G. Turk, The PLY Polygon File Format (1994).
type ply struct {
	lines      [][]byte // lines of the header, including end_header
	elements   []plyElement
	vertex     int    // index of the vertices among the elements
	properties []int  // lines of the header that hold vertex properties
	before     []byte // elements before the vertices
	seen       map[string]bool
}

type plyElement struct {
	record
	name        string
	count, line int
}

// plyTypes maps the names of types, two for each, to the types.
var plyTypes = map[string]numeric{
	"char": {'I', 1}, "short": {'I', 2}, "int": {'I', 4}, "uchar": {'U', 1}, "ushort": {'U', 2}, "uint": {'U', 4},
	"int8": {'I', 1}, "int16": {'I', 2}, "int32": {'I', 4}, "uint8": {'U', 1}, "uint16": {'U', 2}, "uint32": {'U', 4},
	"float": {'F', 4}, "float32": {'F', 4}, "double": {'F', 8}, "float64": {'F', 8},
}

var plyOrders = map[string]byteOrder{"ascii": nil, "binary_little_endian": binary.LittleEndian, "binary_big_endian": binary.BigEndian}

// newPLY returns the header of a binary file with n points and nothing else.
func newPLY(n int) *ply {
	h := &ply{elements: []plyElement{{line: 2}}, properties: []int{3, 4, 5}}
	h.lines = bytes.SplitAfter(fmt.Appendf(nil, "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\nend_header\n", n), []byte{'\n'})
	return h
}

func (c *PointCloud) readPLY(text []byte) error {
	h := &ply{vertex: -1, seen: map[string]bool{}}
	begin, err := h.read(text)
	if err != nil {
		return err
	}
	if h.vertex < 0 {
		return inputErrorf(ErrShape, "has no element vertex")
	}
	c.header, c.record = h, h.elements[h.vertex].record
	rest := text[begin:]
	if c.order == nil {
		if err := checkText(rest); err != nil {
			return err
		}
	}
	for k, e := range h.elements {
		if k == h.vertex {
			h.before = text[begin : len(text)-len(rest)]
			if rest, err = c.take(rest, e.count, e.name); err != nil {
				return err
			}
			c.after = rest
			continue
		}
		if e.count > 0 && e.name != "camera" {
			c.numbered = append(c.numbered, e.name)
		}
		cells, end := make([][2]int, len(e.fields)), 0
		for i := range e.count {
			if end, _, err = e.split(rest, end, cells); err != nil {
				return fmt.Errorf("%s %d: %w", e.name, i, err)
			}
		}
		rest = rest[end:]
	}
	if c.order == nil {
		rest = bytes.TrimSpace(rest)
	}
	return checkRest(rest)
}

// read reads the header up to end_header, and returns where the header ends. All lines
// must have the same line ending as the first.
func (h *ply) read(text []byte) (end int, err error) {
	ending, found := "\n", bytes.HasPrefix(text, []byte("ply\n"))
	switch {
	case found:
	case bytes.HasPrefix(text, []byte("ply\r\n")):
		ending = "\r\n"
	case bytes.HasPrefix(text, []byte("ply\r")):
		return 0, errCR()
	default:
		return 0, inputErrorf(ErrFormat, "is not a PLY file: %s", resemblance(text[:min(8, len(text))]))
	}
	format := ""
	for line := range bytes.Lines(text) {
		end += len(line)
		h.lines = append(h.lines, line)
		content, ended := strings.CutSuffix(string(line[:min(len(line), 1<<16)]), ending)
		if !ended || strings.ContainsFunc(content, func(c rune) bool { return c < ' ' && c != '\t' || c > '~' }) {
			return 0, inputErrorf(ErrFormat, "line %d of the header is not ASCII text that ends as the first line does; mend it", len(h.lines))
		}
		if content == "end_header" {
			if format == "" {
				return 0, inputErrorf(ErrFormat, "the header names no format")
			}
			return end, nil
		}
		if err := h.readLine(strings.Fields(content), &format, len(text)); err != nil {
			return 0, fmt.Errorf("line %d of the header: %w", len(h.lines), err)
		}
	}
	return 0, inputErrorf(ErrTruncated, "the header has no end; copy or download the file again")
}

// readLine processes the words of a header line; size is the size of the file.
func (h *ply) readLine(words []string, format *string, size int) error {
	last := len(h.elements) - 1
	switch {
	case len(h.lines) == 1, len(words) > 0 && (words[0] == "comment" || words[0] == "obj_info"):
		return nil
	case len(words) == 0:
	case words[0] == "format" && len(words) == 3 && *format == "":
		*format = words[1]
		if _, known := plyOrders[*format]; !known || words[2] != "1.0" {
			return inputErrorf(ErrFormat, "unknown format %s; there are ascii, binary_little_endian and binary_big_endian 1.0", shortQuote(strings.Join(words[1:], " ")))
		}
		return nil
	case *format == "":
	case words[0] == "element" && len(words) == 3:
		return h.addElement(words[1], words[2], plyOrders[*format], size)
	case words[0] == "property" && last >= 0:
		return h.addProperty(&h.elements[last], words)
	}
	return inputErrorf(ErrFormat, "%s is no line of a PLY header, or not here", shortQuote(strings.Join(words, " ")))
}

func (h *ply) addElement(name, count string, order byteOrder, size int) error {
	n, bad := strconv.Atoi(count)
	if bad != nil || n < 0 || n > size {
		return inputErrorf(ErrFormat, "%s elements in %d bytes", shortQuote(count), size)
	}
	if name == "vertex" {
		h.vertex = len(h.elements)
	}
	h.elements = append(h.elements, plyElement{name: name, count: n, line: len(h.lines) - 1, record: record{order: order}})
	return h.once("element", name)
}

// once returns an error if an element or property of this name already exists.
func (h *ply) once(kind, name string) error {
	if h.seen[name] {
		return inputErrorf(ErrFormat, "a second %s %s; keep one of them", kind, shortQuote(name))
	}
	h.seen[name] = true
	return nil
}

func (h *ply) addProperty(e *plyElement, words []string) error {
	f := field{name: words[len(words)-1], count: 1}
	switch {
	case len(words) == 3:
		f.numeric = plyTypes[words[1]]
	case len(words) == 5 && words[1] == "list":
		f.length, f.numeric = plyTypes[words[2]], plyTypes[words[3]]
	}
	if f.size == 0 || len(words) == 5 && (f.length.size == 0 || f.length.kind == 'F') {
		return inputErrorf(ErrFormat, "%s is no property of a type that is known", shortQuote(strings.Join(words, " ")))
	}
	e.fields = append(e.fields, f)
	if e.name == "vertex" {
		h.properties = append(h.properties, len(h.lines)-1)
	}
	return h.once("property", e.name+" "+f.name)
}

func (h *ply) head(c *PointCloud, fields []field, points *Matrix) ([]byte, error) {
	lines, at := slices.Clone(h.lines), h.elements[h.vertex].line
	ending := lines[0][len("ply"):]
	lines[at] = fmt.Appendf(nil, "element vertex %d%s", points.Rows, ending)
	for i, f := range fields {
		property := fmt.Appendf(nil, "property double %s%s", f.name, ending)
		if i >= len(c.fields) {
			lines[at] = append(slices.Clip(lines[at]), property...)
		} else if at = h.properties[i]; f != c.fields[i] {
			lines[at] = property
		}
	}
	return append(bytes.Join(lines, nil), h.before...), nil
}
