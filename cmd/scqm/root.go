package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm"
)

// run executes one command line and returns its exit code. It prints an error as one
// line on stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	defer memory.SetCeiling(0, "")
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := cli.NewOutput(ctx, stdout)
	root.SetOut(out)
	root.SetErr(stderr)
	understood := false
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		understood = true
		return out.Check()
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !understood && out.Err() == nil && !errors.Is(err, cli.ErrUsage) {
		err = cli.Usagef("%w", err)
	}
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		fmt.Fprintln(stderr, cli.OneLine(cmd, err, args...))
	}
	return cli.ExitCode(ctx, err)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:                        "scqm",
		Short:                      "Learn low-dimensional curved structure from noisy data",
		Version:                    scqm.Version,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       cli.KnownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		fitCommand(), transformCommand(), reconstructCommand(), projectCommand(), imputeCommand(), influenceCommand(), reportCommand(), meanCommand(),
		denoiseCommand(), methodsCommand(), lossesCommand(), pluginCommand(), solversCommand(),
		suggestCommand(), experimentCommand(), benchCommand(), versionCommand(),
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
				err = cli.KnownCommand(cmd.Root(), rest)
			}
			if err != nil {
				return err
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}
