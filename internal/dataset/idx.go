package dataset

import (
	"encoding/binary"
	"io"
)

// idxTypes maps the type codes of the IDX format (LeCun, Cortes, Burges) to dtypes. All
// are big-endian.
var idxTypes = map[byte]string{0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}

// readIDXLayout reads the header of an IDX array; size is as in readNPYLayout. It flattens
// all dimensions after the first into one.
func readIDXLayout(r io.Reader, size int64) (arrayLayout, error) {
	magic := make([]byte, 4)
	n, err := io.ReadFull(r, magic)
	switch {
	case err == io.EOF:
		return arrayLayout{}, inputErrorf(ErrTruncated, "the file is empty")
	case err != nil && err != io.ErrUnexpectedEOF:
		return arrayLayout{}, bare(err)
	case n < 4 || magic[0] != 0 || magic[1] != 0 || magic[3] == 0:
		return arrayLayout{}, inputErrorf(ErrFormat, "is not an IDX file: %s", resemblance(magic[:n]))
	}
	t, ok := dtypes[idxTypes[magic[2]]]
	if !ok {
		return arrayLayout{}, inputErrorf(ErrFormat, "IDX type code 0x%02x is unknown; the file is damaged", magic[2])
	}
	t.bigEndian = true
	dims := make([]byte, 4*int(magic[3]))
	if err := readHeaderBytes(r, dims); err != nil {
		return arrayLayout{}, err
	}
	l := arrayLayout{dtype: t, header: int64(len(magic) + len(dims))}
	for i := 0; i < len(dims); i += 4 {
		l.shape = append(l.shape, int(binary.BigEndian.Uint32(dims[i:])))
	}
	if err := l.measure(size); err != nil {
		return arrayLayout{}, err
	}
	for len(l.shape) > 2 {
		last := len(l.shape) - 1
		l.shape[last-1] *= l.shape[last]
		l.shape = l.shape[:last]
	}
	return l, nil
}
