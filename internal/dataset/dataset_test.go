package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// file puts content into a fresh directory and returns its path.
func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// refused asserts that err is one line about bad input of this kind.
func refused(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	require.Error(t, err)
	assert.ErrorIs(t, err, kind)
	assert.ErrorIs(t, err, ErrInput)
	assert.NotContains(t, err.Error(), "\n")
	for _, p := range parts {
		assert.Contains(t, err.Error(), p)
	}
}

// allocated is the number of bytes that f sets aside.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func npy(t *testing.T, shape []int, values ...float64) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteNPY(&b, Array{shape, values}))
	return b.Bytes()
}

// writeNPZ writes an archive of one array.
func writeNPZ(w io.Writer, a Array) error {
	z := NewNPZWriter(w)
	return errors.Join(z.Array("arr_0", a), z.Close())
}

func TestReadMNIST(t *testing.T) {
	images, err := Read("../../testdata/mnist/images-idx3-ubyte.gz", ReadOptions{Scale: true})
	require.NoError(t, err)
	labels, err := ReadLabels("../../testdata/mnist/labels-idx1-ubyte.gz")
	require.NoError(t, err)
	assert.Equal(t, 500, images.Rows)
	assert.Equal(t, 784, images.Cols)
	require.Len(t, labels, 500)
	for i, label := range labels {
		require.Equal(t, []string{"2", "4", "6", "8", "9"}[i%5], label)
	}
	sum := 0.0
	for _, v := range images.Data {
		sum += v
	}
	assert.Zero(t, slices.Min(images.Data))
	assert.Equal(t, 1.0, slices.Max(images.Data))
	assert.InDelta(t, 0.13, sum/float64(len(images.Data)), 0.03, "MNIST is 13 percent ink")

	raw, err := Read("../../testdata/mnist/images-idx3-ubyte.gz", ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, raw.Data[200], images.Data[200]*255)
}

func TestReadFormatsAgree(t *testing.T) {
	want := &Matrix{Rows: 2, Cols: 2, Data: []float64{1, 2.5, -3, 4}}
	array := npy(t, []int{2, 2}, want.Data...)
	var archive bytes.Buffer
	require.NoError(t, writeNPZ(&archive, Array{[]int{2, 2}, want.Data}))
	idx := append([]byte{0, 0, 0x0D, 2, 0, 0, 0, 2, 0, 0, 0, 2}, 0x3f, 0x80, 0, 0, 0x40, 0x20, 0, 0, 0xc0, 0x40, 0, 0, 0x40, 0x80, 0, 0)

	for name, content := range map[string][]byte{
		"x.npy": array, "x.NPY": array, "x.npz": archive.Bytes(),
		"x.csv": []byte("1,2.5\n-3,4\n"), "x.tsv": []byte("1\t2.5\n-3\t4\n"),
		"x.idx": idx, "x-idx2-ubyte": idx,
	} {
		for _, path := range []string{file(t, name, content), file(t, name+".gz", gzipped(t, content))} {
			got, err := Read(path, ReadOptions{})
			require.NoError(t, err, path)
			assert.Equal(t, want, got, path)
		}
	}
	got, err := Read("-", ReadOptions{Stdin: strings.NewReader("1,2.5\n-3,4")})
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = Read(file(t, "x.npz", archive.Bytes())+":arr_0", ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestReadRefusesPaths(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder.csv")
	require.NoError(t, os.Mkdir(folder, 0o700))

	for path, parts := range map[string][]string{
		filepath.Join(dir, "no.csv"):         {"no.csv: no such file"},
		folder:                               {"folder.csv: is a directory"},
		"x.dat":                              {"x.dat: unknown format", ".npy, .npz, .csv, .tsv, .idx", "-ubyte"},
		"x":                                  {"x: unknown format"},
		"x.gz":                               {"unknown format"},
		"x.txt":                              {"unknown format"},
		"":                                   {"unknown format"},
		"-":                                  {"<stdin>"},
		filepath.Join(dir, "İ.npz:k"):        {"İ.npz: no such file"},
		filepath.Join(dir, "a:b.npz.gz:k:l"): {"a:b.npz.gz: no such file"},
	} {
		_, err := Read(path, ReadOptions{})
		refused(t, err, ErrInput, parts...)
	}
	_, err := Read(filepath.Join(dir, "no.csv"), ReadOptions{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadRefusesNonFinite(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, math.NaN()}
	path := file(t, "x.npy", npy(t, []int{3, 2}, values...))
	_, err := Read(path, ReadOptions{})
	refused(t, err, ErrNonFinite, "x.npy: row 2, column 1 is NaN (missing): fill it in")

	got, err := Read(path, ReadOptions{Columns: []string{"1"}})
	require.NoError(t, err, "a column that is not asked for may hold anything")
	assert.Equal(t, []float64{1, 3, 5}, got.Data)

	_, err = Read(path, ReadOptions{Columns: []string{"2", "1"}})
	refused(t, err, ErrNonFinite, "row 2, column 1 is NaN")
}

func TestReadRefusesShapes(t *testing.T) {
	for shape, part := range map[string]string{
		"(4,)":      "reshape(-1, 1)",
		"()":        "reshape(-1, 1)",
		"(2, 2, 1)": "reshape(len(X), -1)",
		"(0, 3)":    "no values",
		"(3, 0)":    "no values",
	} {
		values := map[string]int{"(4,)": 4, "()": 1, "(2, 2, 1)": 4}[shape]
		content := npyText("{'descr': '<f8', 'fortran_order': False, 'shape': "+shape+"}", make([]byte, 8*values))
		_, err := Read(file(t, "x.npy", content), ReadOptions{})
		refused(t, err, ErrShape, "x.npy: shape "+shape, part)
	}
}

func TestReadScale(t *testing.T) {
	idx := []byte{0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 51, 255}
	got, err := Read(file(t, "x.idx", idx), ReadOptions{Scale: true})
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 0.2, 1}, got.Data)

	got, err = Read("testdata/numpy/u1.npy", ReadOptions{Scale: true})
	require.NoError(t, err)
	assert.Equal(t, 100.0/255, got.Data[4])

	_, err = Read("testdata/numpy/le_f8.npy", ReadOptions{Scale: true})
	refused(t, err, ErrFormat, "f8", "leave it out")
	_, err = Read("-", ReadOptions{Scale: true, Stdin: strings.NewReader("1,2")})
	refused(t, err, ErrFormat, "leave it out")
}

func TestReadWrongName(t *testing.T) {
	array := npy(t, []int{1, 1}, 1)
	for name, c := range map[string]struct {
		content []byte
		part    string
	}{
		"zip.npy":      {[]byte("PK\x03\x04abcd"), "zip archive"},
		"gz.npy":       {gzipped(t, array), "gzip data"},
		"text.npy":     {[]byte("1,2,3\n4,5,6\n"), `text, beginning "1,2,3\n4,"`},
		"odd.npy":      {[]byte("\x01\x02\x03\x04\x05\x06\x07\x08"), "bytes 01 02 03"},
		"array.csv":    {array, "not text: it looks like a NumPy .npy file"},
		"array.npz":    {array, "NumPy .npy file"},
		"array.idx":    {array, "NumPy .npy file"},
		"utf16.tsv":    {[]byte("\xff\xfe1\x00,\x002\x00"), "UTF-16"},
		"hdf.npy":      {[]byte("\x89HDF\r\n\x1a\n"), "HDF5"},
		"plain.npy.gz": {array, "gzip stream is damaged"},
	} {
		_, err := Read(file(t, name, c.content), ReadOptions{})
		refused(t, err, ErrFormat, name+": ", c.part)
	}
	for _, name := range []string{"e.npy", "e.npz", "e.idx", "e.npy.gz", "e.csv.gz", "e.npz.gz"} {
		_, err := Read(file(t, name, nil), ReadOptions{})
		refused(t, err, ErrTruncated, name+": the file is empty")
	}
}

func TestReadDamagedGzip(t *testing.T) {
	values := make([]float64, 5000)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	whole := gzipped(t, npy(t, []int{50, 100}, values...))
	for cut := range len(whole) {
		if cut > 40 && cut%997 != 0 && cut < len(whole)-10 {
			continue
		}
		_, err := Read(file(t, "x.npy.gz", whole[:cut]), ReadOptions{})
		refused(t, err, ErrTruncated, "x.npy.gz: ")
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-8] ^= 1 // the checksum
	_, err := Read(file(t, "x.npy.gz", flipped), ReadOptions{})
	refused(t, err, ErrFormat, "damaged", "checksum")
}

// A fault of the machine is not the user's to mend.
func TestDiskFaultIsNotBadInput(t *testing.T) {
	disk := errors.New("disk on fire")
	_, err := readCSV(failingReader{disk}, "x.csv", formatCSV, ReadOptions{})
	assert.ErrorIs(t, err, disk)
	assert.NotErrorIs(t, err, ErrInput)
	_, err = readNPYAll(failingReader{disk}, -1)
	assert.ErrorIs(t, err, disk)
	assert.NotErrorIs(t, err, ErrInput)
	_, err = readIDX(failingReader{disk}, -1)
	assert.ErrorIs(t, err, disk)
	assert.NotErrorIs(t, err, ErrInput)
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestSelect(t *testing.T) {
	m := &Matrix{Rows: 5, Cols: 2, Data: []float64{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, Names: []string{"a", "b"}}
	labels := []string{"x", "y", "x", "z", "x"}

	got, kept, err := Select(m, labels, []string{"z", "x"}, 2)
	require.NoError(t, err)
	assert.Equal(t, &Matrix{3, 2, []float64{0, 0, 2, 2, 3, 3}, []string{"a", "b"}}, got, "in file order, two of each")
	assert.Equal(t, []string{"x", "x", "z"}, kept)

	all, kept, err := Select(m, labels, nil, 0)
	require.NoError(t, err)
	assert.Equal(t, m, all)
	assert.Equal(t, labels, kept)
	all.Data[0] = 99
	assert.Zero(t, m.Data[0], "rows are copies")
}

func TestSelectRefuses(t *testing.T) {
	m := &Matrix{Rows: 3, Cols: 1, Data: []float64{1, 2, 3}}
	labels := []string{"4", "9", "4"}
	_, _, err := Select(m, labels[:2], nil, 0)
	refused(t, err, ErrShape, "2 labels for 3 rows")
	_, _, err = Select(m, labels, []string{"9", "5"}, 0)
	refused(t, err, ErrInput, `no row has the label "5"; there are "4", "9"`)
	_, _, err = Select(m, labels, nil, -1)
	refused(t, err, ErrInput, "-1")
	_, _, err = Select(&Matrix{Rows: 3, Cols: 2, Data: m.Data}, labels, nil, 0)
	refused(t, err, ErrShape, "3 x 2 matrix with 3 values")

	many := make([]string, 3000)
	for i := range many {
		many[i] = string(rune('a'+i%26)) + strings.Repeat("z", i)
	}
	_, _, err = Select(&Matrix{Rows: 3000, Cols: 1, Data: make([]float64, 3000)}, many, []string{"?"}, 0)
	refused(t, err, ErrInput, "and 2990 more")
	assert.Less(t, len(err.Error()), 600)
}
