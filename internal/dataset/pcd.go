package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pcd is the header of a file of the Point Cloud Library, which names the fields of a
// point. The points follow as text, binary, or compressed field by field. Compressed files
// are rewritten as binary.
//
// Source: the documentation of PCL, The PCD (Point Cloud Data) file format, 0.7.
type pcd struct {
	width, height     int
	viewpoint, ending string
}

// pcdNames maps column names of this package to those of the PCD format, where they differ.
var pcdNames = map[string]string{"nx": "normal_x", "ny": "normal_y", "nz": "normal_z"}

func newPCD() *pcd { return &pcd{viewpoint: "0 0 0 1 0 0 0", ending: "\n"} }

func (c *PointCloud) readPCD(text []byte) error {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	h := newPCD()
	entries, body, err := readPCDHeader(text)
	if err != nil {
		return err
	}
	points, err := h.settle(entries, len(text))
	if err == nil {
		c.fields, err = pcdFields(slices.Concat(entries["FIELDS"], entries["COLUMNS"]), entries)
	}
	if err != nil {
		return err
	}
	c.header, c.gaps = h, c.gaps || h.height > 1
	if bytes.HasSuffix(text[:len(text)-len(body)], []byte("\r\n")) {
		h.ending = "\r\n"
	}
	switch data := strings.Join(entries["DATA"], " "); data {
	case "ascii":
		err = checkText(body)
	case "binary":
		c.order = binary.LittleEndian
	case "binary_compressed":
		c.order = binary.LittleEndian
		body, err = c.unpack(body, points)
	default:
		err = inputErrorf(ErrFormat, "unknown DATA %s; there are ascii, binary and binary_compressed", shortQuote(data))
	}
	if err != nil {
		return err
	}
	rest, err := c.take(body, points, "point")
	if err != nil {
		return err
	}
	if c.order == nil {
		rest = bytes.TrimSpace(rest)
	}
	return checkRest(rest)
}

// readPCDHeader reads the header up to and with the line DATA.
func readPCDHeader(text []byte) (entries map[string][]string, body []byte, err error) {
	entries = map[string][]string{}
	at, number := 0, 0
	for line := range bytes.Lines(text) {
		number++
		at += len(line)
		if len(line) > 1<<16 || bytes.IndexByte(line, 0) >= 0 {
			break
		}
		if bytes.IndexByte(bytes.TrimRight(line, "\r\n"), '\r') >= 0 {
			return nil, nil, errCR()
		}
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "VERSION", "FIELDS", "COLUMNS", "SIZE", "TYPE", "COUNT", "WIDTH", "HEIGHT", "VIEWPOINT", "POINTS", "DATA":
		default:
			return nil, nil, inputErrorf(ErrFormat, "line %d of the header: %s is no line of a PCD header", number, shortQuote(strings.Join(words, " ")))
		}
		if entries[words[0]] != nil {
			return nil, nil, inputErrorf(ErrFormat, "line %d of the header: a second %s; keep one of them", number, words[0])
		}
		if entries[words[0]] = words[1:]; words[0] == "DATA" {
			return entries, text[at:], nil
		}
	}
	return nil, nil, inputErrorf(ErrTruncated, "the header has no line DATA; is it a PCD file, and whole?")
}

// settle sets the number of points from the header of a file of size bytes.
func (h *pcd) settle(entries map[string][]string, size int) (points int, err error) {
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
	h.width, h.height = number("WIDTH", -1), number("HEIGHT", 1)
	points = number("POINTS", -1)
	if err != nil {
		return 0, err
	}
	switch {
	case points < 0 && h.width < 0:
		return 0, inputErrorf(ErrFormat, "the header has neither POINTS nor WIDTH")
	case points < 0:
		points = h.width * h.height
	case h.width < 0:
		h.width, h.height = points, 1
	}
	if points != h.width*h.height {
		return 0, inputErrorf(ErrShape, "POINTS is %d, WIDTH times HEIGHT is %d x %d", points, h.width, h.height)
	}
	if v, given := entries["VIEWPOINT"]; given {
		h.viewpoint = strings.Join(v, " ")
		for _, s := range v {
			if _, err := float64s.parse([]byte(s)); err != nil || len(v) != 7 {
				return 0, inputErrorf(ErrFormat, "VIEWPOINT %s is not 7 numbers", shortQuote(h.viewpoint))
			}
		}
	}
	return points, nil
}

// pcdFields returns the fields of a point. Fields of COUNT 0 have no values.
func pcdFields(names []string, entries map[string][]string) (fields []field, err error) {
	sizes, kinds, counts := entries["SIZE"], entries["TYPE"], entries["COUNT"]
	if len(names) == 0 || len(sizes) != len(names) || len(kinds) != len(names) || counts != nil && len(counts) != len(names) {
		return nil, inputErrorf(ErrFormat, "the header has %d FIELDS, %d of SIZE, %d of TYPE and %d of COUNT", len(names), len(sizes), len(kinds), len(counts))
	}
	stride := 0
	for k, name := range names {
		if strings.ContainsFunc(name, func(c rune) bool { return c == ',' || c > '~' }) {
			return nil, inputErrorf(ErrFormat, "%s in FIELDS is not ASCII text between blanks", shortQuote(name))
		}
		f := field{name: name, count: 1}
		var bad, worse error
		f.size, bad = strconv.Atoi(sizes[k])
		f.kind = kinds[k][0]
		if counts != nil {
			f.count, worse = strconv.Atoi(counts[k])
		}
		known := strings.Contains("F4 F8 I1 I2 I4 I8 U1 U2 U4 U8", kinds[k]+sizes[k]) && len(kinds[k]+sizes[k]) == 2
		if bad != nil || worse != nil || !known || f.count < 0 || f.count > 1<<20 {
			return nil, inputErrorf(ErrFormat, "the field %s has SIZE %s, TYPE %s and COUNT %d; want F of 4 or 8 bytes, or I or U of 1, 2, 4 or 8", shortQuote(name), shortQuote(sizes[k]), shortQuote(kinds[k]), f.count)
		}
		if f.count > 0 {
			fields = append(fields, f)
		}
		if stride += f.bytes(); stride > 1<<24 {
			return nil, inputErrorf(ErrFormat, "a point of %d bytes", stride)
		}
	}
	return fields, nil
}

// unpack decompresses points that are stored field by field, to points one after the
// other. The compressed size equals the original size if the data are stored uncompressed.
func (c *PointCloud) unpack(body []byte, points int) ([]byte, error) {
	const sizes = 8
	if len(body) < sizes {
		return nil, errEnds()
	}
	packed, size := int(binary.LittleEndian.Uint32(body)), int(binary.LittleEndian.Uint32(body[4:]))
	body = body[sizes:]
	stride := 0
	for _, f := range c.fields {
		stride += f.bytes()
	}
	switch {
	case packed > len(body):
		return nil, inputErrorf(ErrTruncated, "the file ends early, %d of %d compressed bytes are there; copy or download it again", len(body), packed)
	case size != stride*points:
		return nil, inputErrorf(ErrShape, "%d bytes of data do not make %d points of %d bytes", size, points, stride)
	case size > lzfRatio*packed+lzfRatio:
		return nil, inputErrorf(ErrFormat, "%d compressed bytes cannot hold %d", packed, size)
	}
	if err := checkRest(body[packed:]); err != nil {
		return nil, err
	}
	if err := checkMemory("points of the file", 2*float64(size)); err != nil {
		return nil, err
	}
	columns, ok := appendLZF(make([]byte, 0, size), body[:packed])
	if ok = ok && len(columns) == size; !ok && packed == size {
		columns, ok = body[:packed], true
	}
	if !ok {
		return nil, inputErrorf(ErrFormat, "the compressed data is damaged; copy or download the file again")
	}
	rows, at := make([]byte, size), 0
	for _, f := range c.fields {
		width := f.bytes()
		for i := range points {
			copy(rows[i*stride+at:], columns[at*points+i*width:at*points+(i+1)*width])
		}
		at += width
	}
	return rows, nil
}

func (h *pcd) head(c *PointCloud, fields []field, points *Matrix) ([]byte, error) {
	width, height, data := h.width, h.height, "binary"
	if points.Rows != width*height {
		width, height = points.Rows, 1
	}
	if c.order == nil {
		data = "ascii"
	}
	var names, sizes, kinds, counts strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&names, " %s", f.name)
		fmt.Fprintf(&sizes, " %d", f.size)
		fmt.Fprintf(&kinds, " %c", f.kind)
		fmt.Fprintf(&counts, " %d", f.count)
	}
	text := fmt.Sprintf("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS%s\nSIZE%s\nTYPE%s\nCOUNT%s\nWIDTH %d\nHEIGHT %d\nVIEWPOINT %s\nPOINTS %d\nDATA %s\n",
		names.String(), sizes.String(), kinds.String(), counts.String(), width, height, h.viewpoint, points.Rows, data)
	return []byte(strings.ReplaceAll(text, "\n", h.ending)), nil
}
