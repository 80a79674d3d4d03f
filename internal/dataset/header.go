package dataset

import (
	"fmt"
	"strings"
)

// chooseColumns returns the indices of the columns to keep. If the first record is a
// header, it also returns their names.
func (t *csvTable) chooseColumns(o ReadOptions, first []string) (keep []int, header []string, err error) {
	var cells, names []string
	for _, s := range first {
		name := cleanName(s)
		cells = append(cells, name)
		if plain, marked := strings.CutPrefix(name, "'"); marked && formula(plain) {
			name = plain
		}
		names = append(names, name)
	}
	candidates := names
	if o.Header == HeaderNo || o.Header == HeaderAuto && !hasWord(cells) {
		candidates = nil
	}
	keep, err = pickColumns(o.Columns, candidates, t.width)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", t.name, err)
	}
	isHeader := o.Header == HeaderYes || asksByName(o.Columns)
	if !isHeader && o.Header == HeaderAuto {
		if isHeader, err = t.judgeHeader(keep, cells); err != nil {
			return nil, nil, err
		}
	}
	if !isHeader {
		return keep, nil, nil
	}
	for _, j := range keep {
		header = append(header, names[j])
	}
	return keep, header, nil
}

func asksByName(columns []string) bool {
	for _, c := range columns {
		if !isColumnNumber(strings.TrimSpace(c)) {
			return true
		}
	}
	return false
}

// judgeHeader reports whether the first record is a header, from its cells in the columns
// keep. Ambiguous records are an error, so that a typo in a row of numbers never makes the
// row a header. Cells are judged by their cleaned names, so that written names are read
// back.
func (t *csvTable) judgeHeader(keep []int, names []string) (bool, error) {
	text, value, slip := -1, -1, -1 // a column with each of them
	for _, j := range keep {
		_, kind := parseCell(names[j])
		switch {
		case kind == number && value < 0:
			value = j
		case kind == word && text < 0:
			text = j
		}
		if kind == word && slip < 0 && resemblesNumber(names[j]) {
			slip = j
		}
	}
	const remedy = "correct it, or say whether this row is a header"
	switch {
	case text >= 0 && value >= 0:
		if slip >= 0 {
			text = slip
		}
		return false, inputErrorf(ErrHeader, "%s: %s is not a number, but column %d of the same row has %s; %s",
			t.place(text), shortQuote(names[text]), value+1, shortQuote(names[value]), remedy)
	case slip >= 0:
		return false, inputErrorf(ErrHeader, "%s: %s is not a number, though it looks like one; %s",
			t.place(slip), shortQuote(names[slip]), remedy)
	}
	return text >= 0, nil
}

// hasWord reports whether any of the cells is neither a number nor a missing
// value.
func hasWord(cells []string) bool {
	for _, s := range cells {
		if _, kind := parseCell(s); kind == word {
			return true
		}
	}
	return false
}

// slips replaces characters that are often confused with digits, or added to numbers, by
// what was probably meant.
var slips = strings.NewReplacer("O", "0", "o", "0", "l", "1", "I", "1", ",", ".", "_", "", " ", "", "'", "", "%", "", "$", "", "€", "")

// resemblesNumber reports whether s is a mistyped number, such as O.1, 1,5, 1.2.3 or 25%,
// not a name, such as x1, O2 or e1.
func resemblesNumber(s string) bool {
	s = strings.TrimSpace(s)
	plain := slips.Replace(s)
	const numeric = "0123456789.+-"
	if !strings.ContainsAny(s, "0123456789") || strings.Trim(plain, numeric+"eE") != "" || !strings.ContainsAny(plain[:1], numeric) {
		return false
	}
	// A word that only ends in digits has no point.
	return strings.ContainsAny(s[:1], numeric) || strings.ContainsAny(s, ".,")
}
