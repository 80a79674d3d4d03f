package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// input is an open input file that is decompressed while it is read.
type input struct {
	io.Reader
	name   string // the path, for messages
	format string
	key    string // name of the array in an .npz file, "" for the only one
	size   int64  // number of bytes after decompression, -1 if unknown
	file   *os.File
	begun  fs.FileInfo // state of a regular file when it was opened
}

// open opens path if its extension is one of the accepted formats.
func open(path string, accepted ...string) (*input, error) {
	s := &input{size: -1}
	s.name, s.key = splitKey(path)
	plain, zipped := strings.CutSuffix(strings.ToLower(s.name), ".gz")
	s.format = filepath.Ext(plain)
	if strings.HasSuffix(plain, "-ubyte") {
		s.format = formatIDX
	}
	if !slices.Contains(accepted, s.format) {
		return nil, inputErrorf(ErrFormat, "%s: unknown format; the name must end in %s or -ubyte, possibly with .gz",
			s.name, strings.Join(accepted, ", "))
	}
	if err := s.openFile(); err != nil {
		return nil, err
	}
	if zipped {
		s.gunzip()
	}
	return s, nil
}

func (s *input) openFile() error {
	file, err := os.Open(s.name)
	if err != nil {
		return pathError(err, "%s: %w", s.name)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		file.Close()
		return fmt.Errorf("%s: %w", s.name, bare(err))
	case info.IsDir():
		file.Close()
		return inputErrorf(ErrInput, "%s: is a directory; name a file inside it", s.name)
	case info.Mode().IsRegular(): // the size of a pipe says nothing
		s.size, s.begun = info.Size(), info
	}
	s.file, s.Reader = file, file
	return nil
}

func (s *input) gunzip() {
	packed := &counter{Reader: s.file}
	s.Reader = &gzipReader{file: bufio.NewReaderSize(packed, 1<<16), packed: packed, size: packedSize(s.file)}
	s.size = -1
}

// maxBytes returns the maxBytes of the underlying reader.
func (s *input) maxBytes() int64 { return maxBytes(s.Reader) }

func (s *input) Close() error { return s.file.Close() }

// unchanged returns an error if the file was modified after it was opened. The data read
// may then mix old and new bytes.
func (s *input) unchanged() error {
	if s.begun == nil {
		return nil
	}
	now, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, bare(err))
	}
	if now.Size() != s.begun.Size() || !now.ModTime().Equal(s.begun.ModTime()) {
		return inputErrorf(ErrInput, "%s: has changed while it was read, from %d bytes to %d; let whoever writes it finish first, or read a copy",
			s.name, s.begun.Size(), now.Size())
	}
	return nil
}

func (s *input) isText() bool {
	return s.format == formatCSV || s.format == formatTSV || s.format == formatTXT
}

// readerAt returns random access to the file. If the file does not support it, its bytes
// are first copied to hold, or to memory if hold is nil.
func (s *input) readerAt(hold *spool) (io.ReaderAt, int64, error) {
	if s.size >= 0 {
		return s.file, s.size, nil
	}
	if hold == nil {
		b, err := readAll(s, -1)
		return bytes.NewReader(b), int64(len(b)), err
	}
	size, err := io.Copy(hold, s)
	return io.NewSectionReader(hold, 0, size), size, bare(err)
}

// gzipReader opens its gzip stream at the first Read, so that an invalid header is
// reported by Read like other damage.
type gzipReader struct {
	file   io.Reader
	packed *counter
	size   int64 // of the compressed file, -1 if unknown
	ratio  ratio
	*gzip.Reader
}

func (g *gzipReader) maxBytes() int64 { return unpacked(g.size) }

func (g *gzipReader) Read(p []byte) (int, error) {
	if g.Reader == nil {
		z, err := gzip.NewReader(g.file)
		if err == io.EOF {
			return 0, inputErrorf(ErrTruncated, "the file is empty")
		}
		if err != nil {
			return 0, damage("the gzip stream", err)
		}
		g.Reader = z
	}
	n, err := g.Reader.Read(p)
	g.ratio.packed = g.packed.n
	if refused := g.ratio.grow("the file", n); refused != nil {
		return 0, refused
	}
	return n, damage("the gzip stream", err)
}

// countRows returns an upper bound of the rows of a text file after the current position:
// the number of nonblank lines. It returns -1 if the file cannot be read twice.
func countRows(r io.Reader) (float64, error) {
	s, ok := r.(*input)
	if !ok || s.size < 0 || s.Reader != io.Reader(s.file) {
		return -1, nil
	}
	rows, begins := 0, true
	buf := make([]byte, 1<<18)
	for {
		n, err := s.file.Read(buf)
		for b := buf[:n]; len(b) > 0; {
			if begins && b[0] != '\n' && b[0] != '\r' {
				rows++
			}
			k := bytes.IndexByte(b, '\n')
			if begins = k >= 0; !begins {
				break
			}
			b = b[k+1:]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return float64(rows), err
}

// packedSize returns the size of a regular file, -1 for other files.
func packedSize(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}
