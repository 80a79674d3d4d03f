package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// KnownCommand returns an error if args is not empty: then its first word is not the
// name of a command.
func KnownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return Usagef("no command %q%s; see scqm --help", args[0], hint)
}

// Arguments returns a check that the command line has exactly one argument for each name.
func Arguments(names ...string) cobra.PositionalArgs {
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
		return Usagef("arguments: want %s, got %s; see %s --help", want, got, cmd.CommandPath())
	}
}

// Refuse returns an error if one of the flags called names was given although it has no
// effect in the stated circumstances.
func Refuse(cmd *cobra.Command, circumstances string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return Usagef("--%s does nothing %s; leave it out", name, circumstances)
		}
	}
	return nil
}
