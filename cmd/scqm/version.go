package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/scqm"
)

// versionReport says which program this is.
type versionReport struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the sources differ from the revision
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print version, platform and revision",
		Args:  cli.Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), thisVersion())
			}
			return cli.PrintTable(cmd.OutOrStdout(), thisVersion().rows())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
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
