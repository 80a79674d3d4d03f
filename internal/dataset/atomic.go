package dataset

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// WriteFileAtomic makes path hold what write writes. The bytes go to a temporary
// file in the same directory, which takes the place of path only when all of it
// is on the disk: whatever fails before that leaves path as it was, and the
// temporary file is gone. One that a killed process leaves behind is removed by
// the next call for a file in that directory.
//
// A new file has mode 0644 less the umask; an existing one keeps its mode. A
// symbolic link stays, and the file it points to is replaced. A device or a pipe
// cannot be replaced and is written to.
//
// An error matches ErrInput when the path is at fault, not when the disk is.
func WriteFileAtomic(path string, write func(w io.Writer) error) error {
	target, err := resolveTarget(path)
	switch {
	case err != nil:
	case target.stream:
		err = writeStream(target.path, write)
	default:
		err = target.replace(write)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, bare(err))
	}
	return nil
}

// target is where an output path leads.
type target struct {
	path   string      // links followed
	mode   fs.FileMode // of the file that is there, 0 if none is
	stream bool        // a device or a pipe is there
}

func resolveTarget(path string) (target, error) {
	t := target{path: followLinks(path)}
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return t, pathError(err, "%w")
	case info.IsDir():
		return t, inputErrorf(ErrInput, "is a directory; name a file inside it")
	}
	t.mode, t.stream = info.Mode().Perm(), !info.Mode().IsRegular()
	return t, nil
}

// followLinks also follows links, one to another, to a file that is not there yet.
func followLinks(path string) string {
	const most = 40
	for range most {
		if existing, err := filepath.EvalSymlinks(path); err == nil {
			return existing
		}
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(path)
			link = dir + link
		}
		path = link
	}
	return path
}

func (t target) replace(write func(w io.Writer) error) (err error) {
	f, err := t.createTemporary()
	if err != nil {
		return err
	}
	done := false
	defer func() { // deferred, for write may panic
		if !done {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if t.mode != 0 {
		if err := f.Chmod(t.mode); err != nil {
			return err
		}
	}
	if err := writeBuffered(f, write); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := renameLocked(f, t.path); err != nil {
		return err
	}
	done = true
	return syncDirectory(t.path)
}

func writeStream(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return pathError(err, "%w")
	}
	if err := writeBuffered(f, write); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func writeBuffered(f *os.File, write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// syncDirectory makes a rename outlast a power cut, where the system can.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, _ := filepath.Split(path)
	d, err := os.Open(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
