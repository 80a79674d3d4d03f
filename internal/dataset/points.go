package dataset

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Formats of point clouds.
const (
	formatPLY = ".ply"
	formatXYZ = ".xyz"
	formatPCD = ".pcd"
	formatLAS = ".las"
	formatLAZ = ".laz" // in Python only
)

// cloudFormats are those that are read and written.
var cloudFormats = []string{formatPLY, formatXYZ, formatPCD, formatLAS}

// PointCloud is a file of points x, y, z with whatever else it says of them,
// such as colours, normals and faces, which stays as it is when the points move.
type PointCloud struct {
	// Points has one row of three values for each point.
	Points *Matrix
	format string // the extension
	layout layout
}

// layout is the rest of a file of points.
type layout interface {
	// write writes the file with other points, and with more values for each. Values
	// that the file has under the same name are replaced.
	write(w io.Writer, points, more *Matrix) error
	// only is the rest of a file of some of the points, in ascending order.
	only(list []int) (layout, error)
	// normals are the normals that come with the points, n x 3, or nil.
	normals() []float64
}

// normalNames are the columns of normals, in the words of this package and of PLY.
var normalNames = []string{"nx", "ny", "nz"}

// Normals returns the normals that come with the points, n x 3, or nil. A normal that
// is not finite is 0.
func (c *PointCloud) Normals() []float64 {
	n := c.layout.normals()
	for i, v := range n {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			n[i] = 0
		}
	}
	return n
}

// Only returns the cloud of some of the points, whose numbers ascend. It fails with
// ErrShape where the file says more by the numbers of points, such as faces.
func (c *PointCloud) Only(list []int) (*PointCloud, error) {
	l, err := c.layout.only(list)
	if err != nil {
		return nil, err
	}
	return &PointCloud{Points: c.Points.Only(list), format: c.format, layout: l}, nil
}

// Only returns a copy of some of the rows.
func (m *Matrix) Only(list []int) *Matrix {
	some := &Matrix{Rows: len(list), Cols: m.Cols, Names: m.Names, Data: make([]float64, 0, len(list)*m.Cols)}
	for _, i := range list {
		some.Data = append(some.Data, m.Row(i)...)
	}
	return some
}

// CheckKnown refuses a file that is neither a table nor a point cloud by its name. It
// matches ErrFormat.
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

// SameFormat tells whether a file of that name takes over all that the cloud says
// beside the points.
func (c *PointCloud) SameFormat(path string) bool {
	format, _ := cloudFormat(path)
	return c.format == format
}

// IsPointCloud tells by the name of a file whether it holds a point cloud. It may
// end in .gz besides.
func IsPointCloud(path string) bool {
	e, _ := cloudFormat(path)
	return slices.Contains(cloudFormats, e)
}

// cloudFormat returns the extension of a path before .gz, and whether that is
// there.
func cloudFormat(path string) (format string, zipped bool) {
	plain, zipped := strings.CutSuffix(strings.ToLower(path), ".gz")
	return extension(plain), zipped
}

// ReadPointCloud reads a .ply file (ASCII or binary, of any elements, of which
// vertex has x, y and z of type float or double), an .xyz file (lines of x, y, z
// and perhaps more, separated by spaces, tabs, commas or semicolons), a .pcd file
// (ASCII, binary or compressed) or a .las file (1.0 to 1.4, points of format 0 to 10,
// not compressed), any of them compressed by gzip where the name ends in .gz.
//
// Whatever is wrong with the file matches ErrInput.
func ReadPointCloud(path string) (*PointCloud, error) {
	s := &input{name: path, size: -1}
	if err := s.openFile(); err != nil {
		return nil, err
	}
	defer s.Close()
	format, zipped := cloudFormat(path)
	if zipped {
		s.gunzip()
	}
	text, err := readAll(s, s.size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	var c *PointCloud
	switch format {
	case formatPLY:
		c, err = readPLY(text)
	case formatPCD:
		c, err = readPCD(text)
	case formatLAS:
		c, err = readLAS(text)
	default:
		return readXYZ(path, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
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
	rest := cloudLayout(format, like, points)
	return WriteFileAtomic(path, func(w io.Writer) error {
		if !zipped {
			return rest.write(w, points, more)
		}
		z := gzip.NewWriter(w)
		if err := rest.write(z, points, more); err != nil {
			return err
		}
		return z.Close()
	})
}

// cloudLayout is that of a file in a format like another, or of nothing but points.
func cloudLayout(format string, like *PointCloud, points *Matrix) layout {
	if like != nil && like.format == format {
		return like.layout
	}
	switch format {
	case formatPLY:
		return newPLY(points.Rows)
	case formatPCD:
		return newPCD(points.Rows)
	case formatLAS:
		return newLAS(points)
	}
	return newXYZ(points.Rows)
}

// CheckTableOrCloud is CheckOutput for what is written as a table or a point cloud.
func CheckTableOrCloud(path string) error {
	if path == "-" {
		return nil
	}
	return CheckOutput(path, slices.Concat(outputFormats, cloudFormats)...)
}

// CheckPointCloud tells before a long computation whether WritePointCloud can
// make path. It matches ErrInput.
func CheckPointCloud(path string) error {
	if !IsPointCloud(path) {
		return CheckOutput(path, cloudFormats...)
	}
	return CheckPlace(path)
}

// xyz is the lines of a file of points.
type xyz struct {
	lines [][]byte
	point []int       // number of the line of every point
	cells [][3][2]int // where its numbers begin and end
}

func newXYZ(n int) *xyz {
	f := &xyz{}
	for i := range n {
		f.lines = append(f.lines, []byte("0 0 0\n"))
		f.point = append(f.point, i)
		f.cells = append(f.cells, [3][2]int{{0, 1}, {2, 3}, {4, 5}})
	}
	return f
}

const xyzSeparators = " \t,;\r\n"

// pointBytes is what a point of a file takes beside its text: its numbers, where
// its line is, and where they are in it.
const pointBytes = 8*3 + 24 + 8 + 8*6

// readXYZ takes lines that begin with # or are blank for comments.
func readXYZ(path string, text []byte) (*PointCloud, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, inputErrorf(ErrFormat, "%s: is not text: %s", path, resemblance(text[:min(8, len(text))]))
	}
	m := &Matrix{Cols: 3, Names: []string{"x", "y", "z"}}
	count := bytes.Count(text, []byte{'\n'}) + 1
	if err := checkMemory(path+": its points", pointBytes*float64(count)); err != nil {
		return nil, err
	}
	f := &xyz{lines: make([][]byte, 0, count), point: make([]int, 0, count), cells: make([][3][2]int, 0, count)}
	m.Data = make([]float64, 0, 3*count)
	for line := range bytes.Lines(text) {
		f.lines = append(f.lines, line)
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		var cells [3][2]int
		at := 0
		for k := range cells {
			from, to, ok := nextCell(line, at)
			if !ok {
				return nil, inputErrorf(ErrShape, "%s:%d: %d values, want at least 3: x, y and z", path, len(f.lines), k)
			}
			v, kind := parseCell(string(line[from:to]))
			if kind != number {
				return nil, cellError(fmt.Sprintf("%s:%d:%d", path, len(f.lines), k+1), string(line[from:to]), kind)
			}
			m.Data = append(m.Data, v)
			cells[k], at = [2]int{from, to}, to
		}
		f.point, f.cells = append(f.point, len(f.lines)-1), append(f.cells, cells)
		m.Rows++
	}
	if m.Rows == 0 {
		return nil, inputErrorf(ErrShape, "%s: holds no points", path)
	}
	return &PointCloud{Points: m, format: formatXYZ, layout: f}, nil
}

// nextCell finds the first cell of a line from a place on.
func nextCell(line []byte, at int) (from, to int, ok bool) {
	for at < len(line) && strings.IndexByte(xyzSeparators, line[at]) >= 0 {
		at++
	}
	from = at
	for at < len(line) && strings.IndexByte(xyzSeparators, line[at]) < 0 {
		at++
	}
	return from, at, at > from
}

// only leaves out the lines of the other points.
func (f *xyz) only(list []int) (layout, error) {
	some := &xyz{}
	next, at := 0, 0
	for number, line := range f.lines {
		if next == len(f.point) || f.point[next] != number {
			some.lines = append(some.lines, line)
			continue
		}
		if at < len(list) && list[at] == next {
			some.point, some.cells = append(some.point, len(some.lines)), append(some.cells, f.cells[next])
			some.lines = append(some.lines, line)
			at++
		}
		next++
	}
	return some, nil
}

// normals are none: what follows the coordinates has no names.
func (f *xyz) normals() []float64 { return nil }

func (f *xyz) write(w io.Writer, points, more *Matrix) error {
	var out []byte
	next := 0
	for number, line := range f.lines {
		out = out[:0]
		if next == len(f.point) || f.point[next] != number {
			out = append(out, line...)
		} else {
			out = appendMoved(out, line, f.cells[next], points.Row(next), [3]int{64, 64, 64})
			if more != nil {
				body := len(bytes.TrimRight(out, "\r\n"))
				ending := append([]byte(nil), out[body:]...)
				out = out[:body]
				for _, v := range more.Row(next) {
					out = appendNumber(append(out, ' '), v)
				}
				out = append(out, ending...)
			}
			next++
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// appendMoved appends a line with other numbers in three cells, which may be in
// any order, of floats with so many bits. A cell that has the number already keeps
// its digits, which may be more than such a float tells apart.
func appendMoved(out, line []byte, cells [3][2]int, point []float64, bits [3]int) []byte {
	at := 0
	for range cells {
		k := -1
		for i, c := range cells { // the next one from here on
			if c[0] >= at && (k < 0 || c[0] < cells[k][0]) {
				k = i
			}
		}
		out = append(out, line[at:cells[k][0]]...)
		v, cell := point[k], line[cells[k][0]:cells[k][1]]
		switch old, kind := parseCell(string(cell)); {
		case kind == number && old == v && math.Signbit(old) == math.Signbit(v):
			out = append(out, cell...)
		case bits[k] == 32:
			out = appendNumber32(out, v)
		default:
			out = appendNumber(out, v)
		}
		at = cells[k][1]
	}
	return append(out, line[at:]...)
}

// fits32 refuses what a float cannot hold.
func fits32(v float64) error {
	if math.IsInf(float64(float32(v)), 0) {
		return inputErrorf(ErrNonFinite, "%v is too large for the type float of the file", v)
	}
	return nil
}
