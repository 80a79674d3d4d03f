//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dataset

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// tryLock takes the exclusive lock of an open file. The lock ends when this process closes
// the file or ends for any reason. The error matches errHeld if another process has the
// lock, and errNoLocks if the file system has no locks.
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

// openToLock opens a regular file, with additional flags, for locking. It opens for
// writing because NFS only locks such files. It does not follow links or wait for the
// other end of a pipe.
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

// renameLocked renames the file to to, keeping it locked until then, and closes it.
func renameLocked(f *os.File, to string) error {
	if err := os.Rename(f.Name(), to); err != nil {
		return err
	}
	f.Close() // all of it is on the disk
	return nil
}
