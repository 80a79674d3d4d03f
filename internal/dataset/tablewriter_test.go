package dataset

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rows by and by make the same bytes as the table in one piece.
func TestWriteRowsIsWrite(t *testing.T) {
	m := uneven()
	m.Names = strings.Split("abcdefg", "")
	dir := t.TempDir()
	inParts := func(write func([]float64) error) error {
		for first, count := 0, 1; first < m.Rows; first, count = first+count, 3*count {
			if err := write(m.Data[first*m.Cols : min(first+count, m.Rows)*m.Cols]); err != nil {
				return err
			}
		}
		return nil
	}
	table := Table{m.Rows, m.Cols, m.Names}
	for _, extension := range []string{".npy", ".npz", ".csv", ".tsv"} {
		whole, parts := filepath.Join(dir, "whole"+extension), filepath.Join(dir, "parts"+extension)
		require.NoError(t, Write(whole, m, nil))
		require.NoError(t, WriteRows(parts, table, nil, inParts))
		want, err := os.ReadFile(whole)
		require.NoError(t, err)
		got, err := os.ReadFile(parts)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), extension)
	}
	var want, got bytes.Buffer
	require.NoError(t, Write("-", m, &want))
	require.NoError(t, WriteRows("-", table, &got, inParts))
	assert.True(t, bytes.Equal(want.Bytes(), got.Bytes()))
}

// What gives the rows may fail: then there is no file, and its error is the error.
func TestWriteRowsFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.npy")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	own := errors.New("own")
	for name, produce := range map[string]func(func([]float64) error) error{
		"own":            func(write func([]float64) error) error { return errors.Join(write([]float64{1, 2}), own) },
		"1 rows of a":    func(write func([]float64) error) error { return write([]float64{1, 2}) },
		"no rows of the": func(write func([]float64) error) error { return write(make([]float64, 6)) },
		"3 numbers":      func(write func([]float64) error) error { return write(make([]float64, 3)) },
	} {
		require.ErrorContains(t, WriteRows(path, Table{2, 2, nil}, nil, produce), name)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "old", string(left))
		assert.Equal(t, []string{"x.npy"}, names(t, dir))
	}
	require.ErrorIs(t, WriteRows("-", Table{2, 1, nil}, &limitedWriter{room: 1}, func(write func([]float64) error) error {
		return write([]float64{1, 2})
	}), errFull)
}
