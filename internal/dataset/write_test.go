package dataset

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errFull = errors.New("no space left")

// limitedWriter is a disk with room for that many bytes.
type limitedWriter struct{ room int }

func (w *limitedWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.room -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// names lists a directory: what a failed write must not have changed.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestWriteReadsBack(t *testing.T) {
	m := &Matrix{2, 3, []float64{0.1, math.SmallestNonzeroFloat64, -math.MaxFloat64, math.Copysign(0, -1), 1.0 / 3, 1e6}, nil}
	named := &Matrix{2, 3, m.Data, []string{"a", "b", "c"}}
	for name, in := range map[string]*Matrix{"x.npy": m, "x.npz": m, "x.csv": named, "x.TSV": named} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, CheckOutput(path))
		require.NoError(t, Write(path, in, nil))
		got, err := Read(path, ReadOptions{})
		require.NoError(t, err)
		assert.Equal(t, in, got, name)
		assert.Equal(t, []string{name}, names(t, filepath.Dir(path)))
	}
	var out bytes.Buffer
	require.NoError(t, Write("-", &Matrix{1, 2, []float64{1, 2}, nil}, &out))
	assert.Equal(t, "1,2\n", out.String())
}

func TestWriteRefuses(t *testing.T) {
	m := &Matrix{1, 1, []float64{1}, nil}
	for _, path := range []string{"x", "x.dat", "x.idx", "x.csv.gz", ""} {
		refused(t, Write(path, m, nil), ErrFormat, ".npy, .npz, .csv, .tsv")
		refused(t, CheckOutput(path), ErrFormat, ".npy, .npz, .csv, .tsv")
	}
	refused(t, Write("x.npy", &Matrix{2, 2, []float64{1}, nil}, nil), ErrShape, "2 x 2 matrix with 1 values")
	refused(t, Write("x.csv", &Matrix{1, 1, []float64{1}, []string{"a", "b"}}, nil), ErrShape, "2 column names")
	refused(t, Write("-", m, nil), ErrInput, "<stdout>")
	err := Write("-", m, &limitedWriter{1})
	assert.ErrorIs(t, err, errFull)
	assert.NotErrorIs(t, err, ErrInput)
}

func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	assert.NoError(t, CheckOutput("-"))
	assert.NoError(t, CheckOutput(filepath.Join(dir, "m.npz"), ".npz"))
	refused(t, CheckOutput(filepath.Join(dir, "m.npy"), ".npz"), ErrFormat, "must end in .npz")
	refused(t, CheckOutput("-", ".npz"), ErrFormat)
	refused(t, CheckOutput(filepath.Join(dir, "no", "m.npz")), ErrInput, "m.npz: there is no directory", "create it first")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d.npz"), 0o700))
	refused(t, CheckOutput(filepath.Join(dir, "d.npz")), ErrInput, "d.npz: is a directory")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	refused(t, CheckOutput(filepath.Join(dir, "f", "m.npz")), ErrInput, "m.npz: not a directory")
	assert.Equal(t, []string{"d.npz", "f"}, names(t, dir), "a check leaves nothing behind")
}

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func TestWriteFileAtomicReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, WriteFileAtomic(path, put("one")))
	info, err := os.Stat(path)
	require.NoError(t, err)
	usual, err := os.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_CREATE, 0o644)
	require.NoError(t, err)
	defer usual.Close()
	want, err := usual.Stat()
	require.NoError(t, err)
	assert.Equal(t, want.Mode(), info.Mode(), "0644 less the umask")

	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, WriteFileAtomic(path, put("two")))
	info, err = os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode(), "a private file stays private")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "two", string(b))
	assert.Equal(t, []string{"f"}, names(t, dir))

	t.Chdir(dir)
	require.NoError(t, WriteFileAtomic("f", put("three")), "a name without a directory")
	assert.Equal(t, []string{"f"}, names(t, dir))
}

func TestWriteFileAtomicFollowsLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	link, real := filepath.Join(dir, "link"), filepath.Join(other, "real")
	require.NoError(t, os.Symlink(real, link))
	for _, text := range []string{"into nothing", "into a file"} {
		require.NoError(t, WriteFileAtomic(link, put(text)))
		b, err := os.ReadFile(real)
		require.NoError(t, err)
		assert.Equal(t, text, string(b))
		to, err := os.Readlink(link)
		require.NoError(t, err, "the link is still a link")
		assert.Equal(t, real, to)
	}
	relative := filepath.Join(dir, "relative")
	require.NoError(t, os.Symlink("beside", relative))
	require.NoError(t, WriteFileAtomic(relative, put("x")))
	chain := filepath.Join(dir, "chain") // of links, to nothing
	require.NoError(t, os.Symlink("further", chain))
	require.NoError(t, os.Symlink(filepath.Join(other, "end"), filepath.Join(dir, "further")))
	require.NoError(t, WriteFileAtomic(chain, put("y")))
	assert.Equal(t, []string{"beside", "chain", "further", "link", "relative"}, names(t, dir))
	assert.Equal(t, []string{"end", "real"}, names(t, other))
}

// Whatever goes wrong, the old file stays and nothing else appears.
func TestWriteFileAtomicFails(t *testing.T) {
	boom := errors.New("boom")
	half := func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return boom
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	assert.ErrorIs(t, WriteFileAtomic(path, half), boom)
	assert.Empty(t, names(t, dir))

	require.NoError(t, WriteFileAtomic(path, put("old")))
	err := WriteFileAtomic(path, half)
	assert.ErrorIs(t, err, boom)
	assert.NotErrorIs(t, err, ErrInput)
	assert.ErrorContains(t, err, path+": boom")
	assert.Panics(t, func() { _ = WriteFileAtomic(path, func(io.Writer) error { panic("bug") }) })
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(b))
	assert.Equal(t, []string{"f"}, names(t, dir))

	refused(t, WriteFileAtomic(filepath.Join(dir, "no", "f"), put("x")), ErrInput, "there is no directory")
	refused(t, WriteFileAtomic(dir, put("x")), ErrInput, "is a directory")
}

// The last step fails when a directory takes the name in the meantime.
func TestWriteFileAtomicRenameFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	err := WriteFileAtomic(path, func(w io.Writer) error { return os.Mkdir(path, 0o700) })
	require.Error(t, err)
	assert.NotContains(t, err.Error(), ".tmp")
	assert.Equal(t, []string{"f"}, names(t, dir))
}

func TestWriteFileAtomicFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "full.csv")
	require.NoError(t, os.Symlink("/dev/full", path))
	require.NoError(t, CheckOutput(path))
	err := Write(path, &Matrix{1, 1, []float64{1}, nil}, nil)
	assert.ErrorIs(t, err, syscall.ENOSPC)
	assert.NotErrorIs(t, err, ErrInput)
	info, err := os.Lstat("/dev/full")
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeCharDevice, "a device is not replaced by a file")
	assert.Equal(t, []string{"full.csv"}, names(t, dir))
}
