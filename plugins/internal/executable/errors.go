package executable

import (
	"errors"
	"fmt"
)

// The kinds of an [Error].
var (
	// ErrNotFound means that the file does not exist.
	ErrNotFound = errors.New("plugin not found")
	// ErrUntrusted means that other users could have changed the file, or that it is not a
	// regular executable file.
	ErrUntrusted = errors.New("plugin not trusted")
	// ErrChecksum means that the file does not have the required checksum.
	ErrChecksum = errors.New("checksum of the plugin differs")
)

// Error is the reason why a file is rejected.
type Error struct {
	// Path is the path as it was requested. Kind is one of the errors above.
	Path string
	Kind error
	// Detail says what is wrong and, if possible, how to fix it.
	Detail string
}

// Error returns the error as one line.
func (e *Error) Error() string { return e.Path + ": " + e.Detail }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func untrusted(path, format string, args ...any) error {
	return &Error{path, ErrUntrusted, fmt.Sprintf(format, args...)}
}

func notFound(path string) error { return &Error{path, ErrNotFound, "there is no such file"} }
