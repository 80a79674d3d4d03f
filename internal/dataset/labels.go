package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// headerWords are words that make the first label a header, even if all other labels are
// words too.
var headerWords = []string{"label", "labels", "class", "target"}

// ReadLabels reads one label for each row of a table: a one-dimensional IDX, NPY
// or NPZ array of numbers, or a CSV, TSV or TXT file with one column. The first
// line of text is a header if it is the word label, labels, class or target, or the only
// line that is not a number. If that only line is a mistyped number, such as O.1, it is an
// error. Whole numbers are returned without a decimal point, so that a label is "4"
// whatever its stored type; other text is returned as it is.
//
// Every error about the content of the file matches ErrInput.
func ReadLabels(path string) ([]string, error) {
	src, err := open(path, append(slices.Clone(formats), formatTXT)...)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if src.isText() {
		return readTextLabels(src, src.name, src.format)
	}
	return src.labels()
}

// labelBytes is the memory of a label of a few characters.
const labelBytes = 32

func (s *input) labels() ([]string, error) {
	m, err := s.matrix(1, ReadOptions{Missing: true})
	if err != nil {
		return nil, err
	}
	if err := checkMemory("labels of the rows", labelBytes*float64(m.Rows)); err != nil {
		return nil, err
	}
	labels := make([]string, m.Rows)
	for i, v := range m.Data {
		if math.IsNaN(v) {
			return nil, fmt.Errorf("%s: %w", s.name, inputErrorf(ErrNonFinite, "label %d is NaN (counting from 0); give every row a label", i))
		}
		labels[i] = string(appendNumber(nil, v))
	}
	return labels, nil
}

func readTextLabels(r io.Reader, name, format string) ([]string, error) {
	t, err := openCSV(r, name, format)
	if err != nil {
		return nil, err
	}
	var labels []string
	for {
		record, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(record) != 1 {
			return nil, inputErrorf(ErrShape, "%s: %d fields; labels are one to a line", t.place(0), len(record))
		}
		label := cleanName(record[0])
		if label == "" {
			return nil, inputErrorf(ErrFormat, "%s: the label is empty; give every row a label", t.place(0))
		}
		if len(labels) == cap(labels) { // about to grow
			if err := checkMemory(name+": its labels", 2*labelBytes*float64(len(labels))); err != nil {
				return nil, err
			}
		}
		labels = append(labels, label)
	}
	if hasLabelHeader(labels) {
		if resemblesNumber(labels[0]) {
			return nil, inputErrorf(ErrHeader, "%s:%d:1: %s is not a number, though it looks like one; correct it, or write the header label",
				name, t.line, shortQuote(labels[0]))
		}
		labels = labels[1:]
	}
	if len(labels) == 0 {
		return nil, inputErrorf(ErrShape, "%s: holds no labels", name)
	}
	for i, s := range labels {
		// 4.0 is 4, but 007 is a name that happens to consist of digits.
		if v, kind := parseCell(s); kind == number && strings.ContainsAny(s, ".eE") {
			labels[i] = string(appendNumber(nil, v))
		}
	}
	return labels, nil
}

func hasLabelHeader(labels []string) bool {
	if len(labels) == 0 {
		return false
	}
	if slices.Contains(headerWords, strings.ToLower(labels[0])) {
		return true
	}
	isWord := func(s string) bool { _, kind := parseCell(s); return kind != number }
	return len(labels) > 1 && isWord(labels[0]) && !slices.ContainsFunc(labels[1:], isWord)
}
