package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// property is the place of a property of a vertex that is one number, -1 if there is
// none of that name, or if it comes after a list in a file of text.
func (f *ply) property(name string) int {
	for i, p := range f.vertex.properties {
		if p.count != "" && f.text {
			return -1
		}
		if p.name == name && p.count == "" {
			return i
		}
	}
	return -1
}

// share tells by number which columns replace properties of the file, and lists those
// that are added.
func (f *ply) share(more *Matrix) (replaced map[int]int, added []int) {
	if more == nil {
		return nil, nil
	}
	replaced = map[int]int{}
	for k, name := range more.Names {
		if p := f.property(name); p >= 0 {
			replaced[p] = k
		} else {
			added = append(added, k)
		}
	}
	return replaced, added
}

// replace returns a vertex with other values of properties.
func (f *ply) replace(row []byte, replaced map[int]int, values []float64) ([]byte, error) {
	cells := make([][2]int, len(f.vertex.properties))
	if _, _, err := f.next(row, 0, f.vertex, cells); err != nil {
		return nil, err
	}
	var out []byte
	at := 0
	for i, p := range f.vertex.properties {
		k, ok := replaced[i]
		if !ok {
			continue
		}
		out = append(out, row[at:cells[i][0]]...)
		var err error
		if out, err = f.appendValue(out, p.kind, values[k]); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		at = cells[i][1]
	}
	return append(out, row[at:]...), nil
}

// appendValue appends a value of a type; whole numbers are rounded, and kept within
// their type.
func (f *ply) appendValue(out []byte, kind string, v float64) ([]byte, error) {
	size, float := plySizes[kind], strings.HasPrefix(kind, "f") || strings.HasPrefix(kind, "d")
	if float && size == 4 {
		if err := fits32(v); err != nil {
			return nil, err
		}
	}
	if !float {
		v = wholeWithin(v, size, !strings.HasPrefix(kind, "u"))
	}
	switch {
	case f.text && float && size == 4:
		return appendNumber32(out, v), nil
	case f.text && float:
		return appendNumber(out, v), nil
	case f.text:
		return strconv.AppendInt(out, int64(v), 10), nil
	case !float && size == 1:
		return append(out, byte(int64(v))), nil
	case !float && size == 2:
		return appendOrdered(out, f.order, uint16(int64(v))), nil
	case !float:
		return appendOrdered(out, f.order, uint32(int64(v))), nil
	case size == 4:
		return appendOrdered(out, f.order, math.Float32bits(float32(v))), nil
	}
	return appendOrdered(out, f.order, math.Float64bits(v)), nil
}

// wholeWithin is the whole number of a type with so many bytes that is nearest to v.
func wholeWithin(v float64, size int, signed bool) float64 {
	low, high := 0.0, math.Ldexp(1, 8*size)-1
	if signed {
		low, high = -math.Ldexp(1, 8*size-1), math.Ldexp(1, 8*size-1)-1
	}
	return min(max(math.Round(v), low), high)
}

// normals are the properties nx, ny and nz.
func (f *ply) normals() []float64 {
	var at [3]int
	for k, name := range normalNames {
		if at[k] = f.property(name); at[k] < 0 {
			return nil
		}
	}
	cells := make([][2]int, len(f.vertex.properties))
	out := make([]float64, 0, 3*len(f.rows))
	for _, row := range f.rows {
		if _, _, err := f.next(row, 0, f.vertex, cells); err != nil {
			return nil
		}
		for _, p := range at {
			kind := f.vertex.properties[p].kind
			if !strings.HasPrefix(kind, "f") && kind != "double" {
				return nil // which cannot hold a unit vector
			}
			v, err := f.value(row[cells[p][0]:cells[p][1]], kind)
			if err != nil {
				v = 0
			}
			out = append(out, v)
		}
	}
	return out
}

// only leaves out the other vertices.
func (f *ply) only(list []int) (layout, error) {
	if len(f.others) > 0 {
		return nil, inputErrorf(ErrShape, "the elements %s name vertices by their numbers, which change where some are dropped; write .xyz, or keep all and sort by their score",
			strings.Join(slices.Compact(f.others), ", "))
	}
	some := *f
	some.rows, some.cells = nil, nil
	for _, i := range list {
		some.rows, some.cells = append(some.rows, f.rows[i]), append(some.cells, f.cells[i])
	}
	some.vertex.count = len(list)
	some.header, some.insert = nil, 0
	at := 0
	for line := range bytes.Lines(f.header) {
		if words := bytes.Fields(line); len(words) == 3 && string(words[0]) == "element" && string(words[1]) == "vertex" {
			some.header = append(some.header, "element vertex "+strconv.Itoa(len(list))+string(line[len(bytes.TrimRight(line, "\r\n")):])...)
		} else {
			some.header = append(some.header, line...)
		}
		if at += len(line); at == f.insert {
			some.insert = len(some.header)
		}
	}
	return &some, nil
}
