package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
)

// NPZWriter writes a zip archive of arrays and raw files that numpy.load reads. The same
// calls produce the same bytes: members are stored in the order of the calls, without
// timestamps. They are not compressed, because fitted numbers hardly get smaller.
type NPZWriter struct {
	zip  *zip.Writer
	seen map[string]bool
	seal *sealWriter // nil for an archive without seal
}

// NewNPZWriter returns a writer of one archive to w. The caller must Close it.
func NewNPZWriter(w io.Writer) *NPZWriter {
	return &NPZWriter{zip: zip.NewWriter(w), seen: map[string]bool{}}
}

// Array adds an array under name, the key that numpy.load knows it by.
func (z *NPZWriter) Array(name string, a Array) error {
	w, err := z.create(name + formatNPY)
	if err != nil {
		return err
	}
	if err := WriteNPY(w, a); err != nil {
		return fmt.Errorf("array %q: %w", name, err)
	}
	return nil
}

// Parts adds a vector of n numbers under name, given as consecutive parts.
func (z *NPZWriter) Parts(name string, n int, parts iter.Seq[[]float64]) error {
	w, err := z.create(name + formatNPY)
	if err != nil {
		return err
	}
	if _, err := w.Write(npyHeaderBytes([]int{n})); err != nil {
		return err
	}
	for part := range parts {
		if err := writeValues(w, part); err != nil {
			return err
		}
		n -= len(part)
	}
	if n != 0 {
		return fmt.Errorf("array %q: %d numbers are missing", name, n)
	}
	return nil
}

// Raw adds a file under its full name, such as meta.json.
func (z *NPZWriter) Raw(name string, b []byte) error {
	w, err := z.create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func (z *NPZWriter) create(name string) (io.Writer, error) {
	if z.seen[name] {
		return nil, fmt.Errorf("npz: member %q is written twice", name)
	}
	z.seen[name] = true
	return z.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
}

// Close writes the directory of the archive. It does not close the underlying
// writer.
func (z *NPZWriter) Close() error {
	if z.seal != nil {
		return z.closeSealed()
	}
	return z.zip.Close()
}

// NPZ reads the members of an .npz archive, each by its name.
type NPZ struct {
	size    int64
	names   []string
	members map[string]*zip.File
}

// OpenNPZ reads the directory of the archive, which is the first size bytes of r.
func OpenNPZ(r io.ReaderAt, size int64) (*NPZ, error) {
	if size == 0 {
		return nil, inputErrorf(ErrTruncated, "the file is empty")
	}
	// The section answers offsets outside the archive with io.EOF.
	archive, err := zip.NewReader(io.NewSectionReader(r, 0, size), size)
	if errors.Is(err, zip.ErrFormat) || err == io.EOF {
		return nil, notArchive(r, size)
	}
	if err != nil {
		return nil, damage("the zip archive", bare(err))
	}
	z := &NPZ{size: size, members: map[string]*zip.File{}}
	for _, f := range archive.File {
		if z.members[f.Name] != nil {
			return nil, inputErrorf(ErrFormat, "the zip archive holds %q twice; write it again", f.Name)
		}
		z.members[f.Name] = f
		z.names = append(z.names, strings.TrimSuffix(f.Name, formatNPY))
	}
	return z, nil
}

func notArchive(r io.ReaderAt, size int64) error {
	head := make([]byte, max(min(size, 8), 0))
	if n, err := r.ReadAt(head, 0); n < len(head) && err != io.EOF {
		return bare(err)
	}
	if strings.HasPrefix(string(head), "PK\x03\x04") {
		return inputErrorf(ErrTruncated, "the zip archive has no valid end; the file is cut short: copy or download it again")
	}
	return inputErrorf(ErrFormat, "is not an .npz archive: %s", resemblance(head))
}

// Names returns the names of the members in archive order; those of arrays without .npy.
func (z *NPZ) Names() []string { return append([]string(nil), z.names...) }

// Array reads the array called name. It returns an error if the array has more than limit values.
func (z *NPZ) Array(name string, limit int) (Array, error) {
	m, err := z.open(name + formatNPY)
	if err != nil {
		return Array{}, err
	}
	defer m.Close()
	a, err := readNPY(m, m.size, limit)
	if err != nil {
		return Array{}, fmt.Errorf("array %q: %w", name, err)
	}
	return a, nil
}

// Raw reads the member with this full name. It returns an error if the member has more than limit bytes.
func (z *NPZ) Raw(name string, limit int64) ([]byte, error) {
	m, err := z.open(name)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	limit = min(limit, math.MaxInt64-1)
	b, err := io.ReadAll(io.LimitReader(m, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, inputErrorf(ErrFormat, "member %q has more than the %d bytes expected", name, limit)
	}
	return b, nil
}

// only returns the name of the only array with dims dimensions or, if there is just one
// array, of that array.
func (z *NPZ) only(dims int) (string, error) {
	var arrays, fitting []string
	for _, name := range z.names {
		if z.members[name+formatNPY] == nil {
			continue
		}
		h, err := z.header(name)
		if err != nil {
			return "", fmt.Errorf("array %q: %w", name, err)
		}
		arrays = append(arrays, name)
		if len(h.shape) == dims {
			fitting = append(fitting, name)
		}
	}
	switch {
	case len(fitting) == 1:
		return fitting[0], nil
	case len(arrays) == 1:
		return arrays[0], nil
	case len(arrays) == 0:
		return "", inputErrorf(ErrShape, "holds no arrays")
	}
	return "", inputErrorf(ErrShape, "holds several arrays; append :KEY to the file name, KEY one of %s", shortList(arrays))
}

func (z *NPZ) header(name string) (npyHeader, error) {
	m, err := z.open(name + formatNPY)
	if err != nil {
		return npyHeader{}, err
	}
	defer m.Close()
	h, _, err := readNPYHeader(m)
	return h, err
}

// member is an open member of an archive.
type member struct {
	io.ReadCloser
	name  string
	size  int64 // in bytes, -1 if the size in the archive is not reliable
	ratio ratio // expansion relative to the bytes in the archive
}

// maxBytes returns an upper bound of the bytes of a compressed member.
func (m *member) maxBytes() int64 { return unpacked(m.ratio.packed) }

func (z *NPZ) open(name string) (*member, error) {
	f := z.members[name]
	if f == nil {
		return nil, inputErrorf(ErrFormat, "holds no %q; it holds %s", strings.TrimSuffix(name, formatNPY), shortList(z.names))
	}
	m := &member{name: fmt.Sprintf("member %q", name), size: -1}
	m.ratio.packed = int64(min(f.CompressedSize64, uint64(z.size)))
	r, err := f.Open()
	if err == io.EOF {
		err = zip.ErrFormat
	}
	if err != nil {
		return nil, damage(m.name, bare(err))
	}
	m.ReadCloser = r
	if f.Method == zip.Store && f.CompressedSize64 <= uint64(z.size) {
		m.size = int64(f.CompressedSize64)
	}
	return m, nil
}

func (m *member) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if refused := m.ratio.grow(m.name, n); refused != nil {
		return 0, refused
	}
	return n, damage(m.name, err)
}
