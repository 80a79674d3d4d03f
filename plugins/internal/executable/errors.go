package executable

import (
	"errors"
	"fmt"
)

// Kinds of an [Error].
var (
	// ErrNotFound: there is no such file.
	ErrNotFound = errors.New("plugin not found")
	// ErrUntrusted: the file could have been changed by others, or is not a
	// regular executable file.
	ErrUntrusted = errors.New("plugin not trusted")
	// ErrChecksum: the file is not the one that was pinned.
	ErrChecksum = errors.New("checksum of the plugin differs")
)

// Error says why a file is refused.
type Error struct {
	// Path is the file as it was asked for, Kind one of the errors above.
	Path string
	Kind error
	// Detail says what is wrong and, where there is one, the remedy.
	Detail string
}

// Error returns one line.
func (e *Error) Error() string { return e.Path + ": " + e.Detail }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func untrusted(path, format string, args ...any) error {
	return &Error{path, ErrUntrusted, fmt.Sprintf(format, args...)}
}

func notFound(path string) error { return &Error{path, ErrNotFound, "there is no such file"} }
