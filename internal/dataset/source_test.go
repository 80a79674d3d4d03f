package dataset

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/memory"
)

// deflated is an archive with one compressed array.
func deflated(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("X.npy")
	require.NoError(t, err)
	_, err = w.Write(content)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// columnsFirst is the array in Fortran order.
func columnsFirst(m *Matrix) []byte {
	b := npyText(fmt.Sprintf("{'descr': '>f8', 'fortran_order': True, 'shape': (%d, %d)}", m.Rows, m.Cols), nil)
	for j := range m.Cols {
		for i := range m.Rows {
			bits := math.Float64bits(m.Row(i)[j])
			for k := range 8 {
				b = append(b, byte(bits>>(56-8*k)))
			}
		}
	}
	return b
}

// uneven is a table of several pieces of every reader.
func uneven() *Matrix {
	rng := rand.New(rand.NewPCG(3, 16))
	m := &Matrix{Rows: 2*fortranRows + 17, Cols: 7}
	for range m.Rows * m.Cols {
		m.Data = append(m.Data, rng.NormFloat64())
	}
	return m
}

// same holds a source to what is expected of it, in random ranges of rows that
// several goroutines read at once.
func same(t *testing.T, want *Matrix, s *Source) {
	t.Helper()
	rows, cols := s.Shape()
	require.Equal(t, []int{want.Rows, want.Cols}, []int{rows, cols})
	assert.Equal(t, want.Names, s.Names())
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for k := range 4 {
				first := rng.IntN(rows)
				count := rng.IntN(min(rows-first, 1+rows>>k)) + 1
				dst := make([]float64, count*cols)
				if !assert.NoError(t, s.ReadRows(t.Context(), dst, first)) {
					return
				}
				assert.True(t, slices.EqualFunc(want.Data[first*cols:(first+count)*cols], dst, equalBits), "%d rows from %d", count, first)
			}
		})
	}
	wg.Wait()
	require.NoError(t, s.Check(t.Context()))
	require.NoError(t, s.Unchanged())
}

func TestSourcesGiveWhatReadReads(t *testing.T) {
	m := uneven()
	plain := npy(t, []int{m.Rows, m.Cols}, m.Data...)
	var archive, text, tabs bytes.Buffer
	require.NoError(t, writeNPZ(&archive, Array{[]int{m.Rows, m.Cols}, m.Data}))
	require.NoError(t, writeCSV(&text, m, ','))
	require.NoError(t, writeCSV(&tabs, m, '\t'))
	files := map[string][]byte{
		"x.npy": plain, "fortran.npy": columnsFirst(m), "x.npz": archive.Bytes(), "deflated.npz": deflated(t, plain),
		"f.npz": deflated(t, columnsFirst(m)), "x.csv": text.Bytes(), "x.tsv": tabs.Bytes(),
	}
	labels := make([]string, m.Rows)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range labels {
		labels[i] = string("abbbb"[rng.IntN(5)])
	}
	read := []ReadOptions{{}, {Columns: []string{"7", "2-4"}}, {Labels: labels, Keep: []string{"b"}}, {Labels: labels, Keep: []string{"a"}, First: 70, Columns: []string{"3-"}}}
	for name, content := range files {
		paths := []string{file(t, name, content)}
		if strings.HasPrefix(name, "x") { // read once only
			paths = append(paths, file(t, name+".gz", gzipped(t, content)))
		}
		for _, path := range paths {
			some := read
			if !strings.HasSuffix(name, "npy") { // parsing and packing take long
				some = read[3:]
			}
			for _, o := range some {
				want := *m
				keep, err := pickColumns(o.Columns, nil, m.Cols)
				require.NoError(t, err)
				chosen, err := want.columns(keep).selected(o)
				require.NoError(t, err)
				got, err := Read(path, o)
				require.NoError(t, err, path)
				require.True(t, slices.EqualFunc(chosen.Data, got.Data, equalBits), path)
				s, err := OpenSource(path, o)
				require.NoError(t, err, path)
				same(t, chosen, s)
				require.NoError(t, s.Close())
			}
		}
	}
	s, err := OpenSource("-", ReadOptions{Stdin: &text})
	require.NoError(t, err)
	same(t, m, s)
	require.NoError(t, s.Close())
}

// Every type of NumPy and of IDX, in place and from a stream.
func TestSourcesOfEveryType(t *testing.T) {
	names, err := filepath.Glob("testdata/numpy/*.np?")
	require.NoError(t, err)
	require.Greater(t, len(names), 25)
	tables := 0
	for _, name := range append(names, "../../testdata/mnist/images-idx3-ubyte.gz") {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		paths := []string{name}
		if !strings.HasSuffix(name, ".gz") {
			paths = append(paths, file(t, filepath.Base(name)+".gz", gzipped(t, content)))
		}
		for _, path := range paths {
			for _, scale := range []bool{false, true} {
				want, wanted := Read(path, ReadOptions{Scale: scale})
				s, err := OpenSource(path, ReadOptions{Scale: scale})
				if err == nil && wanted != nil { // found where it is read
					err = s.Check(t.Context())
				}
				if wanted != nil {
					refused(t, wanted, ErrInput)
					require.EqualError(t, err, wanted.Error())
					continue
				}
				require.NoError(t, err, path)
				same(t, want, s)
				require.NoError(t, s.Close())
				tables++
			}
		}
	}
	assert.Greater(t, tables, 2*23)
}

func TestSourcesWithNames(t *testing.T) {
	const text = "a,b,c\n1,2,3\n4,,6\n"
	path := file(t, "x.csv", []byte(text))
	s, err := OpenSource(path, ReadOptions{Columns: []string{"c", "b"}, Missing: true})
	require.NoError(t, err)
	defer s.Close()
	same(t, &Matrix{Rows: 2, Cols: 2, Data: []float64{3, 2, 6, math.NaN()}, Names: []string{"c", "b"}}, s)

	for _, o := range []ReadOptions{{}, {Scale: true}, {Columns: []string{"d"}}, {Header: HeaderNo}} {
		_, wanted := Read(path, o)
		require.Error(t, wanted)
		_, err := OpenSource(path, o)
		require.EqualError(t, err, wanted.Error())
	}
}

// Numbers that are none are found by whoever reads their row first.
func TestSourcesRefuseNonFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		m := &Matrix{Rows: 40, Cols: 3, Data: make([]float64, 120)}
		m.Data[3*31+2] = bad
		for _, content := range [][]byte{npy(t, []int{40, 3}, m.Data...), columnsFirst(m)} {
			path := file(t, "x.npy", content)
			o := ReadOptions{Columns: []string{"3", "1"}}
			_, wanted := Read(path, o)
			refused(t, wanted, ErrNonFinite, fmt.Sprintf("row 31, column 2 is %v", bad))
			s, err := OpenSource(path, o)
			require.NoError(t, err)
			dst := make([]float64, 2*31)
			require.NoError(t, s.ReadRows(t.Context(), dst, 0))
			require.EqualError(t, s.ReadRows(t.Context(), dst[:2], 31), wanted.Error())
			require.EqualError(t, s.Check(t.Context()), wanted.Error())
			refused(t, s.ReadRows(t.Context(), dst, 10), ErrShape, "are no rows of 40 x 2")
			refused(t, s.ReadRows(t.Context(), dst[:1], 0), ErrShape)
			require.NoError(t, s.Close())

			labels := strings.Split(strings.Repeat("a ", 31)+strings.Repeat("b ", 9), " ")[:40]
			_, err = OpenSource(path, ReadOptions{Labels: labels, Keep: []string{"a"}})
			refused(t, err, ErrNonFinite, "row 31")
		}
	}
}

func TestSourcesOfChangingFiles(t *testing.T) {
	m := uneven()
	content := npy(t, []int{m.Rows, m.Cols}, m.Data...)
	dst := make([]float64, m.Cols)
	for name, change := range map[string]func(path string) error{
		"shorter": func(path string) error { return os.Truncate(path, int64(len(content)-8)) },
		"longer":  func(path string) error { return os.Truncate(path, int64(len(content)+8)) },
		"rewritten": func(path string) error {
			info, err := os.Stat(path)
			require.NoError(t, err)
			return os.Chtimes(path, info.ModTime(), info.ModTime().Add(1))
		},
	} {
		path := file(t, "x.npy", content)
		s, err := OpenSource(path, ReadOptions{})
		require.NoError(t, err)
		require.NoError(t, change(path))
		if err := s.ReadRows(t.Context(), dst, m.Rows-1); name == "shorter" {
			refused(t, err, ErrTruncated, path, "8 bytes of data are missing")
		} else {
			require.NoError(t, err)
		}
		refused(t, s.Unchanged(), ErrInput, path+": has changed while it was read")
		require.NoError(t, s.Close())
	}
	s, err := OpenSource(file(t, "x.npy", content), ReadOptions{})
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.ReadRows(ctx, dst, 0), context.Canceled)
}

// The copy of what can be read once only has no name.
func TestTemporaryCopies(t *testing.T) {
	withCeiling(t, 1<<20)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	m := uneven()
	var text bytes.Buffer
	require.NoError(t, writeCSV(&text, m, ','))
	path := file(t, "x.csv", text.Bytes())
	s, err := OpenSource(path, ReadOptions{})
	require.NoError(t, err)
	require.NotNil(t, s.copy.file, "too large for the ceiling")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	same(t, m, s)
	require.NoError(t, s.Close())

	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	_, err = OpenSource(path, ReadOptions{})
	require.ErrorContains(t, err, path+": the temporary copy of its rows in "+filepath.Join(dir, "none")+" failed: no such file or directory; free some room, or set TMPDIR")
	assert.NotErrorIs(t, err, ErrInput)
	assert.NotContains(t, err.Error(), "\n")
	memory.SetCeiling(0, "")
	s, err = OpenSource(path, ReadOptions{})
	require.NoError(t, err, "small copies need no file")
	require.NoError(t, s.Close())
}

// A hundred gigabytes are read where they are.
func TestSourceOfASparseFile(t *testing.T) {
	withCeiling(t, 64<<20)
	path := filepath.Join(t.TempDir(), "x.npy")
	header := npyHeaderBytes([]int{125e6, 100})
	require.NoError(t, os.WriteFile(path, header, 0o600))
	if err := os.Truncate(path, int64(len(header))+1e11); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	s, err := OpenSource(path, ReadOptions{Columns: []string{"100", "1"}})
	require.NoError(t, err)
	defer s.Close()
	dst := []float64{1, 1, 1, 1}
	require.NoError(t, s.ReadRows(t.Context(), dst, 125e6-2))
	assert.Equal(t, make([]float64, 4), dst)
	_, err = Read(path, ReadOptions{})
	tooLarge(t, err, path, "values of shape (125000000, 100) take about 93 GiB")
}

// Damage is found both ways.
func TestSourcesOfDamagedFiles(t *testing.T) {
	array := npy(t, []int{3, 2}, 1, 2, 3, 4, 5, 6)
	var stored bytes.Buffer
	require.NoError(t, writeNPZ(&stored, Array{[]int{3, 2}, []float64{1, 2, 3, 4, 5, 6}}))
	for name, good := range map[string][]byte{"x.npy": array, "x.npz": stored.Bytes(), "d.npz": deflated(t, array)} {
		want, err := Read(file(t, name, good), ReadOptions{})
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name)
		try := func(content []byte, what string, at int) {
			require.NoError(t, os.WriteFile(path, content, 0o600))
			got, wanted := Read(path, ReadOptions{})
			s, err := OpenSource(path, ReadOptions{})
			if err == nil {
				if err = s.Check(t.Context()); err == nil && wanted == nil {
					same(t, got, s)
				}
				s.Close()
			}
			require.Equal(t, wanted == nil, err == nil, "%s: %s %d: %v, %v", name, what, at, wanted, err)
			if err != nil {
				refused(t, err, ErrInput)
			} else if name != "x.npy" {
				require.Equal(t, want.Data, got.Data, "%s %d", what, at)
			}
		}
		for cut := 0; cut < len(good); cut += 7 {
			try(good[:cut], "cut", cut)
		}
		for i := 0; i < len(good); i += 5 {
			b := bytes.Clone(good)
			b[i] ^= 0x10
			try(b, "flip", i)
		}
	}
}
