package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/models/scqm"
	"github.com/scqm/scqm/plugins"
)

// pluginFlags choose a plugin and hold it while it runs.
type pluginFlags struct {
	name, sha256 string
	params       []string
	timeout      time.Duration

	opened *plugins.Plugin
}

// addTo adds the flags that say which plugin; usage says of what.
func (f *pluginFlags) addTo(cmd *cobra.Command, usage string) {
	cmd.Flags().Var(naming(&f.name, "NAME|PATH"), "plugin", usage)
	f.addTrustTo(cmd)
}

// addTrustTo adds the flags that say how far a plugin is trusted.
func (f *pluginFlags) addTrustTo(cmd *cobra.Command) {
	cmd.Flags().Var(value[string]{&f.sha256, "HEX", checksum}, "plugin-sha256", "checksum that the file of the plugin must have")
	cmd.Flags().Var(lasting(&f.timeout), "plugin-timeout", fmt.Sprintf("longest wait for an answer of the plugin (default %v)", plugins.DefaultCallTimeout))
}

func (f *pluginFlags) addParamsTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.params, "loss-param", nil, "parameter of the plugin's loss, as `NAME=VALUE`; can be repeated")
}

var sha256Digits = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

func checksum(s string) (string, error) {
	if !sha256Digits.MatchString(s) {
		return "", errors.New("want the 64 digits that sha256sum prints")
	}
	return s, nil
}

func (f *pluginFlags) options() (plugins.Options, error) {
	o := plugins.Options{Params: map[string]any{}, SHA256: f.sha256, CallTimeout: f.timeout}
	for _, given := range f.params {
		name, text, ok := strings.Cut(given, "=")
		if _, twice := o.Params[name]; !ok || name == "" || twice {
			return o, usagef("--loss-param %s: want NAME=VALUE, and each name once", given)
		}
		o.Params[name] = text
	}
	return o, nil
}

// open starts the plugin that was asked for.
func (f *pluginFlags) open(cmd *cobra.Command) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	f.opened, err = plugins.Open(cmd.Context(), f.name, o)
	return inFlags(err)
}

// openFor starts the plugin that computes the loss of a model, if one does. The
// model names it, but never says where it is: files from others must not start
// programs.
func (f *pluginFlags) openFor(cmd *cobra.Command, m *scqm.Model) error {
	recorded := m.Meta.Loss.Plugin
	if recorded == nil {
		return refuse(cmd, "beside a model whose loss is built in", "plugin", "plugin-sha256", "plugin-timeout")
	}
	o := plugins.Options{SHA256: f.sha256, CallTimeout: f.timeout}
	if err := json.Unmarshal([]byte(recorded.Params), &o.Params); err != nil {
		return usagef("meta.json: parameters of the plugin: %w", err)
	}
	name := f.name
	if name == "" {
		name = recorded.Name
	}
	p, err := plugins.Open(cmd.Context(), name, o)
	if errors.Is(err, plugins.ErrNotFound) {
		return fmt.Errorf("its loss is computed by the plugin %s %s (sha256 %.12s...), which --plugin can name: %w",
			recorded.Name, recorded.Version, recorded.SHA256, inFlags(err))
	}
	if err != nil {
		return inFlags(err)
	}
	f.opened = p
	if found := p.Description().Name; found != recorded.Name {
		return usagef("--plugin: %s is the loss %s, and the model was learned with %s", name, found, recorded.Name)
	}
	m.Loss = p.Loss()
	return nil
}

// inFlags says which flag an error of package plugins is about.
func inFlags(err error) error { return inPlace(err, "--plugin: ") }

// inPlace names a place of the command line instead of the package.
func inPlace(err error, place string) error {
	if err == nil {
		return nil
	}
	return pluginError{place, err}
}

type pluginError struct {
	place string
	error
}

// Error returns the text of the package without its name.
func (e pluginError) Error() string {
	return e.place + strings.TrimPrefix(e.error.Error(), "plugins: ")
}

// Unwrap returns the error of the package.
func (e pluginError) Unwrap() error { return e.error }

// close ends the plugin, if one was started.
func (f *pluginFlags) close() {
	if f.opened != nil {
		f.opened.Close()
	}
}
