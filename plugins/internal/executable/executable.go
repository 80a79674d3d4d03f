// Package executable opens programs that only the user or root can have changed.
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

// maxScriptBytes is the maximum size of a script. A script is copied before it is started.
const maxScriptBytes = 256 << 20

// File is a program that has passed the checks. It stays open, so that the program
// started is the file that was checked.
type File struct {
	*os.File
	// Path is the absolute path of the file.
	Path string
	// Script is the content of the file if it begins with #!, else nil.
	Script []byte
	// SHA256 is the checksum in hexadecimal digits.
	SHA256 string
}

// Check returns why a file would not be started, or nil: it must be a regular
// executable file, owned by this user or root, that nobody else can write or
// replace.
func Check(path string) error {
	f, _, err := openChecked(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// openChecked opens a file that passes the checks. It also returns its absolute path without symbolic links.
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

// Open opens a file that [Check] accepts. It compares its checksum with pinned, in
// hexadecimal digits; "" accepts any checksum.
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

// hash computes the checksum. An interpreter reads a script later, piece by piece, and
// finds modules by the folder of the script. So hash replaces a script by a copy that
// is in no folder and that nobody can change.
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
