package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const asciiPLY = `ply
format ascii 1.0
comment made by hand
element camera 1
property list uchar int path
element vertex 3
property uchar red
property float y
property float x
property double z
property list uchar int tags
element face 1
property list uchar int vertex_indices
end_header
2 7 8
255 2 1 3.5 0
128  20 10	30 2 5 6
0 200 100 300 0
3 0 1 2
`

// binaryPLY is the same as a binary file.
func binaryPLY(order binary.ByteOrder, name string) []byte {
	header, _, _ := strings.Cut(asciiPLY, "2 7 8\n")
	var b bytes.Buffer
	b.WriteString(strings.Replace(header, "ascii", name, 1))
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, order, v)
		}
	}
	put(uint8(2), int32(7), int32(8))
	put(uint8(255), float32(2), float32(1), 3.5, uint8(0))
	put(uint8(128), float32(20), float32(10), 30.0, uint8(2), int32(5), int32(6))
	put(uint8(0), float32(200), float32(100), 300.0, uint8(0))
	put(uint8(3), int32(0), int32(1), int32(2))
	return b.Bytes()
}

func plyFiles() map[string][]byte {
	return map[string][]byte{
		"ascii":  []byte(asciiPLY),
		"little": binaryPLY(binary.LittleEndian, "binary_little_endian"),
		"big":    binaryPLY(binary.BigEndian, "binary_big_endian"),
	}
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func TestPLYKeepsAllButThePoints(t *testing.T) {
	for name, content := range plyFiles() {
		path := write(t, "a.ply", content)
		c, err := ReadPointCloud(path, false)
		require.NoError(t, err, name)
		require.Equal(t, []float64{1, 2, 3.5, 10, 20, 30, 100, 200, 300}, c.Points.Data, name)

		same := filepath.Join(t.TempDir(), "same.ply")
		require.NoError(t, WritePointCloud(same, c, c.Points, nil))
		got, err := os.ReadFile(same)
		require.NoError(t, err)
		require.Equal(t, content, got, name)

		moved := &Matrix{Rows: 3, Cols: 3, Data: []float64{-1, 0.1, math.Pi, 4, 5, 6, 7, 8, 9}}
		more := &Matrix{Rows: 3, Cols: 1, Data: []float64{0.5, 1.5, 2.5}, Names: []string{"residual"}}
		require.NoError(t, WritePointCloud(same, c, moved, more))
		back, err := ReadPointCloud(same, false)
		require.NoError(t, err, name)
		require.InDeltaSlice(t, moved.Data, back.Points.Data, 1e-8, name)
		require.Equal(t, math.Pi, back.Points.Data[2], "doubles keep their digits")
		text, err := os.ReadFile(same)
		require.NoError(t, err)
		require.Contains(t, string(text), "property list uchar int tags\nproperty double residual\nelement face")
		if name == "ascii" {
			require.Contains(t, string(text), "255 0.1 -1 3.141592653589793 0 0.5\n128  5 4\t6 2 5 6 1.5\n")
		}
		require.True(t, bytes.HasSuffix(text, content[len(content)-8:]), name)
	}
}

func TestXYZKeepsAllButThePoints(t *testing.T) {
	content := byteOrderMark + "# scan 7\r\n1 2 3 255 0 0\r\n\n  4 5 6  tree\n7\t8\t9\n\n"
	c, err := ReadPointCloud(write(t, "a.xyz", []byte(content)), false)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, c.Points.Data)
	out := filepath.Join(t.TempDir(), "b.xyz")
	moved := &Matrix{Rows: 3, Cols: 3, Data: []float64{1.5, 2, -3, 4, 5, 1e-9, 0, 0, 0}}
	require.NoError(t, WritePointCloud(out, c, moved, nil))
	got, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, "# scan 7\r\n1.5 2 -3 255 0 0\r\n\n  4 5 1e-09  tree\n0\t0\t0\n\n", string(got))
	c, err = parseCloud("a.xyz", []byte("1, 2, 3, old tree\n4,5,6,\n"), false)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.write(&b, c.Points, &Matrix{Rows: 2, Cols: 1, Data: []float64{7, 8}, Names: []string{"e"}}))
	require.Equal(t, "1, 2, 3, old tree,7\n4,5,6,,8\n", b.String())
}

// TestZippedPointClouds: what is read and written with .gz is the same.
func TestZippedPointClouds(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(asciiPLY))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	path := write(t, "a.PLY.gz", zipped.Bytes())
	require.True(t, IsPointCloud(path))
	require.False(t, IsPointCloud("a.csv.gz"))
	c, err := ReadPointCloud(path, false)
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2, 3.5, 10, 20, 30, 100, 200, 300}, c.Points.Data)

	for _, name := range []string{"b.ply.gz", "b.xyz.gz"} {
		out := filepath.Join(t.TempDir(), name)
		require.NoError(t, CheckTableOrCloud(out))
		require.NoError(t, WritePointCloud(out, c, c.Points, nil))
		b, err := os.ReadFile(out)
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		if name == "b.ply.gz" {
			require.Equal(t, asciiPLY, string(text))
		} else {
			require.Equal(t, "1 2 3.5\n10 20 30\n100 200 300\n", string(text))
		}
	}
	_, err = ReadPointCloud(write(t, "c.ply.gz", zipped.Bytes()[:40]), false)
	require.ErrorIs(t, err, ErrInput)
	_, err = ReadPointCloud(write(t, "c.xyz.gz", []byte("1 2 3\n")), false)
	require.ErrorIs(t, err, ErrInput)
	require.ErrorIs(t, CheckTableOrCloud("a.stl"), ErrInput)
}

func TestPointCloudsFromTables(t *testing.T) {
	m := &Matrix{Rows: 2, Cols: 3, Data: []float64{1, 2, 3, 0.1, 0.2, 0.3}}
	for _, name := range []string{"a.ply", "a.xyz"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, WritePointCloud(path, nil, m, nil))
		c, err := ReadPointCloud(path, false)
		require.NoError(t, err)
		require.Equal(t, m.Data, c.Points.Data)
	}
	require.ErrorIs(t, WritePointCloud("a.ply", nil, &Matrix{Rows: 1, Cols: 2, Data: []float64{1, 2}}, nil), ErrShape)
}

func TestBadPointClouds(t *testing.T) {
	for want, f := range map[string]struct{ name, content string }{
		"a.xyz:2:3: 2 values, expected more":                 {"a.xyz", "1 2 3\n1 2\n"},
		"a.xyz:4:1: \"#\" is not a number; comme":            {"a.xyz", "#\n1 2 3\n\n# 1 2\n"},
		"a.xyz:1: a comma beside blanks is a deci":           {"a.xyz", "1,5 2,5 3,5\n"},
		"a.xyz:2: a comma beside blanks is a dec":            {"a.xyz", "1 2 3\n1,5 2,5 3,5\n"},
		"leave out the separator of thousands":               {"a.xyz", "1;2;1,234.5\n"},
		"lines that end in CR alone":                         {"a.xyz", "1 2 3\r4 5 6\r"},
		"a.xyz:1:2: \"b\" is not a number":                   {"a.xyz", "1 b 3\n"},
		"a.xyz:1:3: \"NaN\" is no number (missing)":          {"a.xyz", "1 2 nan\n"},
		"holds no points":                                    {"a.xyz", "# nothing\n"},
		"is not a PLY file":                                  {"a.ply", "solid\n"},
		"the header has no end":                              {"a.ply", "ply\nformat ascii 1.0\n"},
		"unknown format \"binary 1.0\"":                      {"a.ply", "ply\nformat binary 1.0\nend_header\n"},
		"\"9999999\" elements in":                            {"a.ply", "ply\nformat ascii 1.0\nelement vertex 9999999\nend_header\n"},
		"points have no number y":                            {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n"},
		"is of type int32, which cannot hold":                {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty int x\nend_header\n1\n"},
		"vertex 1: the file ends early":                      {"a.ply", "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n"},
		"vertex 0 (counting from 0), x: \"0x1p1\"":           {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n0x1p1 2 3\n"},
		"vertex 0: 4 values, expected 3":                     {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3 4\n"},
		"vertex 0 (counting from 0), z: \"NaN\" is ":         {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 nan\n"},
		"y: 4e+60 is too large for the type float":           {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 4e60 2\n"},
		"5 bytes follow that its header":                     {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n4 5 6\n"},
		"line 5 of the header: a second property \"vertex x": {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty int x\nend_header\n"},
		"line 4 of the header: a second element \"v":         {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nelement vertex 1\nend_header\n"},
		"line 3 of the header: \"vertex 1\" is no":           {"a.ply", "ply\nformat ascii 1.0\nvertex 1\nend_header\n"},
	} {
		_, err := ReadPointCloud(write(t, f.name, []byte(f.content)), false)
		require.ErrorIs(t, err, ErrInput, want)
		require.ErrorContains(t, err, want)
	}
	for name, content := range plyFiles() { // cut anywhere
		header, _, _ := bytes.Cut(content, []byte("end_header\n"))
		for cut := len(header) + 12; cut < len(content)-20; cut += 3 {
			if c, err := ReadPointCloud(write(t, "a.ply", content[:cut]), false); err == nil {
				require.Equal(t, 3, c.Points.Rows, "%s, %d", name, cut)
			} else {
				require.ErrorIs(t, err, ErrInput)
			}
		}
	}
}

// FuzzXYZ wants files that are read to be written back as they were.
func FuzzXYZ(f *testing.F) {
	for _, content := range []string{"# x\n1 2 3 4\n\n5 6 7\r\n\n", "1,2,3,a b,\n4,5,6\n", "1;2;3\n4; 5;6"} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := parseCloud("a.xyz", content, false)
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		var b bytes.Buffer
		require.NoError(t, c.write(&b, c.Points, nil))
		require.Equal(t, bytes.TrimPrefix(content, []byte(byteOrderMark)), b.Bytes())
		again, err := parseCloud("a.xyz", b.Bytes(), false)
		require.NoError(t, err)
		require.Equal(t, c.Points, again.Points)
	})
}
