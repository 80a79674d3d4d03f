package main

import (
	"errors"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/licences"
	"github.com/scqm/scqm/models/scqm"
)

// versionReport is the output of scqm version.
type versionReport struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the sources differ from the commit
}

func versionCommand() *cobra.Command {
	var asJSON, texts bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, platform and revision, or the licences of what is in the program",
		Args:  cli.Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if texts {
				return printLicences(cmd.OutOrStdout(), asJSON)
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), thisVersion())
			}
			return cli.PrintTable(cmd.OutOrStdout(), thisVersion().rows())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object, with --licences a list of modules")
	cmd.Flags().BoolVar(&texts, "licences", false, "print every module in this program with version, licence and its text")
	return cmd
}

func thisVersion() versionReport {
	r := versionReport{Version: scqm.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return r
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			r.Revision = s.Value
		case "vcs.modified":
			r.Modified = s.Value == "true"
		}
	}
	return r
}

func (r versionReport) rows() [][]string {
	rows := [][]string{{"scqm", r.Version}, {"go", r.Go}, {"platform", r.Platform}}
	if r.Revision == "" {
		return rows
	}
	if r.Modified {
		r.Revision += ", modified"
	}
	return append(rows, []string{"revision", r.Revision})
}

// printLicences prints the licences of the modules linked into the program: a table and
// the texts, or JSON.
func printLicences(w io.Writer, asJSON bool) error {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return errors.New("scqm: version: the program has no list of its modules; build it with the go command, in module mode")
	}
	// A module without a record fails the command after those that have one.
	modules, unknown := licences.Linked(build, scqm.Version)
	print := licences.Print
	if asJSON {
		print = func(w io.Writer, modules []licences.Module) error { return cli.PrintJSON(w, modules) }
	}
	return errors.Join(print(w, modules), unknown)
}
