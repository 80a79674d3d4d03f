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

// Write writes m in the format that the extension of path tells: .npy, .npz
// (under the key arr_0, as NumPy calls an array without a name), .csv or .tsv;
// "-" is CSV on stdout. The file appears whole or not at all. Column names are
// kept by CSV and TSV only.
//
// An error matches ErrInput when the path is at fault, not when the disk is.
func Write(path string, m *Matrix, stdout io.Writer) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if path == "-" {
		return writeStdout(m, stdout)
	}
	if err := checkExtension(path, outputFormats); err != nil {
		return err
	}
	return WriteFileAtomic(path, func(w io.Writer) error {
		a := Array{Shape: []int{m.Rows, m.Cols}, Data: m.Data}
		switch extension(path) {
		case formatNPY:
			return WriteNPY(w, a)
		case formatNPZ:
			return writeNPZ(w, a)
		case formatTSV:
			return writeCSV(w, m, '\t')
		}
		return writeCSV(w, m, ',')
	})
}

func writeStdout(m *Matrix, stdout io.Writer) error {
	if stdout == nil {
		return inputErrorf(ErrInput, "<stdout>: there is no standard output to write to")
	}
	w := bufio.NewWriter(stdout)
	err := writeCSV(w, m, ',')
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	return nil
}

func writeNPZ(w io.Writer, a Array) error {
	z := NewNPZWriter(w)
	if err := z.Array("arr_0", a); err != nil {
		return err
	}
	return z.Close()
}

// CheckOutput tells before a long computation whether its result can be written:
// the extension of path is one of those given (or, if none are given, one that
// Write knows, or path is "-"), and a file can be made in its directory, which is
// tried. It matches ErrInput.
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

// CheckPlace tells whether WriteFileAtomic can make path, by trying to make a
// file in its directory. It matches ErrInput.
func CheckPlace(path string) error {
	if err := tryCreate(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// IsStream tells whether path is a pipe or a device, which WriteFileAtomic writes
// to as it goes, and waits for.
func IsStream(path string) bool {
	t, err := resolveTarget(path)
	return err == nil && path != "-" && t.stream
}

// SameFile tells whether writing the file output would replace what is read from
// input, which may end in the key of an array. Neither is a file if it is "" or
// "-".
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
