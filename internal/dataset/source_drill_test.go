package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scqm/scqm/internal/drill"
)

// stored is a random table of a random type in .npy, and what it holds.
func stored(c drill.Case) ([]byte, *Matrix) {
	widths := map[string]int{"i1": 1, "u1": 1, "i2": 2, "u4": 4, "f4": 4, "f8": 8}
	names := []string{"i1", "u1", "i2", "u4", "f4", "f8"}
	name, big, fortran := names[c.IntN(len(names))], c.IntN(2) == 0, c.IntN(2) == 0
	m := &Matrix{Rows: 1 + c.IntN(1<<c.IntN(14)), Cols: 1 + c.IntN(1<<c.IntN(8))}
	order := "<"
	if big {
		order = ">"
	}
	width := widths[name]
	if width == 1 {
		order = "|"
	}
	b := npyText(fmt.Sprintf("{'descr': '%s%s', 'fortran_order': %s, 'shape': (%d, %d)}",
		order, name, map[bool]string{true: "True", false: "False"}[fortran], m.Rows, m.Cols), nil)
	header := len(b)
	b = append(b, make([]byte, m.Rows*m.Cols*width)...)
	m.Data = make([]float64, m.Rows*m.Cols)
	for i := range m.Data {
		var bits uint64
		whole := float64(c.IntN(100))
		switch m.Data[i] = whole; name {
		case "f4":
			m.Data[i] = float64(float32(c.NormFloat64()))
			bits = uint64(math.Float32bits(float32(m.Data[i])))
		case "f8":
			m.Data[i] = c.NormFloat64()
			bits = math.Float64bits(m.Data[i])
		default:
			bits = uint64(whole)
		}
		at := i
		if fortran {
			at = i%m.Cols*m.Rows + i/m.Cols
		}
		value := binary.LittleEndian.AppendUint64(nil, bits)[:width]
		if big {
			slices.Reverse(value)
		}
		copy(b[header+at*width:], value)
	}
	return b, m
}

// TestDrillSources reads random tables of random types and formats both ways: in
// memory, and in random ranges of rows from a source.
func TestDrillSources(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	drill.Run(t, "sources", 8, func(c drill.Case) error {
		content, want := stored(c)
		name := "x.npy"
		switch c.IntN(5) {
		case 1:
			name, content = "x.npz", deflated(t, content)
		case 2:
			name, content = "x.npy.gz", gzipped(t, content)
		case 3:
			var text bytes.Buffer
			if err := writeCSV(&text, want, ','); err != nil {
				return err
			}
			name, content = "x.csv", text.Bytes()
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		var o ReadOptions
		if c.IntN(2) == 0 {
			for _, j := range c.Perm(want.Cols)[:1+c.IntN(want.Cols)] {
				o.Columns = append(o.Columns, strconv.Itoa(j+1))
			}
			keep, err := pickColumns(o.Columns, nil, want.Cols)
			if err != nil {
				return err
			}
			want = want.columns(keep)
		}
		if c.IntN(2) == 0 {
			o.Labels = make([]string, want.Rows)
			for i := range o.Labels {
				o.Labels[i] = "abc"[c.IntN(3):][:1]
			}
			o.Keep = o.Labels[:1]
			var err error
			if want, err = want.selected(o); err != nil {
				return err
			}
		}
		return errors.Join(readsAs(c, path, o, want), leftIn(dir, name))
	})
}

// readsAs compares both ways with what is expected.
func readsAs(c drill.Case, path string, o ReadOptions, want *Matrix) error {
	got, err := Read(path, o)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got.Data, want.Data, equalBits) {
		return fmt.Errorf("%s, %v: in memory it is another table", path, o.Columns)
	}
	s, err := OpenSource(path, o)
	if err != nil {
		return err
	}
	defer s.Close()
	for range 8 {
		first := c.IntN(want.Rows)
		count := 1 + c.IntN(want.Rows-first)
		dst := make([]float64, count*want.Cols)
		if err := s.ReadRows(context.Background(), dst, first); err != nil {
			return err
		}
		if !slices.EqualFunc(dst, want.Data[first*want.Cols:(first+count)*want.Cols], equalBits) {
			return fmt.Errorf("%s, %v: %d rows from %d are others", path, o.Columns, count, first)
		}
	}
	return s.Unchanged()
}

// leftIn removes a file and tells what else is there.
func leftIn(dir, name string) error {
	os.Remove(filepath.Join(dir, name))
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return err
	}
	return fmt.Errorf("left behind: %s", strings.TrimSpace(fmt.Sprint(entries)))
}
