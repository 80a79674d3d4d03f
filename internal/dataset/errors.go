package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ErrInput is matched by every error that the user can fix by another file, path or
// option. Other errors are failures of the machine, such as a full disk.
var ErrInput = errors.New("bad input")

// More specific kinds of bad input; each also matches ErrInput.
var (
	ErrFormat    = fmt.Errorf("%w: not the expected format", ErrInput)
	ErrTruncated = fmt.Errorf("%w: file cut short", ErrInput)
	ErrShape     = fmt.Errorf("%w: unusable shape", ErrInput)
	ErrHeader    = fmt.Errorf("%w: a first row that may be a header or not", ErrInput)
	ErrNonFinite = fmt.Errorf("%w: not a finite number", ErrInput)
	ErrUnsealed  = fmt.Errorf("%w: archive without checksum", ErrFormat)
)

// inputError reads as its detail and matches both its kind and its detail.
type inputError struct{ kind, detail error }

func (e *inputError) Error() string   { return e.detail.Error() }
func (e *inputError) Unwrap() []error { return []error{e.kind, e.detail} }

func inputErrorf(kind error, format string, args ...any) error {
	return &inputError{kind, fmt.Errorf(format, args...)}
}

// bare removes the operation and the path from a file error, because messages already
// start with the path that the user gave.
func bare(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// systemErrors are errors of the machine, which another path would not fix.
var systemErrors = []error{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO,
}

// pathError wraps the reason why a path cannot be opened. The error matches ErrInput
// unless its cause is in systemErrors.
func pathError(err error, format string, args ...any) error {
	err = fmt.Errorf(format, append(args, bare(err))...)
	for _, f := range systemErrors {
		if errors.Is(err, f) {
			return err
		}
	}
	return &inputError{ErrInput, err}
}
