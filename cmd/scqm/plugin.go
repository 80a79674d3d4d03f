package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/internal/quote"
	"github.com/scqm/scqm/plugins"
)

const pluginLong = `Losses that are computed by programs of their own, in any language.

A plugin is an executable file scqm-loss-NAME. It is named by its path, or by
NAME if it is in a folder listed in $SCQM_PLUGIN_PATH or in scqm/plugins in your
data directory. Use it with scqm fit --plugin NAME.`

func pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "List, check and begin losses of your own",
		Long:  pluginLong,
		Args:  cli.KnownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.AddCommand(pluginListCommand(), pluginCheckCommand(), pluginNewCommand())
	return cmd
}

// foundPlugin is one line of the output of scqm plugin list.
type foundPlugin struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// State is "ready", "hidden by an earlier one", or the reason why the file is rejected.
	State string `json:"state"`
}

func pluginListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plugins found",
		Long:  "List the plugins in the folders that are searched, in the order of the search. None is started.",
		Args:  cli.Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := foundPlugins()
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), list)
			}
			if len(list) == 0 {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "no plugins in %s\n", quote.Marks(strings.Join(plugins.Folders(), ", ")))
				return err
			}
			rows := [][]string{{"NAME", "STATE", "FILE"}}
			for _, p := range list {
				rows = append(rows, []string{p.Name, p.State, p.Path})
			}
			return cli.PrintTable(cmd.OutOrStdout(), rows)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func foundPlugins() []foundPlugin {
	list := []foundPlugin{}
	for _, found := range plugins.List() {
		p := foundPlugin{found.Name, found.Path, "ready"}
		if found.Hidden {
			p.State = "hidden by an earlier one"
		}
		if found.Err != nil {
			p.State = strings.TrimPrefix(found.Err.Error(), "plugins: "+found.Path+": check: ")
		}
		list = append(list, p)
	}
	return list
}

// checkedPlugin is the report of scqm plugin check.
type checkedPlugin struct {
	Name      string             `json:"name"`
	Version   string             `json:"version"`
	Structure string             `json:"structure"`
	SHA256    string             `json:"sha256"`
	OK        bool               `json:"ok"`
	Seconds   map[string]float64 `json:"seconds"`

	Laws []frameworktest.Verdict `json:"laws"`
}

func pluginCheckCommand() *cobra.Command {
	var f options.Plugin
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check NAME|PATH",
		Short: "Try whether a plugin obeys the laws of losses",
		Long: `Start a plugin and try the laws that fits rely on: gradients are those of the
values, batches give what single rows give, weights bound the loss, and so on.`,
		Example: "  scqm plugin check ./scqm-loss-mine --loss-param delta=0.5",
		Args:    cli.Arguments("NAME|PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Name = args[0]
			return checkPlugin(cmd, &f, asJSON)
		},
	}
	f.AddParamsTo(cmd)
	f.AddTrustTo(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func checkPlugin(cmd *cobra.Command, f *options.Plugin, asJSON bool) error {
	o, err := f.Options()
	if err != nil {
		return err
	}
	c, err := plugins.Check(cmd.Context(), f.Name, o)
	if err != nil {
		return options.InPlace(err, "")
	}
	report := checkedPlugin{
		Name: c.Program.Name, Version: c.Program.Version, SHA256: c.Program.SHA256,
		Structure: c.Structure.String(), OK: c.OK(), Seconds: map[string]float64{}, Laws: c.Verdicts,
	}
	for _, t := range c.Times {
		report.Seconds[t.What] = t.Took.Seconds()
	}
	if asJSON {
		err = cli.PrintJSON(cmd.OutOrStdout(), report)
	} else {
		err = cli.PrintTable(cmd.OutOrStdout(), checkRows(c))
	}
	if err == nil {
		err = c.Err()
	}
	return err
}

func checkRows(c *plugins.Checked) [][]string {
	rows := [][]string{{"LAW", "", "FOUND"}}
	for _, v := range c.Verdicts {
		rows = append(rows, []string{v.Law, mark(v), v.Detail})
	}
	for _, t := range c.Times {
		rows = append(rows, []string{"time", "", fmt.Sprintf("%s: %v", t.What, t.Took.Round(time.Microsecond))})
	}
	return append(rows, []string{"sha256", "", c.Program.SHA256})
}

func mark(v frameworktest.Verdict) string {
	if v.OK {
		return "ok"
	}
	return "BROKEN"
}

func pluginNewCommand() *cobra.Command {
	language := plugins.Go
	folder := "."
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a plugin to begin with",
		Long: `Write a plugin that works: a file scqm-loss-NAME in Python, or a folder of that
name with a program in Go. Then change the formula to your own.`,
		Example: `  scqm plugin new mine --lang python
  scqm plugin check ./scqm-loss-mine
  scqm fit data.csv --plugin ./scqm-loss-mine -o model.npz`,
		Args: cli.Arguments("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			made, err := plugins.New(folder, args[0], language)
			if err != nil {
				return options.InPlace(err, "")
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n%s\n", quote.Marks(strings.Join(made.Files, ", ")), made.Next)
			return err
		},
	}
	cmd.Flags().Var(cli.Choice(&language, plugins.Go, plugins.Python), "lang", "language")
	cmd.Flags().VarP(cli.Name(&folder, "FOLDER"), "output", "o", "folder to write into")
	return cmd
}
