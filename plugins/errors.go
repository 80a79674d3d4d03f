package plugins

import (
	"errors"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/plugins/internal/executable"
)

// The kinds of an [Error]. The first five are mistakes of the user and match
// framework.ErrInvalid too.
var (
	// ErrNotFound: there is no plugin of that name.
	ErrNotFound = executable.ErrNotFound
	// ErrUntrusted: the file could have been changed by others, or is not a
	// regular executable file.
	ErrUntrusted = executable.ErrUntrusted
	// ErrChecksum: the file is not the one that was pinned.
	ErrChecksum = executable.ErrChecksum
	// ErrParams: the parameters do not fit the schema of the plugin.
	ErrParams = errors.New("parameters of the plugin do not fit")
	// ErrVersion: the plugin speaks no version of the protocol that is spoken
	// here.
	ErrVersion = errors.New("plugin speaks another version of the protocol")
	// ErrStart: the program does not start, or ends before it says where it
	// listens.
	ErrStart = errors.New("plugin does not start")
	// ErrHandshake: what the program says at its start is not the handshake.
	ErrHandshake = errors.New("no handshake from the plugin")
	// ErrTimeout: no answer by the deadline. The plugin is killed.
	ErrTimeout = errors.New("plugin does not answer")
	// ErrCrashed: the process ended during a call or before it.
	ErrCrashed = errors.New("plugin ended")
	// ErrReply: the answer breaks the protocol or a law of losses, such as
	// values of wrong number, negative or NaN.
	ErrReply = errors.New("plugin gives a wrong answer")
	// ErrRefused: the plugin answered with an error of its own.
	ErrRefused = errors.New("plugin reports an error")
	// ErrClosed: the plugin was closed by this side.
	ErrClosed = errors.New("plugin is closed")
)

// usage lists the kinds that are mistakes of the user.
var usage = []error{ErrNotFound, ErrUntrusted, ErrChecksum, ErrParams, ErrVersion}

// Error is a failure of a plugin.
type Error struct {
	// Plugin is the name of the loss once it is known, else the name or the
	// path that was asked for.
	Plugin string
	// Act is what was tried: find, check, start, describe, configure, attach
	// or evaluate.
	Act string
	// Kind is one of the errors above.
	Kind error
	// Detail says what happened and, where there is one, the remedy.
	Detail string
	// LastWords is the end of what the plugin wrote to its standard error,
	// shortened to a line; empty where it gave a reason itself.
	LastWords string
}

// Error returns one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("plugins: " + e.Plugin + ": " + e.Act + ": ")
	b.WriteString(e.Detail)
	if e.Detail == "" {
		b.WriteString(e.Kind.Error())
	}
	if e.LastWords != "" {
		b.WriteString("; its last words: " + e.LastWords)
	}
	return b.String()
}

// Unwrap returns the kind and, for mistakes of the user, framework.ErrInvalid.
func (e *Error) Unwrap() []error {
	for _, kind := range usage {
		if e.Kind == kind {
			return []error{kind, framework.ErrInvalid}
		}
	}
	return []error{e.Kind}
}
