package options

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/scqm"
)

// AddFitTo adds a flag to cmd for each fit parameter that is a number, a word or a
// switch. The flags set fields of c. The other fields of c keep their defaults.
func AddFitTo(cmd *cobra.Command, c *scqm.Config) {
	for _, p := range scqm.Parameters {
		if p.Field == "" || p.Name == "missing" { // --missing belongs to the group Data
			continue
		}
		usage := p.Text
		if p.Default != "" && p.Kind() != "bool" {
			usage += fmt.Sprintf(" (default %s)", p.Default)
		}
		flag := cmd.Flags().VarPF(&parameter{Parameter: p, config: c}, p.FlagName(), p.Letter, usage)
		if p.Kind() == "bool" {
			flag.NoOptDefVal = "true"
		}
		if p.Name == "n_components" { // the zero Config has no default for it
			_ = p.Set(c, p.Default)
		}
	}
}

// parameter is the flag of one parameter of a fit.
type parameter struct {
	scqm.Parameter
	config *scqm.Config
	text   string
}

// Set parses text as the value of the parameter.
func (f *parameter) Set(text string) error {
	f.text = text
	return f.Parameter.Set(f.config, text)
}

// String returns the text that the user gave.
func (f *parameter) String() string { return f.text }

// Type returns the placeholder of the flag in help texts.
func (f *parameter) Type() string {
	switch kind := f.Kind(); kind {
	case "bool", "time":
		return strings.ToUpper(kind)
	case "float64":
		return "X"
	}
	return "N"
}

// usage returns the help text of the parameter called name.
func usage(name string) string {
	p, _ := scqm.ParameterOf(name)
	return p.Text
}

// AddSeedTo adds the flag --seed.
func AddSeedTo(flags *pflag.FlagSet, seed *uint64) {
	flags.Var(cli.Natural(seed), "seed", usage("random_state"))
}

// AddThreadsTo adds the flag --threads.
func AddThreadsTo(flags *pflag.FlagSet, threads *int) {
	flags.Var(cli.Count(threads), "threads", usage("n_threads"))
}
