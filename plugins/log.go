package plugins

import (
	"context"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// newLogger returns the logger for go-plugin. It discards everything if to is nil.
func newLogger(to *slog.Logger) hclog.Logger {
	o := &hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard}
	if to == nil {
		return hclog.New(o)
	}
	o.Level = hclog.Trace // the handler of to filters by level
	l := hclog.NewInterceptLogger(o)
	l.RegisterSink(sink{to})
	return l
}

// sink forwards the log of a plugin to a slog.Logger. Lines of hclog in JSON keep their level and
// values. Other lines, and messages of go-plugin itself, get the level [slog.LevelDebug].
type sink struct{ to *slog.Logger }

// Accept implements [hclog.SinkAdapter]. name is the name of the plugin program or empty.
func (s sink) Accept(name string, level hclog.Level, message string, args ...any) {
	at := slog.Level(4 * (int(level) - int(hclog.Info))) // both scales have equal steps from trace to error
	if name == "" {
		at = slog.LevelDebug
	} else {
		args = append(args, "plugin", name)
	}
	s.to.Log(context.Background(), at, message, args...)
}
