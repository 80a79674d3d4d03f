package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// ErrLocked is matched by the error for a file that another process has locked.
// It matches ErrInput.
var ErrLocked = fmt.Errorf("%w: in use", ErrInput)

// Lock keeps a file, which is replaced again and again, for one process. It is
// the advisory lock of a second file beside it, whose name ends in .lock, since
// the first is another one after every replacement. The system ends the lock
// with the process, however that ends; the file that it may leave behind locks
// nobody out.
type Lock struct {
	file *os.File
	held bool
}

// LockFile locks the file at path, which need not be there yet. A symbolic link
// stands for the file it points to. Hard links are files of their own, for
// replacing one leaves the other as it was.
//
// The error matches ErrLocked where another process has the lock, and names it
// if it can.
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

// Held is false where the file system has no locks.
func (l *Lock) Held() bool { return l.held }

// Close ends the lock and removes its file.
func (l *Lock) Close() error {
	name := l.file.Name()
	if l.held {
		os.Remove(name) // while it is locked: who opens it from now on makes another
		return l.file.Close()
	}
	return errors.Join(l.file.Close(), os.Remove(name))
}

// lockText begins what a lock file says, where it says something.
const lockText = "process "

// foreign reports whether the text of a file cannot be that of a lock. A lost
// power supply may have made zeros of it.
func foreign(text []byte) bool {
	return !bytes.HasPrefix(text, []byte(lockText)) && len(bytes.Trim(text, "\x00")) > 0
}

// acquire locks a file at path, which it makes if there is none.
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

// lockOpened locks the file that was opened at path, and returns nothing where
// its last process has just removed it.
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

// owned matches what a lock file says that its process has written to the end.
var owned = regexp.MustCompile(`^process [0-9]+ on [\w.-]+\n$`)

// inUse is the error for a file that another process has locked.
func inUse(text []byte) error {
	owner := "another process"
	if owned.Match(text) {
		owner = string(bytes.TrimSpace(text))
	}
	return inputErrorf(ErrLocked, "is in use by %s; wait for its end, or name another file", owner)
}

// sign writes who has the lock. It does so for people only: a file that cannot
// be written locks as well.
func (l *Lock) sign() {
	host, _ := os.Hostname()
	text := fmt.Sprintf("%s%d on %s\n", lockText, os.Getpid(), host)
	if _, err := l.file.WriteAt([]byte(text), 0); err == nil {
		_ = l.file.Truncate(int64(len(text)))
	}
}
