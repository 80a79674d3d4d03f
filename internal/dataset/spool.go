package dataset

import (
	"fmt"
	"io"
	"os"
)

// spool keeps bytes that can be read once only, so that they can be read again:
// a few in memory, more in a temporary file.
type spool struct {
	name string // of what is copied, for messages
	head []byte
	file *os.File
	path string // of the file, where it has a name still
	size int64
}

// spoolMemory is what a spool holds in memory before it begins a file.
const spoolMemory = 16 << 20

// Write adds to the end.
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

// fits reports whether there is memory for so many more bytes.
func (s *spool) fits(more int) bool {
	if len(s.head)+more <= cap(s.head) {
		return true
	}
	return checkMemory(s.name+": its rows", 3*float64(len(s.head)+more)) == nil
}

// begin moves what there is to a file. It has no name from then on, where the
// system can do that: however the process ends, nothing is left.
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

// failed is the error of the temporary file, which is none of the input.
func (s *spool) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: the temporary copy of its rows in %s failed: %w; free some room, or set TMPDIR to a folder that has more", s.name, os.TempDir(), bare(err))
}

// ReadAt reads what was written.
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

// Close removes the file.
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
