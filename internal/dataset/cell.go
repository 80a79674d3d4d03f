package dataset

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// cell is the kind of a field of a text table.
type cell int

const (
	number  cell = iota // finite, in decimal notation
	missing             // empty
	special             // NaN, an infinity, or a word for "not available"
	word                // anything else
)

// notAvailable are common words for a missing value, in lower case.
var notAvailable = map[string]bool{"na": true, "n/a": true, "#n/a": true, "<na>": true, "null": true, "none": true}

// parseCell parses a number in decimal notation. It rejects hexadecimal digits and
// underscores, although Go accepts them.
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

// appendNumber appends v with the fewest digits that parse back to v. A whole number has
// no decimal point.
func appendNumber(b []byte, v float64) []byte {
	format := byte('g')
	if a := math.Abs(v); a >= 1 && a < 1e16 {
		format = 'f'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

// cellError explains why a field is not a number. place is file:line:field.
func cellError(place, s string, c cell) error {
	return fmt.Errorf("%s: %w", place, cellFault(s, c))
}

// grouped matches numbers with thousands separators.
var grouped = regexp.MustCompile(`^[+-]?\d{1,3}(?:([,.'’ _\x{a0}\x{202f}])\d{3})+(?:([.,])\d*)?$`)

// cellFault explains why a field is not a number.
func cellFault(s string, c cell) error {
	s = strings.TrimSpace(s)
	switch {
	case c == missing:
		return inputErrorf(ErrNonFinite, "the cell is empty (missing): %s", missingRemedy)
	case c == special && isInfinite(s):
		return inputErrorf(ErrNonFinite, "%s is not a finite number: correct it or leave out its row", shortQuote(s))
	case c == special:
		return inputErrorf(ErrNonFinite, "%s is no number (missing): %s", shortQuote(s), missingRemedy)
	}
	remedy := "leave out its row or its column"
	groups := grouped.FindStringSubmatch(s)
	switch {
	case groups != nil && groups[2] == ",":
		remedy = "leave out the separator of thousands, and write a point for the decimal comma"
	case groups != nil && (groups[1] != "," || groups[2] != "" || strings.Count(s, ",") > 1):
		remedy = "leave out the separator of thousands"
	case strings.Contains(s, ","):
		remedy = "write a point for the decimal comma"
	case decimalCommas.MatchString(s):
		remedy = "a comma beside blanks is a decimal comma: write points, and separate values by one character throughout"
	case strings.HasPrefix(s, "#"):
		remedy = "comments stand before the first row; " + remedy
	}
	return inputErrorf(ErrFormat, "%s is not a number; %s", shortQuote(s), remedy)
}

// isInfinite reports whether a special cell is an infinity, not a word for a missing value.
func isInfinite(s string) bool {
	v, _ := parseCell(s)
	return math.IsInf(v, 0)
}

// missingRemedy is the advice in errors about missing entries; models/rows has the same text.
const missingRemedy = `fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`

// entryError returns the error for an entry that cannot be used; row and column count from 0.
func entryError(row, column int, v float64) error {
	if math.IsNaN(v) {
		return inputErrorf(ErrNonFinite, "row %d, column %d is NaN (missing): %s", row, column, missingRemedy)
	}
	return inputErrorf(ErrNonFinite, "row %d, column %d is %v (infinite): correct it or leave out its row", row, column, v)
}
