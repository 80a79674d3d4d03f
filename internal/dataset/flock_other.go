//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package dataset

import "os"

// tryLock says that there are no locks here.
func tryLock(*os.File) error { return errNoLocks }

func openToLock(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|os.O_RDWR, 0o644)
}

// renameLocked closes the file first, for an open one cannot be renamed
// everywhere.
func renameLocked(f *os.File, to string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}
