package cli

import (
	"encoding/json"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/scqm/scqm/internal/quote"
)

// PrintJSON prints v as JSON. It returns an error if v contains NaN or an infinity.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintTable prints rows as aligned columns. It quotes cells that contain unprintable
// characters.
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
