package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/denoise"
)

// methodEntry is one line of the output of scqm methods.
type methodEntry struct {
	Name     string   `json:"name"`
	Summary  string   `json:"summary"`
	Settings []string `json:"settings"`
}

func methodsCommand() *cobra.Command {
	return cli.Listing(&cobra.Command{
		Use:   "methods",
		Short: "List the methods of denoise",
		Long:  "List the methods of scqm denoise, with the settings that each has beside --latent and --neighbors.",
	}, methodEntries, func(list []methodEntry) [][]string {
		rows := [][]string{{"NAME", "SETTINGS", "WHAT IT FITS"}}
		for _, e := range list {
			rows = append(rows, []string{e.Name, strings.Join(e.Settings, " "), e.Summary})
		}
		return rows
	})
}

func methodEntries() []methodEntry {
	var list []methodEntry
	for _, d := range denoise.Describe() {
		e := methodEntry{Name: d.Name, Summary: d.Summary, Settings: []string{}}
		for _, name := range []string{"loss", "ridge", "passes", "degree", "flat-weights", "width"} {
			for _, s := range d.Settings {
				if settingFlags[name] == s {
					e.Settings = append(e.Settings, "--"+name)
				}
			}
		}
		list = append(list, e)
	}
	return list
}
