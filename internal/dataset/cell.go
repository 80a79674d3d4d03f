package dataset

import (
	"math"
	"strconv"
	"strings"
)

// cell is what a field of a text table can be.
type cell int

const (
	number  cell = iota // finite, in decimal notation
	missing             // empty
	special             // NaN, an infinity, or a word for "not available"
	word                // anything else
)

// notAvailable are the words that data people write for a value that is not
// there, in lower case.
var notAvailable = map[string]bool{"na": true, "n/a": true, "null": true, "none": true}

// parseCell reads decimal notation only: hexadecimal digits and underscores,
// which Go reads as numbers, are not what a table means.
func parseCell(s string) (float64, cell) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, missing
	}
	if notAvailable[strings.ToLower(s)] {
		return 0, special
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0): // also 1e999, with an error
		return v, special
	case err != nil || strings.ContainsAny(s, "xX_"):
		return 0, word
	}
	return v, number
}

// appendNumber gives v the fewest digits that read back the same, and a whole
// number no decimal point.
func appendNumber(b []byte, v float64) []byte {
	format := byte('g')
	if a := math.Abs(v); a >= 1 && a < 1e16 {
		format = 'f'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// cellError explains why a field is not a number. place is file:line:field.
func cellError(place, s string, c cell) error {
	s = strings.TrimSpace(s)
	switch {
	case c == missing:
		return inputErrorf(ErrNonFinite, "%s: the cell is empty; remove the row or fill in the value", place)
	case c == special:
		return inputErrorf(ErrNonFinite, "%s: %s is not a finite number; remove the row or fill in the value", place, shortQuote(s))
	case strings.Contains(s, ","):
		return inputErrorf(ErrFormat, "%s: %s is not a number; write a point for the decimal comma", place, shortQuote(s))
	}
	return inputErrorf(ErrFormat, "%s: %s is not a number; leave out its row or its column", place, shortQuote(s))
}
