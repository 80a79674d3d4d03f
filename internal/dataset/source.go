package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Formats, by the extension that stands for them.
const (
	formatNPY = ".npy"
	formatNPZ = ".npz"
	formatCSV = ".csv"
	formatTSV = ".tsv"
	formatIDX = ".idx"
	formatTXT = ".txt" // labels only
)

var formats = []string{formatNPY, formatNPZ, formatCSV, formatTSV, formatIDX}

// source is an open input file, decompressed as it is read.
type source struct {
	io.Reader
	name   string // the path, for messages
	format string
	key    string // which array of an .npz file, "" for the only one
	size   int64  // bytes that Reader will give, -1 when only reading can tell
	file   *os.File
}

// open opens path if its name says that it has one of the accepted formats.
func open(path string, accepted ...string) (*source, error) {
	s := &source{size: -1}
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

// splitKey cuts file.npz:key in two. A colon elsewhere belongs to the name.
func splitKey(path string) (name, key string) {
	for i := range len(path) {
		if path[i] != ':' {
			continue
		}
		plain := strings.TrimSuffix(strings.ToLower(path[:i]), ".gz")
		if strings.HasSuffix(plain, formatNPZ) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func (s *source) openFile() error {
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
		s.size = info.Size()
	}
	s.file, s.Reader = file, file
	return nil
}

func (s *source) gunzip() {
	packed := &counter{Reader: s.file}
	s.Reader = &gzipReader{file: bufio.NewReaderSize(packed, 1<<16), packed: packed, size: packedSize(s.file)}
	s.size = -1
}

func (s *source) Close() error { return s.file.Close() }

func (s *source) isText() bool {
	return s.format == formatCSV || s.format == formatTSV || s.format == formatTXT
}

// array reads the array of a binary format. Of several arrays in an .npz file
// without a key it takes the only one with that many dimensions.
func (s *source) array(dims int) (Array, dtype, error) {
	switch s.format {
	case formatNPY:
		return readNPY(s, s.size, maxElements)
	case formatIDX:
		return readIDX(s, s.size)
	}
	r, size, err := s.readerAt()
	if err != nil {
		return Array{}, dtype{}, err
	}
	z, err := OpenNPZ(r, size)
	if err != nil {
		return Array{}, dtype{}, err
	}
	name := s.key
	if name == "" {
		if name, err = z.only(dims); err != nil {
			return Array{}, dtype{}, err
		}
	}
	return z.array(name, maxElements)
}

// readerAt gives random access, through memory when the file has none.
func (s *source) readerAt() (io.ReaderAt, int64, error) {
	if s.size >= 0 {
		return s.file, s.size, nil
	}
	b, err := readAll(s, -1)
	return bytes.NewReader(b), int64(len(b)), err
}

// gzipReader opens its stream at the first Read, so that a bad gzip header is
// reported like any other damage.
type gzipReader struct {
	file   io.Reader
	packed *counter
	size   int64 // of the file, -1 if not known
	ratio  ratio
	*gzip.Reader
}

func (g *gzipReader) mostBytes() int64 { return unpacked(g.size) }

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
