package dataset

import (
	"context"
	"fmt"
)

// LeaveOut says which rows with missing entries are dropped.
type LeaveOut int

const (
	// LeaveOutNone keeps all rows.
	LeaveOutNone LeaveOut = iota
	// LeaveOutEmpty drops rows of which all entries are missing.
	LeaveOutEmpty
	// LeaveOutIncomplete drops rows with at least one missing entry.
	LeaveOutIncomplete
)

// leavesOut reports whether l drops a row.
func (l LeaveOut) leavesOut(row []float64) bool {
	lost := 0
	for _, v := range row {
		if v != v {
			lost++
		}
	}
	return l == LeaveOutEmpty && lost == len(row) || l == LeaveOutIncomplete && lost > 0
}

// Without drops rows by l, and returns the others and the indices of the dropped rows.
// Unless missing is set, it returns an error if other rows have missing entries.
func (m *Matrix) Without(l LeaveOut, missing bool) (some *Matrix, dropped []int, err error) {
	kept := make([]int, 0, m.Rows)
	for i := range m.Rows {
		if l.leavesOut(m.Row(i)) {
			dropped = append(dropped, i)
			continue
		}
		if err := refuseMissing(m.Row(i), i, missing); err != nil {
			return nil, nil, err
		}
		kept = append(kept, i)
	}
	if len(dropped) == 0 {
		return m, nil, nil
	}
	return m.Only(kept), dropped, someLeft(len(kept), m.Rows)
}

// Without is [Matrix.Without] for the rows of a source: it reads them once, and does not copy them to memory.
func (s *Source) Without(ctx context.Context, l LeaveOut, missing bool) (dropped []int, err error) {
	n, cols := s.Shape()
	dst := make([]float64, cols)
	var kept []int
	for i := range n {
		if err := s.ReadRows(ctx, dst, i); err != nil {
			return nil, err
		}
		if l.leavesOut(dst) {
			dropped = append(dropped, i)
			continue
		}
		if err := refuseMissing(dst, i, missing); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		at := i
		if s.list != nil {
			at = s.list[i]
		}
		kept = append(kept, at)
	}
	if len(dropped) > 0 {
		s.list = kept
	}
	return dropped, someLeft(len(kept), n)
}

func refuseMissing(row []float64, i int, missing bool) error {
	for j, v := range row {
		if v != v && !missing {
			return entryError(i, j, v)
		}
	}
	return nil
}

func someLeft(kept, rows int) error {
	if kept == 0 {
		return inputErrorf(ErrShape, "all %d rows have missing entries, and none is left; fill some of them in", rows)
	}
	return nil
}
