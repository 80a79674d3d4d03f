package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Formats of point clouds.
const (
	formatPLY = ".ply"
	formatXYZ = ".xyz"
	formatPCD = ".pcd"
	formatLAS = ".las"
	formatLAZ = ".laz" // supported in Python only
)

// cloudFormats are the formats that Go code reads and writes.
var cloudFormats = []string{formatPLY, formatXYZ, formatPCD, formatLAS}

// PointCloud is a file of points x, y, z and other data, such as colours, normals and
// faces. The other data do not change when the points do.
type PointCloud struct {
	// Points has one row of three values for each point. Coordinates that are not finite are
	// NaN.
	Points *Matrix

	record
	format string // the file extension
	header header
	body   []byte // the points as bytes of the file, one after the other
	ends   []int  // end offset of each point in body
	after  []byte // bytes after the points
	// numbered are the names of elements, such as faces, that refer to points by their indices.
	numbered []string
	// gaps accepts coordinates that are not finite, such as those of invalid pixels.
	gaps bool
}

// header is the part of a file before the points.
type header interface {
	// head returns the header for points with these fields.
	head(c *PointCloud, fields []field, points *Matrix) ([]byte, error)
}

// axes are the field names of the coordinates.
var axes = []string{"x", "y", "z"}

// normalNames are the column names of normals in this package and in PLY.
var normalNames = []string{"nx", "ny", "nz"}

// names converts column names to those of the file format.
func (c *PointCloud) names(columns []string) []string {
	out := slices.Clone(columns)
	for k, name := range out {
		if other, ok := pcdNames[name]; ok && c.format == formatPCD {
			out[k] = other
		}
	}
	return out
}

// Normals returns the normals of the file, n x 3, or nil if it has none. A normal that is
// not finite becomes 0.
func (c *PointCloud) Normals() []float64 {
	var at []int
	for _, name := range c.names(normalNames) {
		i := c.index(name)
		if i < 0 || c.fields[i].kind != 'F' { // which cannot hold a unit vector
			return nil
		}
		at = append(at, i)
	}
	out := make([]float64, 0, 3*len(c.ends))
	cells := make([][2]int, len(c.fields))
	for i := range c.ends {
		row := c.row(i, cells)
		for _, p := range at {
			v := c.value(c.fields[p], row[cells[p][0]:cells[p][1]])
			if v-v != 0 {
				v = 0
			}
			out = append(out, v)
		}
	}
	return out
}

// row returns the bytes of point i, and sets cells to the places of its fields.
func (c *PointCloud) row(i int, cells [][2]int) []byte {
	begin := 0
	if i > 0 {
		begin = c.ends[i-1]
	}
	row := c.body[begin:c.ends[i]]
	_, _, _ = c.split(row, 0, cells) // as take did
	return row
}

// pointBytes is the memory of a point without the bytes of the file: its three numbers and
// its end offset.
const pointBytes = 8*3 + 8

// take reads count points from the start of body, or all if count is negative, and returns
// the bytes after them. name is the name of a point in messages.
func (c *PointCloud) take(body []byte, count int, name string) (rest []byte, err error) {
	var at [3]int
	for k, axis := range axes {
		if at[k] = c.index(axis); at[k] < 0 {
			return nil, inputErrorf(ErrShape, "points have no number %s", axis)
		}
		if f := c.fields[at[k]]; f.kind != 'F' && f.scale == 0 {
			return nil, inputErrorf(ErrFormat, "%s is of type %s, which cannot hold denoised values; convert it to float or double", axis, f)
		}
	}
	all := count < 0
	if all {
		count = bytes.Count(body, []byte{'\n'}) + 1
	}
	const leastBytes = 3
	count, room := max(count, 0), min(count, len(body)/leastBytes+1)
	if err := checkMemory("points of the file", pointBytes*float64(room)); err != nil {
		return nil, err
	}
	c.ends, c.body = make([]int, 0, room), body
	c.Points = &Matrix{Cols: 3, Names: axes, Data: make([]float64, 0, 3*room)}
	cells := make([][2]int, len(c.fields))
	begin, missing := 0, 0
	for i := 0; i < count && !(all && begin == len(body)); i++ {
		end, wrong, err := c.split(body, begin, cells)
		var point [3]float64
		for k := 0; k < 3 && err == nil; k++ {
			cell := cells[at[k]]
			v := c.value(c.fields[at[k]], body[begin+cell[0]:begin+cell[1]])
			if point[k] = v; v-v != 0 && !c.gaps {
				wrong, err = at[k], cellFault(strconv.FormatFloat(v, 'g', -1, 64), special)
			}
		}
		if err != nil {
			return nil, c.fault(err, name, begin, wrong)
		}
		if sum := point[0] - point[0] + point[1] - point[1] + point[2] - point[2]; sum != 0 {
			point = [3]float64{sum, sum, sum}
			missing++
		}
		c.Points.Data = append(c.Points.Data, point[:]...)
		c.ends, begin = append(c.ends, end), end
	}
	if c.Points.Rows = len(c.ends); missing == c.Points.Rows {
		return nil, inputErrorf(ErrShape, "holds no points")
	}
	c.body, c.known = body[:begin], true
	return body[begin:], nil
}

// fault adds the place to an error about the point that begins at offset begin: the number
// of the point, or in text the number of its line.
func (c *PointCloud) fault(err error, name string, begin, at int) error {
	if before, table := c.header.(xyz); table {
		blank := len(c.body[begin:]) - len(bytes.TrimLeft(c.body[begin:], " \t\r\n"))
		line := 1 + bytes.Count(before, []byte{'\n'}) + bytes.Count(c.body[:begin+blank], []byte{'\n'})
		if name = fmt.Sprintf("%s:%d", name, line); at >= 0 {
			name = fmt.Sprintf("%s:%d", name, at+1)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	if at >= 0 {
		return fmt.Errorf("%s %d (counting from 0), %s: %w", name, len(c.ends), c.fields[at].name, err)
	}
	return fmt.Errorf("%s %d: %w", name, len(c.ends), err)
}

// Only returns a cloud of the listed points, in ascending order. It fails with ErrShape if
// other elements of the file, such as faces, refer to points by their indices.
func (c *PointCloud) Only(list []int) (*PointCloud, error) {
	if len(c.numbered) > 0 {
		return nil, inputErrorf(ErrShape, "the elements %s name vertices by their numbers, which change where some are dropped; write .xyz, or keep all and sort by their score", shortList(c.numbered))
	}
	some := *c
	some.Points, some.body, some.ends = c.Points.Only(list), nil, nil
	cells := make([][2]int, len(c.fields))
	for _, i := range list {
		some.body = append(some.body, c.row(i, cells)...)
		some.ends = append(some.ends, len(some.body))
	}
	return &some, nil
}

// write writes the file with new points and, if more is not nil, more values for each
// point.
func (c *PointCloud) write(w io.Writer, points, more *Matrix) error {
	columns := axes
	if more != nil {
		columns = slices.Concat(axes, c.names(more.Names))
	}
	fields, from := c.place(columns)
	head, err := c.header.head(c, fields, points)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	var out []byte
	values := make([]float64, len(columns))
	cells := make([][2]int, len(c.fields))
	for i := range c.ends {
		copy(values, points.Row(i))
		if more != nil {
			copy(values[3:], more.Row(i))
		}
		if out, err = c.appendChanged(out[:0], c.row(i, cells), cells, fields, from, values); err != nil {
			return fmt.Errorf("point %d (counting from 0): %w", i, err)
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	_, err = w.Write(c.after)
	return err
}

// CheckKnown returns an error, which matches ErrFormat, unless the extension of path is
// that of a table or a point cloud.
func CheckKnown(path string) error {
	format, _ := cloudFormat(path)
	name, _ := splitKey(path)
	plain := strings.TrimSuffix(strings.ToLower(name), ".gz")
	switch {
	case format == formatLAZ:
		return inputErrorf(ErrFormat, "%s: is compressed (LAZ); uncompress it to .las with laszip, or read it in Python with scqm.datasets.read_las and laspy", path)
	case path == "-", slices.Contains(cloudFormats, format), slices.Contains(formats, extension(plain)), strings.HasSuffix(plain, "-ubyte"):
		return nil
	}
	return inputErrorf(ErrFormat, "%s: unknown format; the name must end in %s or -ubyte, or for a point cloud in %s, possibly with .gz",
		path, strings.Join(formats, ", "), strings.Join(cloudFormats, ", "))
}

// SameFormat reports whether a file of this name has the format of the cloud, so that it
// can keep all data besides the points.
func (c *PointCloud) SameFormat(path string) bool {
	format, _ := cloudFormat(path)
	return c.format == format
}

// IsPointCloud reports whether the extension of path is that of a point cloud, with or
// without a final .gz.
func IsPointCloud(path string) bool {
	e, _ := cloudFormat(path)
	return slices.Contains(cloudFormats, e)
}

// cloudFormat returns the extension of path without a final .gz, and whether it ends in
// .gz.
func cloudFormat(path string) (format string, zipped bool) {
	plain, zipped := strings.CutSuffix(strings.ToLower(path), ".gz")
	return extension(plain), zipped
}

// ReadPointCloud reads a .ply file (ASCII or binary, of any elements, of which
// vertex has x, y and z of type float or double), an .xyz file (lines of x, y, z
// and perhaps more, separated throughout by blanks, commas or semicolons), a .pcd file
// (ASCII, binary or compressed) or a .las file (1.0 to 1.4, points of format 0 to 10,
// not compressed), any of them compressed by gzip where the name ends in .gz.
// Points that are not finite are accepted in an organised .pcd file, as invalid pixels,
// and elsewhere if gaps is set.
//
// Every error about the content of the file matches ErrInput.
func ReadPointCloud(path string, gaps bool) (*PointCloud, error) {
	s := &input{name: path, size: -1}
	if err := s.openFile(); err != nil {
		return nil, err
	}
	defer s.Close()
	if _, zipped := cloudFormat(path); zipped {
		s.gunzip()
	}
	text, err := readAll(s, s.size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	return parseCloud(path, text, gaps)
}

func parseCloud(path string, text []byte, gaps bool) (c *PointCloud, err error) {
	c = &PointCloud{gaps: gaps}
	c.format, _ = cloudFormat(path)
	switch c.format {
	case formatPLY:
		err = c.readPLY(text)
	case formatPCD:
		err = c.readPCD(text)
	case formatLAS:
		err = c.readLAS(text)
	default:
		return c, c.readXYZ(path, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// checkRest returns an error if bytes follow the last element that the header declares.
func checkRest(rest []byte) error {
	if len(rest) > 0 {
		return inputErrorf(ErrShape, "%d bytes follow that its header does not count; correct the counts, or copy or download the file again", len(rest))
	}
	return nil
}

// WritePointCloud writes points of three columns to a .ply, .xyz, .pcd or .las file,
// compressed where the name ends in .gz, which appears whole or not at all. Of like,
// if it is not nil and was read from a file of the same format, everything but the
// points is taken over; coordinates of a .las file are rounded to its steps. The
// columns of more, if it is not nil, are added to the values of each point under
// their names, or take the place of those that have the same.
func WritePointCloud(path string, like *PointCloud, points, more *Matrix) error {
	if points.Cols != 3 {
		return inputErrorf(ErrShape, "%s: a point cloud has three columns, these rows have %d", path, points.Cols)
	}
	format, zipped := cloudFormat(path)
	if like == nil || like.format != format {
		like = newCloud(format, points)
	}
	return WriteFileAtomic(path, func(w io.Writer) error {
		if !zipped {
			return like.write(w, points, more)
		}
		z := gzip.NewWriter(w)
		if err := like.write(z, points, more); err != nil {
			return err
		}
		return z.Close()
	})
}

// axisFields returns the fields of points that only have coordinates.
func axisFields() (fields []field) {
	for _, axis := range axes {
		fields = append(fields, field{name: axis, numeric: float64s, count: 1})
	}
	return fields
}

// newCloud returns a cloud with only points, in a format.
func newCloud(format string, points *Matrix) *PointCloud {
	c := &PointCloud{format: format, record: record{fields: axisFields(), order: binary.LittleEndian}}
	point := make([]byte, len(axes)*float64s.size)
	switch format {
	case formatPLY:
		c.header = newPLY(points.Rows)
	case formatPCD:
		c.header = newPCD()
	case formatLAS:
		point = c.newLAS(points)
	default:
		c.order, c.open, c.header, point = nil, true, xyz(nil), []byte("0 0 0\n")
	}
	c.body = bytes.Repeat(point, points.Rows)
	for i := range points.Rows {
		c.ends = append(c.ends, (i+1)*len(point))
	}
	return c
}

// CheckTableOrCloud is CheckOutput for a file that is a table or a point cloud.
func CheckTableOrCloud(path string) error {
	switch {
	case path == "-":
		return nil
	case IsPointCloud(path):
		return CheckPlace(path)
	}
	return CheckOutput(path, slices.Concat(outputFormats, cloudFormats)...)
}

// xyz is the header of a text table of points: the comment lines at its start.
type xyz []byte

func (h xyz) head(*PointCloud, []field, *Matrix) ([]byte, error) { return h, nil }

// readXYZ reads a text table. The separator of its first line holds for all lines.
func (c *PointCloud) readXYZ(path string, text []byte) error {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if err := checkText(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.open, c.fields = true, axisFields()
	begin, end := 0, len(bytes.TrimRight(text, " \t\r\n"))
	var first []byte
	for line := range bytes.Lines(text[:end]) {
		if !isComment(line) {
			first = line
			break
		}
		begin += len(line)
	}
	if c.comma = separator(first, ";,"); c.comma == ',' && decimalCommas.Match(first) {
		c.comma = 0
	}
	if k := bytes.IndexByte(text[begin:end], ','); k >= 0 && c.comma == 0 {
		return inputErrorf(ErrFormat, "%s:%d: a comma beside blanks is a decimal comma; write points", path, 1+bytes.Count(text[:begin+k], []byte{'\n'}))
	}
	if begin == end {
		return inputErrorf(ErrShape, "%s: holds no points", path)
	}
	end += len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t\r"))
	if end < len(text) { // '\n'
		end++
	}
	c.header, c.after = xyz(text[:begin]), text[end:]
	_, err := c.take(text[begin:end], -1, path)
	return err
}

// decimalCommas matches blanks between numbers: a line with them uses commas as decimal points.
var decimalCommas = regexp.MustCompile(`\d[ \t]+[-+.\d]`)

// separator returns the first of the given characters that occurs in line, 0 if none does.
func separator(line []byte, characters string) byte {
	for i := range len(characters) {
		if bytes.IndexByte(line, characters[i]) >= 0 {
			return characters[i]
		}
	}
	return 0
}

// isComment reports whether a line before the first row is blank or a comment. #N/A is not
// a comment but a missing value.
func isComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#' && !bytes.HasPrefix(bytes.ToUpper(line[:min(4, len(line))]), []byte("#N/A"))
}

// checkText returns an error for bytes that are not text, and for lines that end in CR without LF.
func checkText(text []byte) error {
	switch cr := []byte{'\r'}; {
	case bytes.IndexByte(text, 0) >= 0:
		return inputErrorf(ErrFormat, "is not text: %s", resemblance(text[:min(8, len(text))]))
	case bytes.Count(text, cr) != bytes.Count(text, []byte("\r\n")):
		return errCR()
	}
	return nil
}

func errCR() error {
	return inputErrorf(ErrFormat, "has lines that end in CR alone, as old systems write them; convert them to LF")
}
