package dataset

import (
	"encoding/binary"
	"io"
)

// idxTypes are the type codes of the IDX format (LeCun, Cortes, Burges), all
// big-endian.
var idxTypes = map[byte]string{0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}

// readIDX reads one array from r, which must end after it; size is as in
// ReadNPY. More than two dimensions become two: the first, and all others.
func readIDX(r io.Reader, size int64) (Array, dtype, error) {
	magic := make([]byte, 4)
	n, err := io.ReadFull(r, magic)
	switch {
	case err == io.EOF:
		return Array{}, dtype{}, inputErrorf(ErrTruncated, "the file is empty")
	case err != nil && err != io.ErrUnexpectedEOF:
		return Array{}, dtype{}, bare(err)
	case n < 4 || magic[0] != 0 || magic[1] != 0 || magic[3] == 0:
		return Array{}, dtype{}, inputErrorf(ErrFormat, "is not an IDX file: %s", resemblance(magic[:n]))
	}
	t, ok := dtypes[idxTypes[magic[2]]]
	if !ok {
		return Array{}, dtype{}, inputErrorf(ErrFormat, "IDX type code 0x%02x is unknown; the file is damaged", magic[2])
	}
	t.bigEndian = true
	dims := make([]byte, 4*int(magic[3]))
	if err := readHeaderBytes(r, dims); err != nil {
		return Array{}, dtype{}, err
	}
	var a Array
	for i := 0; i < len(dims); i += 4 {
		a.Shape = append(a.Shape, int(binary.BigEndian.Uint32(dims[i:])))
	}
	_, err = a.elements()
	if err != nil {
		return Array{}, dtype{}, err
	}
	left := int64(-1)
	if size >= 0 {
		left = max(size-int64(len(magic)+len(dims)), 0)
	}
	a.Data, err = readValues(r, left, a, t, 1)
	if err != nil {
		return Array{}, dtype{}, err
	}
	for len(a.Shape) > 2 {
		last := len(a.Shape) - 1
		a.Shape[last-1] *= a.Shape[last]
		a.Shape = a.Shape[:last]
	}
	return a, t, nil
}
