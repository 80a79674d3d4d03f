package dataset

import "slices"

// Select returns copies of the rows of m whose label is in keep, and their
// labels, in the order of m: at most first rows of each label. An empty keep
// stands for all labels, and first = 0 for all rows.
func Select(m *Matrix, labels []string, keep []string, first int) (*Matrix, []string, error) {
	if err := m.check(); err != nil {
		return nil, nil, err
	}
	rows, kept, err := selected(m.Rows, labels, keep, first)
	if err != nil {
		return nil, nil, err
	}
	if err := checkMemory("rows with these labels", valueBytes*float64(len(rows))*float64(m.Cols)); err != nil {
		return nil, nil, err
	}
	out := &Matrix{Rows: len(rows), Cols: m.Cols, Names: slices.Clone(m.Names), Data: make([]float64, 0, len(rows)*m.Cols)}
	for _, i := range rows {
		out.Data = append(out.Data, m.Row(i)...)
	}
	return out, kept, nil
}

// selected returns the indices of the rows that Select takes of count rows, and their
// labels.
func selected(count int, labels, keep []string, first int) (rows []int, kept []string, err error) {
	if len(labels) != count {
		return nil, nil, inputErrorf(ErrShape, "%d labels for %d rows; give one label for each row", len(labels), count)
	}
	if first < 0 {
		return nil, nil, inputErrorf(ErrInput, "the first %d rows of each label cannot be taken; give 0 for all", first)
	}
	for _, want := range keep {
		if !slices.Contains(labels, want) {
			existing := slices.Compact(slices.Sorted(slices.Values(labels)))
			return nil, nil, inputErrorf(ErrInput, "no row has the label %q; there are %s", want, shortList(existing))
		}
	}
	rows, kept = selectRows(labels, keep, first)
	return rows, kept, nil
}

// selectRows returns the indices of the rows that Select takes, and their labels.
func selectRows(labels, keep []string, first int) (rows []int, kept []string) {
	count := map[string]int{}
	for i, label := range labels {
		if len(keep) > 0 && !slices.Contains(keep, label) || first > 0 && count[label] == first {
			continue
		}
		count[label]++
		rows, kept = append(rows, i), append(kept, label)
	}
	return rows, kept
}
