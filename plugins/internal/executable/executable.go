// Package executable opens programs that nobody but the user or root can have
// changed.
package executable

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// maxScriptBytes bounds a script, which is copied before it is started.
const maxScriptBytes = 256 << 20

// File is a program that may be started. It stays open, so that what was checked
// is what is started.
type File struct {
	*os.File
	// Path is absolute.
	Path string
	// Script is the content where it begins with #!, else nil.
	Script []byte
	// SHA256 is the checksum in hexadecimal digits.
	SHA256 string
}

// Check returns why a file would not be started, or nil: it must be a regular
// executable file, owned by this user or root, that nobody else can write, and
// nobody else must be able to put another one in its place.
func Check(path string) error {
	f, _, err := openChecked(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// openChecked returns the open file and its absolute path without links.
func openChecked(path string) (*os.File, string, error) {
	place, err := resolve(path)
	if err != nil {
		return nil, "", err
	}
	before, err := os.Lstat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", notFound(path)
	case err != nil:
		return nil, "", untrusted(path, "%v", err)
	case before.Mode().Type() == fs.ModeSymlink:
		target, _ := filepath.EvalSymlinks(place)
		return nil, "", untrusted(path, "is a symbolic link, which can be turned elsewhere; give the file itself, %s", target)
	case !before.Mode().IsRegular():
		return nil, "", untrusted(path, "is not a regular file")
	}
	f, err := os.Open(place)
	if err != nil {
		return nil, "", untrusted(path, "%v; it must be readable", errors.Unwrap(err))
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = untrusted(path, "was replaced while it was checked")
	}
	if err == nil {
		err = judgeFile(path, info)
	}
	if err == nil {
		err = judgeName(path, filepath.Dir(place), info)
	}
	if err != nil {
		f.Close()
		return nil, "", err
	}
	return f, place, nil
}

// Open opens a file that [Check] accepts and compares its checksum with the
// pinned one, in hexadecimal digits; "" takes any.
func Open(path, pinned string) (*File, error) {
	f, _, err := openChecked(path)
	if err != nil {
		return nil, err
	}
	p := &File{File: f}
	p.Path, err = filepath.Abs(path)
	if err == nil {
		err = p.hash()
	}
	if err != nil {
		p.Close()
		return nil, untrusted(path, "%v", err)
	}
	if pinned != "" && !strings.EqualFold(pinned, p.SHA256) {
		p.Close()
		return nil, &Error{path, ErrChecksum, fmt.Sprintf(
			"its SHA-256 is %s, not %s", p.SHA256, strings.ToLower(pinned))}
	}
	return p, nil
}

// hash computes the checksum. A script is read by its interpreter later and
// piece by piece, which also finds modules and files by the folder it is in: so
// it is replaced by a copy that nobody can change and that is in no folder.
func (p *File) hash() error {
	h := sha256.New()
	first := make([]byte, 2)
	n, err := io.ReadFull(p.File, first)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	h.Write(first[:n])
	to := io.Writer(h)
	var script *bytes.Buffer
	if string(first) == "#!" {
		script = bytes.NewBuffer(first)
		to = io.MultiWriter(h, script)
	}
	from := io.Reader(p.File)
	if script != nil {
		from = io.LimitReader(p.File, maxScriptBytes)
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	p.SHA256 = hex.EncodeToString(h.Sum(nil))
	if script == nil {
		return nil
	}
	if script.Len() >= maxScriptBytes {
		return fmt.Errorf("the script is longer than %d bytes", maxScriptBytes)
	}
	p.Script = script.Bytes()
	if sealed, err := guard.Seal(filepath.Base(p.Path), p.Script); err == nil {
		p.Close()
		p.File = sealed
	}
	return nil
}
