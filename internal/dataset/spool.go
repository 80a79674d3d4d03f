package dataset

import (
	"fmt"
	"io"
	"os"
)

// spool stores bytes of a stream for repeated reading, in memory if they are few, else in
// a temporary file.
type spool struct {
	name string // name of the copied file, for messages
	head []byte
	file *os.File
	path string // path of the temporary file, while it has a name
	size int64
}

// spoolMemory is the largest number of bytes that a spool holds in memory.
const spoolMemory = 16 << 20

// Write appends p.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && (len(s.head)+len(p) > spoolMemory || !s.fits(len(p))) {
		if err := s.begin(); err != nil {
			return 0, err
		}
	}
	if s.file == nil {
		s.head = append(s.head, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	return n, s.failed(err)
}

// fits reports whether memory suffices for more bytes.
func (s *spool) fits(more int) bool {
	if len(s.head)+more <= cap(s.head) {
		return true
	}
	return checkMemory(s.name+": its rows", 3*float64(len(s.head)+more)) == nil
}

// begin moves the bytes to a temporary file. Where the system allows, it removes the name
// of the file at once, so that the file is deleted when the process ends.
func (s *spool) begin() error {
	f, err := os.CreateTemp("", ".scqm-*.rows")
	if err != nil {
		return s.failed(err)
	}
	s.file, s.path = f, f.Name()
	if os.Remove(s.path) == nil {
		s.path = ""
	}
	_, err = f.Write(s.head)
	s.head = nil
	return s.failed(err)
}

// failed returns an error of the temporary file, which does not match ErrInput.
func (s *spool) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: the temporary copy of its rows in %s failed: %w; free some room, or set TMPDIR to a folder that has more", s.name, os.TempDir(), bare(err))
}

// ReadAt reads bytes that were written, from offset at.
func (s *spool) ReadAt(p []byte, at int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(p, at)
	}
	if at >= int64(len(s.head)) {
		return 0, io.EOF
	}
	n := copy(p, s.head[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close removes the temporary file.
func (s *spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.path != "" {
		os.Remove(s.path)
	}
	return err
}
