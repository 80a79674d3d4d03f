package plugins

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

// program is an executable file that may be started. The file stays open, so
// that what was checked is what is started.
type program struct {
	path   string // absolute
	file   *os.File
	script []byte // its content, where it begins with #!
	sha256 string // in hexadecimal digits
}

// Trusted returns why a file would not be started, or nil: it must be a regular
// executable file, owned by this user or root, that nobody else can write, and
// nobody else must be able to put another one in its place. The last holds
// where every folder on the way to it, through symbolic links too, belongs to
// this user or root, and neither its group nor others can write it. In a folder
// with the sticky bit, such as /tmp, others can make files but not replace those
// of this user: it may be on the way, but no link in it, and no file in it that
// has a second name.
func Trusted(path string) error {
	f, _, err := openTrusted(path)
	if err != nil {
		return err
	}
	return f.Close()
}

func untrusted(path, format string, args ...any) error {
	return &Error{path, "check", ErrUntrusted, fmt.Sprintf(format, args...), ""}
}

// openTrusted returns the open file and its absolute path without links.
func openTrusted(path string) (*os.File, string, error) {
	place, err := resolve(path)
	if err != nil {
		return nil, "", err
	}
	before, err := os.Lstat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", &Error{path, "check", ErrNotFound, "there is no such file", ""}
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

// openProgram opens a trusted file and compares its checksum with the pinned
// one, which may be empty.
func openProgram(path, pinned string) (*program, error) {
	f, _, err := openTrusted(path)
	if err != nil {
		return nil, err
	}
	p := &program{file: f}
	p.path, err = filepath.Abs(path)
	if err == nil {
		err = p.hash()
	}
	if err != nil {
		p.file.Close()
		return nil, untrusted(path, "%v", err)
	}
	if pinned != "" && pinned != AnySHA256 && !strings.EqualFold(pinned, p.sha256) {
		p.file.Close()
		return nil, &Error{path, "check", ErrChecksum, fmt.Sprintf(
			"its SHA-256 is %s, not %s", p.sha256, strings.ToLower(pinned)), ""}
	}
	return p, nil
}

// hash computes the checksum. A script is read by its interpreter later and
// piece by piece, which also finds modules and files by the folder it is in: so
// it is replaced by a copy that nobody can change and that is in no folder.
func (p *program) hash() error {
	h := sha256.New()
	first := make([]byte, 2)
	n, err := io.ReadFull(p.file, first)
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
	from := io.Reader(p.file)
	if script != nil {
		from = io.LimitReader(p.file, maxScriptBytes)
	}
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	p.sha256 = hex.EncodeToString(h.Sum(nil))
	if script == nil {
		return nil
	}
	if script.Len() >= maxScriptBytes {
		return fmt.Errorf("the script is longer than %d bytes", maxScriptBytes)
	}
	p.script = script.Bytes()
	if sealed, err := guard.Seal(filepath.Base(p.path), p.script); err == nil {
		p.file.Close()
		p.file = sealed
	}
	return nil
}
