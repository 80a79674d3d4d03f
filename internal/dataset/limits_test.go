package dataset

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/memory"
)

// repeated gives a text over and over, up to so many bytes, in large pieces.
func repeated(text string, bytes int64) io.Reader {
	return io.LimitReader(&loop{text: strings.Repeat(text, 1+(1<<16)/len(text))}, bytes)
}

type loop struct {
	text string
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], l.text[l.at:])
		n, l.at = n+k, (l.at+k)%len(l.text)
	}
	return n, nil
}

// withCeiling runs a test under a ceiling of memory.
func withCeiling(t *testing.T, size int64) {
	t.Helper()
	memory.SetCeiling(size, "--memory")
	t.Cleanup(func() { memory.SetCeiling(0, "") })
}

// tooLarge asserts that an error is one line with the figures, and not the
// fault of the file.
func tooLarge(t *testing.T, err error, parts ...string) {
	t.Helper()
	require.ErrorIs(t, err, memory.ErrTooLarge)
	assert.NotErrorIs(t, err, ErrInput)
	assert.NotContains(t, err.Error(), "\n")
	for _, p := range append(parts, "raise --memory") {
		assert.Contains(t, err.Error(), p)
	}
}

// The header of a sparse file of 80 GB is true; there is no memory for it.
func TestSparseFileUnderACeiling(t *testing.T) {
	withCeiling(t, 1<<30)
	path := filepath.Join(t.TempDir(), "x.npy")
	header := npyHeaderBytes([]int{1e7, 1e3})
	require.NoError(t, os.WriteFile(path, header, 0o644))
	if err := os.Truncate(path, int64(len(header))+8e10); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	_, err := Read(path, ReadOptions{})
	tooLarge(t, err, path, "values of shape (10000000, 1000) take about 75 GiB")
}

func TestTextUnderACeiling(t *testing.T) {
	withCeiling(t, 8<<20)
	dir := t.TempDir()
	plain := filepath.Join(dir, "x.csv")
	text, err := io.ReadAll(repeated("1,2,3,4\n", 3<<20))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(plain, text, 0o644))
	_, err = Read(plain, ReadOptions{})
	tooLarge(t, err, plain)
	_, err = Read("-", ReadOptions{Stdin: bytes.NewReader(text)})
	tooLarge(t, err, "<stdin>")

	memory.SetCeiling(1<<30, "--memory")
	for _, r := range []io.Reader{nil, bytes.NewReader(text)} {
		path := plain
		if r != nil {
			path = "-"
		}
		m, err := Read(path, ReadOptions{Stdin: r})
		require.NoError(t, err)
		assert.Equal(t, 3<<17, m.Rows)
		assert.Equal(t, []float64{1, 2, 3, 4}, m.Row(m.Rows-1))
	}
}

// Parts grow up to a bound, and come out in order.
func TestManyValues(t *testing.T) {
	const n = 20*firstValues + 5
	v, err := newValues("x", -1)
	require.NoError(t, err)
	want := make([]float64, n)
	for i := range n {
		want[i] = float64(i)
		require.NoError(t, v.add(want[i]))
	}
	assert.Greater(t, len(v.full), 3)
	assert.Equal(t, want, v.all())
	v.last, v.count = nil, 4*maxValues
	require.NoError(t, v.add(1))
	assert.Equal(t, maxValues, cap(v.last))
}

// Numbers from a stream are held twice at most, those of a file once.
func TestRowsOfAFileAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	require.NoError(t, os.WriteFile(path, []byte("# 1,2\n\na,b\r\n\r\n1,2\n\n\"3\",4\n5,6"), 0o644))
	s, err := open(path, formatCSV)
	require.NoError(t, err)
	defer s.Close()
	n, err := countRows(s)
	require.NoError(t, err)
	assert.Equal(t, 5.0, n)
	m, err := Read(path, ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, []float64{1, 2, 3, 4, 5, 6}, m.Data)
}

func TestGzipClaims(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(append(npyHeaderBytes([]int{1e9, 1e3}), make([]byte, 1<<20)...))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	path := filepath.Join(t.TempDir(), "x.npy.gz")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	_, err = Read(path, ReadOptions{})
	refused(t, err, ErrTruncated, "the header claims 8000000000000 bytes of data")
}

// A member of an archive that claims more than its bytes can unpack to is refused
// before memory is set aside, and what grows too much while it is read.
func TestDeflatedMembers(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("x.npy")
	require.NoError(t, err)
	_, err = w.Write(append(npyHeaderBytes([]int{1e9, 10}), make([]byte, 1<<20)...))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	archive, err := OpenNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	used := allocated(func() {
		_, err = archive.Array("x", maxElements)
		refused(t, err, ErrTruncated, `array "x"`, "the header claims 80000000000 bytes")
	})
	assert.Less(t, used, uint64(4<<20))
}

func TestRatio(t *testing.T) {
	g := ratio{packed: 1000}
	require.NoError(t, g.grow("the file", plainBytes), "small output may have any ratio")
	refused(t, g.grow("the file", 1), ErrFormat, "the file unpacks to more than 400 times its size")
	g = ratio{packed: 1 << 20}
	require.NoError(t, g.grow("the file", 400<<20))
	require.Error(t, g.grow("the file", 1<<20))
}

func TestLongLines(t *testing.T) {
	for name, c := range map[string]struct {
		text  io.Reader
		parts []string
	}{
		"line":   {io.MultiReader(strings.NewReader("1,2\n"), repeated("1", 1<<30)), []string{"f.csv: line 2 is longer than 64 MiB", "check the line breaks"}},
		"fields": {io.MultiReader(strings.NewReader("1,2\n3,4\n"), repeated(",", 1<<30)), []string{"line 3 has more than 1048576 fields"}},
		"quotes": {io.MultiReader(strings.NewReader("# \"\n1,2\n3,\""), repeated(strings.Repeat("4,5 ", 1<<10)+"\n", 1<<30)), []string{"a quoted field goes on for more than 64 MiB", "check the quotes"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readCSV(c.text, "f.csv", formatCSV, ReadOptions{})
			refused(t, err, ErrInput, c.parts...)
		})
	}
}

// Comments, quotes and lines that are long but possible pass.
func TestLinesThatAreNotTooLong(t *testing.T) {
	var b strings.Builder
	fmt.Fprint(&b, "# it's 5\" long\n")
	for range 3 {
		for i := range 1 << 18 {
			fmt.Fprintf(&b, "%d,", i)
		}
		fmt.Fprint(&b, "\"1\"\n")
	}
	m, err := readCSV(strings.NewReader(b.String()), "f.csv", formatCSV, ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, 3, m.Rows)
	assert.Equal(t, 1<<18+1, m.Cols)
}
