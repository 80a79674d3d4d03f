package plugins

import (
	"cmp"
	"io"
	"log/slog"
	"time"
)

// Defaults of [Options].
const (
	DefaultStartTimeout = 30 * time.Second
	DefaultCallTimeout  = 30 * time.Second
)

// Options configure the start of a plugin. The zero value is valid.
type Options struct {
	// Params maps names of parameters of the loss to values. A string is parsed if the
	// plugin expects a number or a truth value. A missing parameter has the plugin's
	// default.
	Params map[string]any
	// SHA256 is the required checksum of the file, in hexadecimal digits; "" and
	// [AnySHA256] accept any file. It does not cover the interpreter, the libraries, or
	// what a script imports.
	SHA256 string
	// StartTimeout is the maximum time until the plugin is configured. A Python plugin may
	// need 10 s or more on a busy machine. Zero means 30 s.
	StartTimeout time.Duration
	// CallTimeout is the maximum time to evaluate up to 1 MiB of residuals, or one row if
	// it is longer. Zero means 30 s.
	CallTimeout time.Duration
	// NoSharedMemory makes all arrays travel over the connection instead of shared memory.
	NoSharedMemory bool
	// Args are the command-line arguments of the plugin.
	Args []string
	// Env lists additional environment variables as KEY=value.
	Env []string
	// Log receives the standard error of the plugin. If it is nil, only the end of this
	// output is kept, for errors.
	Log io.Writer
	// Logger receives the standard error of the plugin as log records. JSON lines of hclog
	// keep their level and values; other lines have the level Debug. Nil discards them.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.CallTimeout = cmp.Or(o.CallTimeout, DefaultCallTimeout)
	return o
}
