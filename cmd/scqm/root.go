package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/models/scqm"
)

// run executes one command line and returns the exit code. An error is one line
// on stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !understood && !errors.Is(err, errUsage) {
		err = usagef("%w", err)
	}
	if err != nil {
		fmt.Fprintln(stderr, oneLine(cmd, err))
	}
	return exitCode(ctx, err)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:                        "scqm",
		Short:                      "Learn low-dimensional curved structure from noisy data",
		Version:                    scqm.Version,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       knownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		fitCommand(), transformCommand(), reconstructCommand(), projectCommand(), influenceCommand(), meanCommand(),
		denoiseCommand(), methodsCommand(), lossesCommand(), pluginCommand(), solversCommand(),
		suggestCommand(), experimentCommand(), demoCommand(), benchCommand(), versionCommand(),
	)
	return root
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err == nil {
				err = knownCommand(cmd.Root(), rest)
			}
			if err != nil {
				return err
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// knownCommand refuses what is left of a command line when no command was
// recognised in it.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return usagef("no command %q%s; see scqm --help", args[0], hint)
}

// arguments wants exactly the arguments named.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		want, got := "no arguments", "none"
		if len(names) > 0 {
			want = strings.Join(names, " and ")
		}
		if len(args) > 0 {
			got = strings.Join(args, " ")
		}
		return usagef("arguments: want %s, got %s; see %s --help", want, got, cmd.CommandPath())
	}
}
