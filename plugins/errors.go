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
	// ErrNotFound means that there is no plugin with the given name.
	ErrNotFound = executable.ErrNotFound
	// ErrUntrusted means that other users could have changed the file, or that it is not a
	// regular executable file.
	ErrUntrusted = executable.ErrUntrusted
	// ErrChecksum means that the file does not have the required checksum.
	ErrChecksum = executable.ErrChecksum
	// ErrParams means that the parameters violate the schema of the plugin.
	ErrParams = errors.New("parameters of the plugin do not fit")
	// ErrVersion means that the plugin supports no protocol version that this program
	// supports.
	ErrVersion = errors.New("plugin speaks another version of the protocol")
	// ErrStart means that the program does not start, or ends before it prints the address
	// on which it listens.
	ErrStart = errors.New("plugin does not start")
	// ErrHandshake means that the first output of the program is not a valid handshake.
	ErrHandshake = errors.New("no handshake from the plugin")
	// ErrTimeout means that the plugin did not answer by the deadline. The plugin is killed.
	ErrTimeout = errors.New("plugin does not answer")
	// ErrCrashed means that the process ended before or during a call.
	ErrCrashed = errors.New("plugin ended")
	// ErrReply means that the answer violates the protocol or a law of losses. For
	// example, values are too few, negative or NaN.
	ErrReply = errors.New("plugin gives a wrong answer")
	// ErrRefused means that the plugin answered with an error.
	ErrRefused = errors.New("plugin reports an error")
	// ErrClosed means that this program has closed the plugin.
	ErrClosed = errors.New("plugin is closed")
)

// usage lists the kinds of errors that the user can cause.
var usage = []error{ErrNotFound, ErrUntrusted, ErrChecksum, ErrParams, ErrVersion}

// Error is the error of an operation on a plugin.
type Error struct {
	// Plugin is the name of the loss if it is known, otherwise the name or path passed to
	// [Open].
	Plugin string
	// Act is the operation that failed: find, check, start, describe, configure, attach or
	// evaluate.
	Act string
	// Kind is one of the errors defined above.
	Kind error
	// Detail says what happened and, if possible, how to fix it.
	Detail string
	// LastWords is the end of the plugin's standard error output, shortened to one line.
	// It is empty if the plugin itself reported a reason.
	LastWords string
}

// Error returns the error as one line.
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
