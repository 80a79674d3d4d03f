package cli

import (
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/scqm/scqm/internal/quote"
)

// PrintJSON prints one value. Numbers that JSON does not have are an error.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintTable aligns the cells of rows in columns. Cells with characters that are not to
// be shown are quoted.
func PrintTable(w io.Writer, rows [][]string) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for k, cell := range row {
			io.WriteString(t, "\t"[:min(k, 1)]+quote.Marks(cell))
		}
		io.WriteString(t, "\n")
	}
	t.Flush()
	_, err := io.WriteString(w, text.String())
	return err
}
