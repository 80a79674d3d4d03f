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

// Options say how a plugin is started. The zero value is usable.
type Options struct {
	// Params are the parameters of the loss by name. Text is read as a number
	// or truth value where the plugin asks for one. Parameters that are left
	// out have the plugin's defaults.
	Params map[string]any
	// SHA256 is the checksum that the file must have, in hexadecimal digits;
	// "" and [AnySHA256] take any. It is that of the one file, not of what a
	// script imports, its interpreter, or libraries.
	SHA256 string
	// StartTimeout bounds the time until the plugin is configured, 10 s and more for one in
	// Python on a busy machine. Zero stands for 30 s.
	StartTimeout time.Duration
	// CallTimeout bounds the time for scoring up to 1 MiB of residuals, or a
	// row where that is longer. Zero stands for 30 s.
	CallTimeout time.Duration
	// NoSharedMemory sends all arrays through the connection.
	NoSharedMemory bool
	// Args are the arguments of the program.
	Args []string
	// Env are further environment variables, as KEY=value.
	Env []string
	// Log receives what the plugin writes to its standard error; nil drops it.
	// The end of it is kept for errors in any case.
	Log io.Writer
	// Logger receives the same by levels, with the values of what the plugin logs by hclog in
	// JSON; other lines are of the level Debug. Nil drops it.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.StartTimeout = cmp.Or(o.StartTimeout, DefaultStartTimeout)
	o.CallTimeout = cmp.Or(o.CallTimeout, DefaultCallTimeout)
	return o
}
