package options

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/plugins"
)

// Plugin holds the flags that choose a plugin, and the plugin process while it runs.
type Plugin struct {
	Name, sha256 string
	params       []string
	timeout      time.Duration

	opened *plugins.Plugin
}

// AddTo adds the flags that name the plugin to cmd. usage is the help text of the flag --plugin.
func (f *Plugin) AddTo(cmd *cobra.Command, usage string) {
	cmd.Flags().Var(cli.Name(&f.Name, "NAME|PATH"), "plugin", usage)
	f.AddTrustTo(cmd)
}

// AddTrustTo adds the flags that say which plugin files are accepted.
func (f *Plugin) AddTrustTo(cmd *cobra.Command) {
	cmd.Flags().Var(cli.Parsed(&f.sha256, "HEX|any", checksum), "plugin-sha256", "checksum that the file of the plugin must have (default any, and beside a model the one recorded in it)")
	cmd.Flags().Var(cli.Duration(&f.timeout), "plugin-timeout", fmt.Sprintf("longest wait for an answer of the plugin (default %v)", plugins.DefaultCallTimeout))
}

// AddParamsTo adds the flag for the parameters of the loss.
func (f *Plugin) AddParamsTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.params, "loss-param", nil, "parameter of the plugin's loss, as `NAME=VALUE`; can be repeated")
}

var sha256Digits = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

func checksum(s string) (string, error) {
	if s != plugins.AnySHA256 && !sha256Digits.MatchString(s) {
		return "", errors.New("want the 64 digits that sha256sum prints, or any")
	}
	return s, nil
}

// Options returns the flags as options of package plugins.
func (f *Plugin) Options() (plugins.Options, error) {
	o := plugins.Options{Params: map[string]any{}, SHA256: f.sha256, CallTimeout: f.timeout}
	for _, given := range f.params {
		name, text, ok := strings.Cut(given, "=")
		if _, twice := o.Params[name]; !ok || name == "" || twice {
			return o, cli.Usagef("--loss-param %s: want NAME=VALUE, and each name once", given)
		}
		o.Params[name] = text
	}
	return o, nil
}

// Open starts the plugin that the flags name.
func (f *Plugin) Open(cmd *cobra.Command) error {
	o, err := f.Options()
	if err != nil {
		return err
	}
	f.opened, err = plugins.Open(cmd.Context(), f.Name, o)
	return inFlags(err)
}

// OpenFor starts the plugin that computes the loss of the model m, if a plugin computes
// it. The model stores the name of the loss, not a path. OpenFor searches the user's
// plugin folders for that name. The file must have the checksum stored in the model,
// unless the user gives another checksum or accepts any file.
func (f *Plugin) OpenFor(cmd *cobra.Command, m *scqm.Model) error {
	recorded := m.Meta.Loss.Plugin
	if recorded == nil {
		return cli.Refuse(cmd, "beside a model whose loss is built in", "plugin", "plugin-sha256", "plugin-timeout")
	}
	o := plugins.Options{SHA256: cmp.Or(f.sha256, recorded.SHA256), CallTimeout: f.timeout}
	if err := json.Unmarshal([]byte(recorded.Params), &o.Params); err != nil {
		return cli.Usagef("meta.json: parameters of the plugin: %w", err)
	}
	name := cmp.Or(f.Name, recorded.Name)
	p, err := plugins.Open(cmd.Context(), name, o)
	switch {
	case errors.Is(err, plugins.ErrNotFound):
		return fmt.Errorf("its loss is computed by the plugin %s %s (sha256 %.12s...), which --plugin can name: %w",
			recorded.Name, recorded.Version, recorded.SHA256, inFlags(err))
	case errors.Is(err, plugins.ErrChecksum) && f.sha256 == "":
		return fmt.Errorf("it was learned with another file of the plugin %s; if you trust the present one, add --plugin-sha256 with its checksum, or any: %w",
			recorded.Name, inFlags(err))
	case err != nil:
		return inFlags(err)
	}
	f.opened = p
	if found := p.Description().Name; found != recorded.Name {
		return cli.Usagef("--plugin: %s is the loss %s, and the model was learned with %s", name, found, recorded.Name)
	}
	m.Loss = p.Loss()
	return nil
}

// inFlags replaces the package name in an error of package plugins by the flag --plugin.
func inFlags(err error) error { return InPlace(err, "--plugin: ") }

// InPlace replaces the package name in an error of package plugins by place, a part of the command line.
func InPlace(err error, place string) error {
	if err == nil {
		return nil
	}
	return pluginError{place, err}
}

type pluginError struct {
	place string
	error
}

// Error returns the error text without the package name.
func (e pluginError) Error() string {
	return e.place + strings.TrimPrefix(e.error.Error(), "plugins: ")
}

// Unwrap returns the original error of package plugins.
func (e pluginError) Unwrap() error { return e.error }

// Close ends the plugin process, if one was started.
func (f *Plugin) Close() {
	if f.opened != nil {
		f.opened.Close()
	}
}
