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

// WriteFileAtomic replaces the content of path by what write writes. The bytes go to a
// temporary file in the same directory, which is renamed to path after all of it is on the
// disk. If anything fails before that, path is unchanged and the temporary file is
// removed. If the process is killed, the temporary file stays until the next call for a
// file in that directory removes it.
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

// target is the file to which an output path leads.
type target struct {
	path   string      // the path after following links
	mode   fs.FileMode // of the existing file, 0 if there is none
	stream bool        // the path is a device or a pipe
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

// followLinks returns the path that a chain of links leads to, even if no file exists there yet.
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

// syncDirectory flushes a directory to disk, so that a rename survives a power failure, where supported.
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
