package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// pickColumns converts ReadOptions.Columns to column indices from 0, for a table of width
// columns. names may be nil.
func pickColumns(columns, names []string, width int) ([]int, error) {
	if len(columns) == 0 {
		columns = []string{"1-"}
	}
	var keep []int
	taken := make([]bool, width)
	for _, c := range columns {
		first, last, err := columnRange(strings.TrimSpace(c), names, width)
		if err != nil {
			return nil, err
		}
		for j := first; j <= last; j++ {
			if taken[j] {
				return nil, inputErrorf(ErrInput, "column %d is asked for twice; name it once", j+1)
			}
			taken[j] = true
			keep = append(keep, j)
		}
	}
	return keep, nil
}

// columnRange converts one item of ReadOptions.Columns, "3", "2-5", "4-" or a name, to column indices.
func columnRange(c string, names []string, width int) (first, last int, err error) {
	if !isColumnNumber(c) {
		j, err := columnNamed(c, names)
		return j, j, err
	}
	from, to, isRange := strings.Cut(c, "-")
	if !isRange {
		to = from
	}
	if to == "" {
		to = strconv.Itoa(width)
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || first < 1 || last > width || first > last {
		return 0, 0, inputErrorf(ErrInput, "no column %s; there are columns 1 to %d", c, width)
	}
	return first - 1, last - 1, nil
}

// isColumnNumber reports whether c is a column number or range, not a name.
func isColumnNumber(c string) bool {
	from, to, _ := strings.Cut(c, "-")
	return from != "" && strings.Trim(from+to, "0123456789") == ""
}

func columnNamed(c string, names []string) (int, error) {
	if names == nil {
		return 0, inputErrorf(ErrInput, "no column %q, for there is no header; give columns by number, from 1", c)
	}
	j := slices.Index(names, c)
	if j < 0 {
		return 0, inputErrorf(ErrInput, "no column %q; there are %s", c, shortList(names))
	}
	if slices.Contains(names[j+1:], c) {
		return 0, inputErrorf(ErrInput, "more than one column is called %q; give its number, from 1", c)
	}
	return j, nil
}

// shortList quotes the first few items of a list.
func shortList(items []string) string {
	const most = 10
	var quoted []string
	for _, s := range items[:min(len(items), most)] {
		quoted = append(quoted, shortQuote(s))
	}
	list := strings.Join(quoted, ", ")
	if len(items) > most {
		list += fmt.Sprintf(" and %d more", len(items)-most)
	}
	return list
}

// shortQuote quotes a string, shortened and on one line.
func shortQuote(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}
