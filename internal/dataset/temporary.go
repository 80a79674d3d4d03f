package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
)

// temporaryName matches the names of temporary files. Each is locked from its creation to
// its renaming, and the lock ends with the process. So a file that can be locked is
// abandoned, even if processes cannot see each other, as in containers.
var temporaryName = regexp.MustCompile(`^\.scqm-[0-9a-f]{16}\.tmp$`)

var (
	errHeld    = errors.New("locked by another")
	errNoLocks = errors.New("there are no locks in this file system")
)

// createTemporary creates an empty file in the directory of the target, and removes those
// of killed processes. Unlike os.CreateTemp it leaves the mode to the umask.
func (t target) createTemporary() (*os.File, error) {
	dir, _ := filepath.Split(t.path)
	clearTemporaries(dir)
	for {
		name := fmt.Sprintf("%s.scqm-%016x.tmp", dir, rand.Uint64())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		switch {
		case err == nil && claim(f):
			return f, nil
		case err == nil:
			f.Close()
		case errors.Is(err, fs.ErrNotExist) && !isDirectory(dir):
			return nil, inputErrorf(ErrInput, "there is no directory %q; create it first", dir)
		case !errors.Is(err, fs.ErrExist):
			return nil, pathError(err, "cannot create a file in the directory: %w")
		}
	}
}

func isDirectory(dir string) bool {
	info, err := os.Stat(cmp.Or(dir, "."))
	return err == nil && info.IsDir()
}

// claim locks a new file. It returns false if another process removed the file as
// abandoned before it was locked.
func claim(f *os.File) bool {
	err := tryLock(f)
	return errors.Is(err, errNoLocks) || err == nil && isNamed(f, f.Name())
}

// isNamed reports whether path is still a name of the open file.
func isNamed(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// clearTemporaries removes the temporary files of killed processes from a directory, and
// ignores errors. It only reads names, which takes a millisecond for thousands of files.
func clearTemporaries(dir string) {
	d, err := os.Open(cmp.Or(dir, "."))
	if err != nil {
		return
	}
	defer d.Close()
	for err == nil {
		var names []string
		names, err = d.Readdirnames(256)
		for _, name := range names {
			if temporaryName.MatchString(name) {
				removeAbandoned(dir + name)
			}
		}
	}
}

// removeAbandoned removes a temporary file that no process has locked.
func removeAbandoned(path string) {
	f, err := openToLock(path, 0)
	if err != nil {
		return
	}
	defer f.Close()
	// Whoever wrote it may have given it its name since it was opened here.
	if tryLock(f) == nil && isNamed(f, path) {
		os.Remove(path)
	}
}
