// Package experiments repeats the experiments of Zhai and Li (arXiv 2605.20300). It
// generates their data, fits their models, and returns tables of means with standard
// errors, and the data for figures.
package experiments

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Settings are the settings that all experiments share.
type Settings struct {
	// Seed is the seed of the first repetition; later repetitions use the following seeds.
	Seed uint64 `json:"seed"`
	// Reps is the number of repetitions, at least 1.
	Reps int `json:"reps"`
	// Quick selects a small version of the experiment.
	Quick bool `json:"quick"`
	// Threads bounds the goroutines; results do not depend on it.
	Threads int `json:"-"`
	// Progress, if not nil, is called with the fraction of the work that is done.
	Progress func(part float64) `json:"-"`
}

// done reports that steps of all steps are done.
func (s Settings) done(steps, all int) {
	if s.Progress != nil {
		s.Progress(float64(steps) / float64(all))
	}
}

// Mean is a mean over repetitions.
type Mean struct {
	Value float64 `json:"value"`
	// Error is the standard error, if there are at least two repetitions.
	Error float64 `json:"error"`
	// N is the number of repetitions; 0 leaves the cell empty.
	N int `json:"n"`
	// Exact keeps all digits, for numbers from other sources.
	Exact bool `json:"-"`
}

func meanOf(list []float64) Mean {
	if len(list) < 2 {
		return Mean{Value: list[0], N: 1}
	}
	mean, deviation := stat.MeanStdDev(list, nil)
	return Mean{Value: mean, Error: deviation / math.Sqrt(float64(len(list))), N: len(list)}
}

// Table is the table of results of an experiment.
type Table struct {
	// Title describes the numbers and their unit.
	Title string `json:"title"`
	// Keys are the names of the text columns, Values those of the columns of means, which follow.
	Keys   []string `json:"keys"`
	Values []string `json:"values"`
	Rows   []Row    `json:"rows"`
	// Notes are sentences printed with the table.
	Notes []string `json:"notes"`
}

// Row is a line of a Table.
type Row struct {
	Keys   []string `json:"keys"`
	Values []Mean   `json:"values"`
}

// WriteCSV writes a line for each row. After each mean comes its standard error, in a
// column with the suffix _se. Both are rounded to significant digits.
func (t *Table) WriteCSV(w io.Writer) error {
	head := append([]string(nil), t.Keys...)
	for _, name := range t.Values {
		head = append(head, name, name+"_se")
	}
	lines := [][]string{head}
	for _, r := range t.Rows {
		line := append([]string(nil), r.Keys...)
		for _, m := range r.Values {
			value, spread := m.text()
			line = append(line, value, spread)
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteMarkdown writes the table with its title and notes.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", t.Title)
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(append(append([]string(nil), t.Keys...), t.Values...))
	line(strings.Split(strings.Repeat("---,", len(t.Keys)+len(t.Values)-1)+"---", ","))
	for _, r := range t.Rows {
		cells := append([]string(nil), r.Keys...)
		for _, m := range r.Values {
			cells = append(cells, m.String())
		}
		line(cells)
	}
	for _, note := range t.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String formats the mean with its standard error.
func (m Mean) String() string {
	value, spread := m.text()
	if spread == "" {
		return value
	}
	return value + " ± " + spread
}

func (m Mean) text() (value, spread string) {
	if m.N == 0 {
		return "", ""
	}
	if m.Exact {
		return strconv.FormatFloat(math.Round(m.Value*1e6)/1e6, 'f', -1, 64), ""
	}
	value = digits(m.Value, 4)
	if m.N > 1 {
		spread = digits(m.Error, 2)
	}
	return value, spread
}

// digits formats v with n digits, without an exponent.
func digits(v float64, n int) string {
	if v == 0 {
		return "0"
	}
	places := n - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(places, 0), 64)
}
