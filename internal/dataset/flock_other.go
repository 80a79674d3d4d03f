//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package dataset

import "os"

// tryLock returns errNoLocks: this system has no file locks.
func tryLock(*os.File) error { return errNoLocks }

func openToLock(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|os.O_RDWR, 0o644)
}

// renameLocked closes the file, then renames it, because some systems cannot rename an
// open file.
func renameLocked(f *os.File, to string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}
