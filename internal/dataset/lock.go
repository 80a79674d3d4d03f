package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// ErrLocked is matched by the error for a file that another process has locked. Such an
// error also matches ErrInput.
var ErrLocked = fmt.Errorf("%w: in use", ErrInput)

// Lock is the lock of a file that this process replaces repeatedly. It is an advisory lock
// on a second file, with the extension .lock, because each replacement makes a new first
// file. The system releases the lock when the process ends for any reason. A .lock file
// that remains does not block other processes.
type Lock struct {
	file *os.File
	held bool
}

// LockFile locks the file at path, which need not exist. If path is a symbolic link, the
// lock is for the file that it points to. Hard links to a file are locked separately,
// because replacing one does not change the others.
//
// The error matches ErrLocked if another process has the lock; it names that process if
// known.
func LockFile(path string) (*Lock, error) {
	t, err := resolveTarget(path)
	if err == nil && t.stream {
		err = inputErrorf(ErrInput, "is a device or a pipe; name a file")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l, err := acquire(t.path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// Held reports whether the file is locked. It is false if the file system does not support locks.
func (l *Lock) Held() bool { return l.held }

// Close releases the lock and removes the lock file.
func (l *Lock) Close() error {
	name := l.file.Name()
	if l.held {
		os.Remove(name) // while it is locked: who opens it from now on makes another
		return l.file.Close()
	}
	return errors.Join(l.file.Close(), os.Remove(name))
}

// lockText is the prefix of the text in a lock file.
const lockText = "process "

// foreign reports whether text cannot be that of a lock file. Zeros can: a power failure
// may leave them.
func foreign(text []byte) bool {
	return !bytes.HasPrefix(text, []byte(lockText)) && len(bytes.Trim(text, "\x00")) > 0
}

// acquire locks the file at path, and creates it if necessary.
func acquire(path string) (*Lock, error) {
	for {
		f, err := openToLock(path, os.O_CREATE)
		if err != nil {
			return nil, inputErrorf(ErrInput, "cannot be locked by %s (%w); move that away", path, bare(err))
		}
		l, err := lockOpened(f, path)
		if l == nil {
			f.Close()
		}
		if l != nil || err != nil {
			return l, err
		}
	}
}

// lockOpened locks the open file f of path. It returns nil if the previous process has
// just removed the file.
func lockOpened(f *os.File, path string) (*Lock, error) {
	locked := tryLock(f)
	if locked != nil && !errors.Is(locked, errHeld) && !errors.Is(locked, errNoLocks) {
		return nil, locked
	}
	if !isNamed(f, path) {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(f, 256))
	switch {
	case err != nil:
		return nil, bare(err)
	case foreign(text):
		return nil, inputErrorf(ErrInput, "needs the name %s for its lock; another file has it: move that away", path)
	case errors.Is(locked, errHeld):
		return nil, inUse(text)
	}
	l := &Lock{f, locked == nil}
	if l.held {
		l.sign()
	}
	return l, nil
}

// owned matches the complete text of a lock file.
var owned = regexp.MustCompile(`^process [0-9]+ on [\w.-]+\n$`)

// inUse returns the error for a file that another process has locked.
func inUse(text []byte) error {
	owner := "another process"
	if owned.Match(text) {
		owner = string(bytes.TrimSpace(text))
	}
	return inputErrorf(ErrLocked, "is in use by %s; wait for its end, or name another file", owner)
}

// sign writes the process into the lock file, as information for people. If writing fails,
// the lock still holds.
func (l *Lock) sign() {
	host, _ := os.Hostname()
	text := fmt.Sprintf("%s%d on %s\n", lockText, os.Getpid(), host)
	if _, err := l.file.WriteAt([]byte(text), 0); err == nil {
		_ = l.file.Truncate(int64(len(text)))
	}
}
