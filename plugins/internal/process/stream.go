package process

import (
	"io"
	"os"
	"sync"
)

// handshakeLength is the maximum length of the first line of a plugin's output.
const handshakeLength = 4096

// stream reads a plugin's output from a pipe and signals when the output has ended.
type stream struct {
	file    *os.File
	copy    io.Writer // may be nil
	drained chan struct{}
	once    sync.Once
}

func newStream(f *os.File, copy io.Writer) *stream {
	return &stream{file: f, copy: copy, drained: make(chan struct{})}
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	if n > 0 && s.copy != nil {
		s.copy.Write(p[:n])
	}
	if err != nil {
		s.once.Do(func() { close(s.drained) })
		err = io.EOF // including the error of a pipe closed on this side
	}
	return n, err
}

// Close closes this end of the pipe.
func (s *stream) Close() error { return s.file.Close() }

// firstLine is a reader of the first line of a stream. It discards the rest, because
// go-plugin stops reading at a long line, and the plugin would then block on a full
// pipe.
type firstLine struct {
	*stream
	given int
	done  bool
}

// Read implements io.Reader.
func (f *firstLine) Read(p []byte) (int, error) {
	var waste [4096]byte
	for f.done {
		if _, err := f.stream.Read(waste[:]); err != nil {
			return 0, err
		}
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.stream.Read(p[:min(len(p), handshakeLength)])
	for i, b := range p[:n] {
		if f.given++; b == '\n' || f.given == handshakeLength {
			f.done = true
			p[i] = '\n'
			return i + 1, nil
		}
	}
	return n, err
}
