package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// lasFile is a file of four points in a format, with so many extra bytes, which
// a record describes or not.
func lasFile(minor, format, extra int, described bool) []byte {
	order := binary.LittleEndian
	size := map[bool]int{true: lasHeader}[minor < 3]
	switch minor {
	case 3:
		size = lasHeader3
	case 4:
		size = lasHeader4
	}
	h := make([]byte, size)
	copy(h, "LASF")
	h[lasVersion], h[lasVersion+1] = 1, byte(minor)
	order.PutUint16(h[lasHeaderSize:], uint16(size))
	records := [][]byte{lasRecord("someone", 7, []byte("hello"))}
	if described {
		records = append(records, lasRecord("LASF_Spec", lasExtraID, lasExtra(1, 0, "extra")))
	}
	h = append(h, bytes.Join(records, nil)...)
	stride := lasSizes[format] + extra
	order.PutUint32(h[lasPointsAt:], uint32(len(h)))
	order.PutUint32(h[lasRecords:], uint32(len(records)))
	h[lasFormat] = byte(format)
	order.PutUint16(h[lasStride:], uint16(stride))
	if format < 6 {
		order.PutUint32(h[lasCount:], 4)
	}
	if minor == 4 {
		order.PutUint64(h[lasCount64:], 4)
		order.PutUint64(h[lasMoreAt:], uint64(len(h)+4*stride))
		order.PutUint32(h[lasMore:], 1)
	}
	if minor == 3 {
		order.PutUint64(h[lasWaveform:], uint64(len(h)+4*stride))
	}
	for k := range 3 {
		order.PutUint64(h[lasScale+8*k:], math.Float64bits(0.01))
		order.PutUint64(h[lasOffset+8*k:], math.Float64bits(1000*float64(k)))
	}
	for i := range 4 {
		row := make([]byte, stride)
		for j := range row {
			row[j] = byte(17*i + j)
		}
		for k := range 3 {
			order.PutUint32(row[4*k:], uint32(int32((i-1)*100+k)))
		}
		row[lasReturn] = byte(1 + i%2)
		h = append(h, row...)
	}
	if minor < 3 {
		return h
	}
	long := append(make([]byte, lasLongHead), "what follows"...)
	copy(long[2:], "someone")
	order.PutUint64(long[lasLength:], uint64(len(long)-lasLongHead))
	return append(h, long...)
}

func lasRecord(user string, id uint16, content []byte) []byte {
	head := make([]byte, lasRecordHead)
	copy(head[2:], user)
	binary.LittleEndian.PutUint16(head[18:], id)
	binary.LittleEndian.PutUint16(head[20:], uint16(len(content)))
	return append(head, content...)
}

func lasFiles() [][]byte {
	var files [][]byte
	for format := range lasSizes {
		minor := 4
		if format < 4 {
			minor = 2
		} else if format < 6 {
			minor = 3
		}
		files = append(files, lasFile(minor, format, 0, false), lasFile(4, format, 1, true), lasFile(4, format, 3, false))
	}
	return files
}

func TestLAS(t *testing.T) {
	order := binary.LittleEndian
	for k, content := range lasFiles() {
		path := filepath.Join(t.TempDir(), "a.las")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		c, err := ReadPointCloud(path, false)
		require.NoError(t, err, k)
		require.InDeltaSlice(t, []float64{-1, 1000.01 - 1, 2000.02 - 1, 0, 1000.01, 2000.02}, c.Points.Data[:6], 1e-9)
		require.Nil(t, c.Normals())

		require.NoError(t, WritePointCloud(path, c, c.Points, nil))
		again, err := os.ReadFile(path)
		require.NoError(t, err)
		bounds := func(b []byte) []byte { return b[lasBounds : lasBounds+48] }
		copy(bounds(content), bounds(again)) // which were not there
		require.Equal(t, content, again, "file %d", k)
		require.InDelta(t, 2, math.Float64frombits(order.Uint64(again[lasBounds:])), 1e-9)

		more := &Matrix{Rows: 4, Cols: 2, Names: []string{"nx", "error"}, Data: []float64{1, 2, 3, 4, 5, 6, 7, 8}}
		require.NoError(t, WritePointCloud(path, c, c.Points, more))
		wide, err := ReadPointCloud(path, false)
		require.NoError(t, err, k)
		require.Equal(t, c.Points, wide.Points)
		require.Equal(t, c.after, wide.after)
		old, cells := c.row(3, make([][2]int, len(c.fields))), make([][2]int, len(wide.fields))
		row := wide.row(3, cells)
		require.Equal(t, old, row[:len(old)], "the point is as it was")
		require.Equal(t, 7.0, math.Float64frombits(order.Uint64(row[len(old):])))
		h := wide.header.(*las)
		require.GreaterOrEqual(t, h.extra, 0)
		if h.minor == 4 {
			require.Equal(t, h.end, order.Uint64(h.header[lasMoreAt:]))
		}
		require.NoError(t, WritePointCloud(path, wide, wide.Points, more)) // replaced
		twice, err := ReadPointCloud(path, false)
		require.NoError(t, err)
		require.Equal(t, wide.fields, twice.fields)

		some, err := wide.Only([]int{0, 2, 3})
		require.NoError(t, err)
		require.NoError(t, WritePointCloud(path, some, some.Points, nil))
		some, err = ReadPointCloud(path, false)
		require.NoError(t, err)
		require.Equal(t, 3, some.Points.Rows)
		if h := some.header.(*las); h.minor == 4 {
			require.Equal(t, uint64(2), order.Uint64(h.header[lasByReturn64:]))
			require.Equal(t, h.end, order.Uint64(h.header[lasMoreAt:]))
		} else {
			require.Equal(t, uint32(3), order.Uint32(h.header[lasCount:]))
		}
	}
}

func TestNewLAS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.las.gz")
	points := &Matrix{Rows: 3, Cols: 3, Data: []float64{.1, 2e6, -3, 4, 2e6 + .5, 6, .2, .3, 5}}
	require.NoError(t, WritePointCloud(path, nil, points, nil))
	c, err := ReadPointCloud(path, false)
	require.NoError(t, err)
	for i, v := range points.Data {
		require.InDelta(t, v, c.Points.Data[i], []float64{1e-8, 1e-2, 1e-7}[i%3])
	}
	c.Points.Data[0] = 1e9
	err = WritePointCloud(path, c, c.Points, nil)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "point 0 (counting from 0): x = 1e+09")
}

func TestLASErrors(t *testing.T) {
	order := binary.LittleEndian
	change := func(at int, b ...byte) []byte {
		content := lasFile(4, 6, 0, false)
		copy(content[at:], b)
		return content
	}
	huge := lasFile(4, 6, 0, false)
	order.PutUint64(huge[lasCount64:], 1<<40)
	whole := lasFile(2, 0, 0, false)
	for _, c := range []struct {
		content []byte
		want    string
	}{
		{nil, "is not a LAS file"},
		{[]byte("LASF and nothing else"), "in its header"},
		{change(lasVersion+1, 5), "LAS 1.5"},
		{change(lasHeaderSize, 1, 0), "the header has 1 bytes"},
		{change(lasPointsAt, 255, 255, 255, 255), "points begin at 4294967295"},
		{change(lasFormat, 128|6), "compressed (LAZ)"},
		{change(lasFormat, 11), "format 11"},
		{change(lasStride, 29, 0), "points of 29 bytes"},
		{change(lasCount64, 0), "no points"},
		{change(lasScale, make([]byte, 8)...), "scales x by 0"},
		{change(lasOffset+6, 0xf0, 0x7f), "adds"},
		{huge, "in point 6 of 1099511627776"},
		{whole[:len(whole)-1], "in point 3 of 4"},
		{append(bytes.Clone(whole), 0), "1 bytes follow"},
		{change(lasCount64, 3), "records after the points begin at"},
		{change(lasCount, 3), "counts 3 points and 4"},
		{change(lasMore, 2), "in record 1 of 2 after the points"},
		{change(lasRecords, 2), "the file ends early"},
		{change(lasHeader4+lasLength, 255), "record 0 (counting from 0) has 309 bytes"},
		{lasFile(4, 6, 200, true)[:lasHeader4+lasRecordHead], "points begin at"},
	} {
		_, err := parseCloud("a.las", c.content, false)
		require.ErrorIs(t, err, ErrInput, c.want)
		require.ErrorContains(t, err, c.want)
	}
}

// FuzzLAS wants files that are read to be written back as they were, and more columns
// beside them to be of no harm.
func FuzzLAS(f *testing.F) {
	for _, content := range lasFiles() {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := parseCloud("a.las", content, false)
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		for _, more := range []*Matrix{nil, {Rows: c.Points.Rows, Cols: 1, Names: []string{"e"}, Data: make([]float64, c.Points.Rows)}} {
			var b bytes.Buffer
			if err := c.write(&b, c.Points, more); err != nil {
				require.ErrorIs(t, err, ErrInput)
				continue
			}
			again, err := parseCloud("a.las", b.Bytes(), false)
			require.NoError(t, err)
			require.Equal(t, c.Points, again.Points)
		}
	})
}

// Values that replace scaled ones are not scaled.
func TestLASReplacesScaledValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.las")
	points := &Matrix{Rows: 2, Cols: 3, Data: []float64{0, 1, 2, 3, 4, 5}}
	more := &Matrix{Rows: 2, Cols: 1, Names: []string{"error"}, Data: []float64{0.25, 0.5}}
	require.NoError(t, WritePointCloud(path, nil, points, more))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	options := bytes.Index(text, []byte("error\x00")) - 1
	require.Positive(t, options)
	text[options] |= lasScaled
	require.NoError(t, os.WriteFile(path, text, 0o600))
	c, err := ReadPointCloud(path, false)
	require.NoError(t, err)
	require.NoError(t, WritePointCloud(path, c, points, more))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Zero(t, after[bytes.Index(after, []byte("error\x00"))-1]&lasScaled)
}
