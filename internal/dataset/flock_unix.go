//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dataset

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// tryLock takes the exclusive lock of an open file, which ends when the file is
// closed here, or when the process ends in whatever way. The error matches
// errHeld where somebody else has it, and errNoLocks where the file system has
// no locks.
func tryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EWOULDBLOCK:
			return errHeld
		case errors.Is(err, errors.ErrUnsupported) || err == syscall.ENOLCK:
			return errNoLocks
		default:
			return err
		}
	}
}

// openToLock opens a regular file for its lock, which NFS gives to writers only,
// with more flags. It neither follows a link nor waits for the other end of a
// pipe.
func openToLock(path string, flags int) (*os.File, error) {
	flags |= syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, flags|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.OpenFile(path, flags|os.O_RDONLY, 0o644)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return f, nil
}

// renameLocked gives the file the name to, without a moment in which it has no
// lock, and closes it.
func renameLocked(f *os.File, to string) error {
	if err := os.Rename(f.Name(), to); err != nil {
		return err
	}
	f.Close() // all of it is on the disk
	return nil
}
