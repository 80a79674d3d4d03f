package dataset

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const pcdHeader = `# .PCD v.7 - Point Cloud Data file format
VERSION .7
FIELDS x y z rgb label normal_x normal_y normal_z
SIZE 4 8 4 4 2 4 4 4
TYPE F F F U I F F F
COUNT 1 1 1 1 2 1 1 1
WIDTH 3
HEIGHT 1
VIEWPOINT 1 2 3 1 0 0 0
POINTS 3
DATA `

const asciiPCD = pcdHeader + `ascii
1 2 3.5 16711680 -1 7 0 0 1
10 20 30 255 2 -8 0 1 0
100 200 300 0 3 9 nan 0 0
`

// pcdRows are the points of the file as binary fields.
func pcdRows() (rows [3][8][]byte) {
	for i, values := range [3][]any{
		{float32(1), 2.0, float32(3.5), uint32(16711680), []int16{-1, 7}, float32(0), float32(0), float32(1)},
		{float32(10), 20.0, float32(30), uint32(255), []int16{2, -8}, float32(0), float32(1), float32(0)},
		{float32(100), 200.0, float32(300), uint32(0), []int16{3, 9}, float32(math.NaN()), float32(0), float32(0)},
	} {
		for k, v := range values {
			var b bytes.Buffer
			_ = binary.Write(&b, binary.LittleEndian, v)
			rows[i][k] = b.Bytes()
		}
	}
	return rows
}

func pcdFiles() map[string][]byte {
	binaryFile, packed := []byte(pcdHeader+"binary\n"), []byte(pcdHeader+"binary_compressed\n")
	rows := pcdRows()
	for _, row := range rows {
		binaryFile = append(binaryFile, bytes.Join(row[:], nil)...)
	}
	var columns []byte
	for k := range 8 {
		for i := range 3 {
			columns = append(columns, rows[i][k]...)
		}
	}
	var lzf []byte
	for at := 0; at < len(columns); at += 32 { // as they are, but for the last run
		part := columns[at:min(at+32, len(columns))]
		lzf = append(append(lzf, byte(len(part)-1)), part...)
	}
	packed = binary.LittleEndian.AppendUint32(packed, uint32(len(lzf)))
	packed = append(binary.LittleEndian.AppendUint32(packed, uint32(len(columns))), lzf...)
	return map[string][]byte{"ascii": []byte(asciiPCD), "binary": binaryFile, "compressed": packed}
}

func TestPCD(t *testing.T) {
	for name, content := range pcdFiles() {
		path := filepath.Join(t.TempDir(), "a.pcd")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		c, err := ReadPointCloud(path, false)
		require.NoError(t, err, name)
		require.Equal(t, []float64{1, 2, 3.5, 10, 20, 30, 100, 200, 300}, c.Points.Data, name)
		require.Equal(t, []float64{0, 0, 1, 0, 1, 0, 0, 0, 0}, c.Normals(), name)

		moved := &Matrix{Rows: 3, Cols: 3, Data: []float64{-1, -2, -3, 0, 0, 0, 7, 8, 9}}
		more := &Matrix{Rows: 3, Cols: 2, Names: []string{"nz", "error"}, Data: []float64{0.5, 1, 0.5, 2, 0.5, 3}}
		require.NoError(t, WritePointCloud(path, c, moved, more))
		again, err := ReadPointCloud(path, false)
		require.NoError(t, err, name)
		require.Equal(t, moved.Data, again.Points.Data)
		require.Equal(t, []float64{0, 0, 0.5, 0, 1, 0.5, 0, 0, 0.5}, again.Normals(), "in place")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), "FIELDS x y z rgb label normal_x normal_y normal_z error\n")
		require.Contains(t, string(text), "VIEWPOINT 1 2 3 1 0 0 0\n")
		cells := make([][2]int, len(again.fields))
		row := again.row(0, cells)
		require.Equal(t, 16711680.0, again.value(again.fields[3], row[cells[3][0]:cells[3][1]]), "colours stay")

		some, err := again.Only([]int{0, 2})
		require.NoError(t, err)
		require.NoError(t, WritePointCloud(path, some, some.Points, nil))
		again, err = ReadPointCloud(path, false)
		require.NoError(t, err)
		require.Equal(t, []float64{-1, -2, -3, 7, 8, 9}, again.Points.Data)
	}
	path := filepath.Join(t.TempDir(), "new.pcd")
	points := &Matrix{Rows: 2, Cols: 3, Data: []float64{.1, .2, .3, 4, 5, 6}}
	require.NoError(t, WritePointCloud(path, nil, points, nil))
	c, err := ReadPointCloud(path, false)
	require.NoError(t, err)
	require.Equal(t, points.Data, c.Points.Data)
	require.Nil(t, c.Normals())
}

// TestLZF unpacks runs that repeat what was there, which overlap.
func TestLZF(t *testing.T) {
	packed := []byte{2, 'a', 'b', 'c', 2 << 5, 2, 7 << 5, 10, 0}
	out, ok := appendLZF(make([]byte, 0, 26), packed)
	require.True(t, ok)
	require.Equal(t, "abcabca"+strings.Repeat("a", 19), string(out))
	for k := range packed {
		if k != 0 && k != 4 && k != 6 {
			_, ok := appendLZF(make([]byte, 0, 26), packed[:k])
			require.False(t, ok, k)
		}
	}
	_, ok = appendLZF(make([]byte, 0, 25), packed)
	require.False(t, ok, "no room")
	_, ok = appendLZF(make([]byte, 0, 26), []byte{0, 'a', 1 << 5, 1})
	require.False(t, ok, "before the beginning")
}

func TestPCDErrors(t *testing.T) {
	files := pcdFiles()
	cut := func(name string, by int) string { return string(files[name][:len(files[name])-by]) }
	change := func(old, by string) string { return strings.Replace(asciiPCD, old, by, 1) }
	for _, c := range []struct{ content, want string }{
		{"", "no line DATA"},
		{"hello", "no line of a PCD header"},
		{strings.TrimSuffix(pcdHeader, "DATA "), "no line DATA"},
		{change("DATA ascii", "DATA zip"), "unknown DATA"},
		{change("FIELDS x", "FIELDS u"), "no number x"},
		{change("TYPE F F F U", "TYPE U F F U"), "cannot hold denoised values"},
		{change("SIZE 4", "SIZE 3"), "SIZE"},
		{change("SIZE 4 8", "SIZE 4"), "8 FIELDS, 7 of SIZE"},
		{change("COUNT 1", "COUNT -1"), "COUNT -1"},
		{change("POINTS 3", "POINTS 4"), "3 x 1"},
		{change("POINTS 3", "POINTS -3"), "POINTS"},
		{change("WIDTH 3", "WIDTH 99999999999"), "WIDTH"},
		{strings.NewReplacer("WIDTH 3\n", "", "POINTS 3\n", "").Replace(asciiPCD), "neither POINTS nor WIDTH"},
		{strings.NewReplacer("WIDTH 3", "WIDTH 0", "POINTS 3", "POINTS 0").Replace(asciiPCD), "no points"},
		{change("1 2 3.5", "1 2 x"), "point 0 (counting from 0), z: \"x\" is not a number"},
		{change("1 2 3.5", "1 nan 3.5"), "point 0 (counting from 0), y: \"NaN\" is no number (missing)"},
		{change("255 2 -8 0 1 0", "255 2 -8 0 1"), "point 1 (counting from 0), normal_z: 8 values, expected more"},
		{change("255 2 -8 0 1 0", "255 2 -8 0 1 0 7"), "point 1: 10 values, expected 9"},
		{change("255 2", "-255 2"), "rgb"},
		{cut("ascii", 26), "point 2: the file ends early"},
		{asciiPCD + "1 2 3 4 5 6 7 8 9\n", "17 bytes follow"},
		{cut("binary", 1), "point 2: the file ends early"},
		{cut("compressed", 1), "compressed bytes are there"},
		{pcdHeader + "binary_compressed\nabc", "ends early"},
		{strings.NewReplacer("WIDTH 3", "WIDTH 30", "POINTS 3", "POINTS 30").Replace(pcdHeader) + "binary_compressed\n\x01\x00\x00\x00\x38\x04\x00\x00a", "cannot hold"},
		{pcdHeader + "binary_compressed\n\x02\x00\x00\x00\x01\x00\x00\x00ab", "do not make"},
	} {
		_, err := parseCloud("a.pcd", []byte(c.content), false)
		require.ErrorIs(t, err, ErrInput, c.want)
		require.ErrorContains(t, err, c.want)
	}
	damaged := bytes.Clone(files["compressed"])
	damaged[len(pcdHeader)+len("binary_compressed\n")+8] = 0xff
	_, err := parseCloud("a.pcd", damaged, false)
	require.ErrorContains(t, err, "damaged")
	c, err := parseCloud("a.pcd", []byte(asciiPCD), false)
	require.NoError(t, err)
	c.Points.Data[0] = 1e300
	require.ErrorContains(t, c.write(&bytes.Buffer{}, c.Points, nil), "point 0 (counting from 0): 1e+300 is too large")
}

// FuzzPCD wants files that are read to be written back as they were.
func FuzzPCD(f *testing.F) {
	for _, content := range pcdFiles() {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := parseCloud("a.pcd", content, false)
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		var b bytes.Buffer
		require.NoError(t, c.write(&b, c.Points, nil))
		again, err := parseCloud("a.pcd", b.Bytes(), false)
		require.NoError(t, err)
		require.Equal(t, c.Points, again.Points)
		require.Equal(t, c.body, again.body)
	})
}
