package plugins

import (
	"context"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// newLogger returns what go-plugin logs to: nothing, or a logger of this program.
func newLogger(to *slog.Logger) hclog.Logger {
	o := &hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}
	if to == nil {
		return hclog.New(o)
	}
	o.Level = hclog.Trace // the rest is for the handler to say
	l := hclog.NewInterceptLogger(o)
	l.RegisterSink(sink{to})
	return l
}

// sink hands on what a plugin logs: lines of hclog in JSON with their level and values, other lines as
// [slog.LevelDebug], with which go-plugin's own words go too.
type sink struct{ to *slog.Logger }

// Accept implements [hclog.SinkAdapter]. The name is that of the program, or none.
func (s sink) Accept(name string, level hclog.Level, message string, args ...any) {
	at := slog.Level(4 * (int(level) - int(hclog.Info))) // both have steps of one kind from trace to error
	if name == "" {
		at = slog.LevelDebug
	} else {
		args = append(args, "plugin", name)
	}
	s.to.Log(context.Background(), at, message, args...)
}
