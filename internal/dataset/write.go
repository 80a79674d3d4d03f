package dataset

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outputFormats are the extensions that Write knows.
var outputFormats = []string{formatNPY, formatNPZ, formatCSV, formatTSV}

// Write writes m to path. The extension gives the format: .npy, .npz (with the key arr_0,
// as in NumPy), .csv or .tsv; "-" is CSV on stdout. On failure, no partial file remains.
// Only CSV and TSV keep column names.
//
// An error matches ErrInput when the path is at fault, not when the disk is.
func Write(path string, m *Matrix, stdout io.Writer) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return WriteRows(path, Table{m.Rows, m.Cols, m.Names}, stdout, func(write func([]float64) error) error { return write(m.Data) })
}

// Table is the shape of a table, and the names of its columns or nil.
type Table struct {
	Rows, Cols int
	Names      []string
}

// WriteRows is [Write] for a table that need not be in memory: produce passes its rows, in
// order, to write, any number of whole rows per call. If produce returns an error,
// WriteRows returns it, and no file remains; bytes already written to stdout or a pipe
// remain.
func WriteRows(path string, t Table, stdout io.Writer, produce func(write func(rows []float64) error) error) error {
	w := tableWriter{Table: t, format: formatCSV}
	if path == "-" {
		if stdout == nil {
			return inputErrorf(ErrInput, "<stdout>: there is no standard output to write to")
		}
		buffered := bufio.NewWriter(stdout)
		if err := w.run(buffered, produce); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if err := checkExtension(path, outputFormats); err != nil {
		return err
	}
	w.format = extension(path)
	err := WriteFileAtomic(path, func(to io.Writer) error { return w.run(to, produce) })
	if w.produced != nil {
		return w.produced
	}
	return err
}

// CheckOutput checks, before a long computation, that its result can be written. The
// extension of path must be one of those given; if none are given, it must be one of
// Write, or path must be "-". CheckOutput also tries to create a file in the directory.
// The error matches ErrInput.
func CheckOutput(path string, extensions ...string) error {
	if len(extensions) == 0 {
		if path == "-" {
			return nil
		}
		extensions = outputFormats
	}
	if err := checkExtension(path, extensions); err != nil {
		return err
	}
	return CheckPlace(path)
}

// CheckPlace returns an error unless WriteFileAtomic can make path, by trying to make a
// file in its directory. It matches ErrInput.
func CheckPlace(path string) error {
	if err := tryCreate(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// IsStream reports whether path is a pipe or a device. WriteFileAtomic writes to these
// directly, and may block.
func IsStream(path string) bool {
	t, err := resolveTarget(path)
	return err == nil && path != "-" && t.stream
}

// ReadOnce reports whether path is standard input, a pipe or a device, and so can be read
// only once.
func ReadOnce(path string) bool {
	if path == "-" {
		return true
	}
	name, _ := splitKey(path)
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// SameFile reports whether writing to output would overwrite the file of input. A trailing
// :key of input is ignored. The paths "" and "-" are not files.
func SameFile(output, input string) bool {
	input, _ = splitKey(input)
	if output == "" || input == "" || output == "-" || input == "-" {
		return false
	}
	output, input = followLinks(output), followLinks(input)
	a, err1 := os.Stat(output)
	b, err2 := os.Stat(input)
	if err1 == nil && err2 == nil {
		return a.Mode().IsRegular() && os.SameFile(a, b)
	}
	a1, err1 := filepath.Abs(output)
	b1, err2 := filepath.Abs(input)
	return err1 == nil && err2 == nil && a1 == b1
}

func tryCreate(path string) error {
	t, err := resolveTarget(path)
	if err != nil || t.stream {
		return err
	}
	f, err := t.createTemporary()
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

func checkExtension(path string, known []string) error {
	if slices.Contains(known, extension(path)) {
		return nil
	}
	return inputErrorf(ErrFormat, "%s: cannot tell the format; the name must end in %s", path, strings.Join(known, ", "))
}
