package licences

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// rule separates texts, which contain lines of dashes and of equal signs.
var rule = strings.Repeat("#", 80)

// Print writes a table of modules and then all texts. A text that several modules share is
// printed once.
func Print(w io.Writer, modules []Module) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range modules {
		if _, err := fmt.Fprintf(table, "%s\t%s\t%s\n", m.Path, m.Version, m.SPDX); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	shared, err := share(modules)
	if err != nil {
		return err
	}
	for _, s := range shared {
		_, err := fmt.Fprintf(w, "\n%s\n%s\n%s\n\n%s\n", rule, strings.Join(s.owners, "\n"), rule, strings.TrimRight(s.body, "\n"))
		if err != nil {
			return err
		}
	}
	return nil
}

// sharedText is one text and the modules that it belongs to.
type sharedText struct {
	body   string
	owners []string // path, version, file
}

// share groups equal texts, in the order of their first occurrence.
func share(modules []Module) ([]*sharedText, error) {
	var all []*sharedText
	byBody := map[string]*sharedText{}
	for _, m := range modules {
		texts, err := Texts(m)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			s := byBody[t.Body]
			if s == nil {
				s = &sharedText{body: t.Body}
				byBody[t.Body] = s
				all = append(all, s)
			}
			s.owners = append(s.owners, fmt.Sprintf("# %s %s: %s", m.Path, m.Version, t.File))
		}
	}
	return all, nil
}
