package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// program is an executable file that may be started. The file stays open, so
// that what was checked is what is started.
type program struct {
	path   string // absolute
	file   *os.File
	sha256 string // in hexadecimal digits
}

// Trusted returns why a file would not be started, or nil: it must be a regular
// executable file, owned by this user or root, that nobody else can write, and
// nobody else must be able to put another one in its place.
func Trusted(path string) error {
	f, err := openTrusted(path)
	if err != nil {
		return err
	}
	return f.Close()
}

func untrusted(path, format string, args ...any) error {
	return &Error{path, "check", ErrUntrusted, fmt.Sprintf(format, args...), ""}
}

func openTrusted(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{path, "check", ErrNotFound, "there is no such file", ""}
	case err != nil:
		return nil, untrusted(path, "%v", err)
	case before.Mode().Type() == fs.ModeSymlink:
		target, _ := filepath.EvalSymlinks(path)
		return nil, untrusted(path, "is a symbolic link, which can be turned elsewhere; give the file itself, %s", target)
	case !before.Mode().IsRegular():
		return nil, untrusted(path, "is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, untrusted(path, "%v; it must be readable", errors.Unwrap(err))
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = untrusted(path, "was replaced while it was checked")
	}
	if err == nil {
		err = judgeFile(path, info)
	}
	if err == nil {
		err = judgeFolders(path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// judgeFolders refuses folders on the way to the file in which others can
// replace things. Folders with the sticky bit, such as /tmp, are safe.
func judgeFolders(path string) error {
	folder, err := filepath.Abs(path)
	if err == nil {
		folder, err = filepath.EvalSymlinks(filepath.Dir(folder))
	}
	for err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(folder); err != nil {
			break
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return untrusted(path, "everybody can replace files in %s; run chmod o-w on it", folder)
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return nil
		}
		folder = parent
	}
	return untrusted(path, "%v", err)
}

// openProgram opens a trusted file and compares its checksum with the pinned
// one, which may be empty.
func openProgram(path, pinned string) (*program, error) {
	f, err := openTrusted(path)
	if err != nil {
		return nil, err
	}
	p := &program{file: f}
	p.path, err = filepath.Abs(path)
	if err == nil {
		err = p.hash()
	}
	if err != nil {
		f.Close()
		return nil, untrusted(path, "%v", err)
	}
	if pinned != "" && !strings.EqualFold(pinned, p.sha256) {
		f.Close()
		return nil, &Error{path, "check", ErrChecksum, fmt.Sprintf(
			"its SHA-256 is %s, not %s; if you trust the file as it is now, pin that", p.sha256, strings.ToLower(pinned)), ""}
	}
	return p, nil
}

func (p *program) hash() error {
	h := sha256.New()
	if _, err := io.Copy(h, p.file); err != nil {
		return err
	}
	p.sha256 = hex.EncodeToString(h.Sum(nil))
	return nil
}
