package cli

import "github.com/spf13/cobra"

// Listing makes cmd a command without arguments that prints the result of entries. It
// prints a table made by rows, or a JSON array.
func Listing[T any](cmd *cobra.Command, entries func() []T, rows func([]T) [][]string) *cobra.Command {
	var asJSON bool
	cmd.Args = Arguments()
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if asJSON {
			return PrintJSON(cmd.OutOrStdout(), entries())
		}
		return PrintTable(cmd.OutOrStdout(), rows(entries()))
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
