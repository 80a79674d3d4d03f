package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The arrayLayout is NumPy's, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html:
// magic, version, header length, a Python dictionary padded with spaces, values.
const (
	npyAlign     = 64
	npyMaxHeader = 1 << 16 // a plain array needs a few hundred bytes at most
)

// readNPY reads an array of at most limit values from r, which must end after it. size is
// as in readNPYLayout. Integers beyond 2^53 are rounded to the nearest float64; NaN and
// infinities are kept.
func readNPY(r io.Reader, size int64, limit int) (Array, error) {
	l, err := readNPYLayout(r, size)
	if err != nil {
		return Array{}, err
	}
	if l.count > limit {
		return Array{}, inputErrorf(ErrShape, "shape %s has more than the %d values expected", shapeString(l.shape), limit)
	}
	return l.readArray(r)
}

// readNPYLayout reads the header of an array. size is the number of bytes in r, or -1 if unknown. It
// compares the size that the header declares with size before memory is allocated.
func readNPYLayout(r io.Reader, size int64) (arrayLayout, error) {
	h, used, err := readNPYHeader(r)
	if err != nil {
		return arrayLayout{}, err
	}
	t, err := parseDescr(h.descr)
	if err != nil {
		return arrayLayout{}, err
	}
	l := arrayLayout{shape: h.shape, dtype: t, fortran: h.fortran, header: used}
	return l, l.measure(size)
}

// readNPYHeader returns the header and its length in bytes.
func readNPYHeader(r io.Reader) (h npyHeader, used int64, err error) {
	head := make([]byte, 8)
	n, err := io.ReadFull(r, head)
	switch {
	case err == io.EOF:
		return h, 0, inputErrorf(ErrTruncated, "the file is empty")
	case err != nil && err != io.ErrUnexpectedEOF:
		return h, 0, bare(err)
	case !strings.HasPrefix(string(head[:n]), npyMagic):
		return h, 0, inputErrorf(ErrFormat, "is not a NumPy array: %s", resemblance(head[:n]))
	case err != nil:
		return h, 0, endsInHeader()
	}
	lengthBytes := 4
	switch major := head[6]; major {
	case 1:
		lengthBytes = 2
	case 2, 3:
	default:
		return h, 0, inputErrorf(ErrFormat, "NPY version %d is unknown; versions 1 to 3 can be read", major)
	}
	length := make([]byte, 4)
	if err := readHeaderBytes(r, length[:lengthBytes]); err != nil {
		return h, 0, err
	}
	size := binary.LittleEndian.Uint32(length)
	if size > npyMaxHeader {
		return h, 0, inputErrorf(ErrFormat, "the NPY header claims %d bytes; more than %d is not an array of plain numbers", size, npyMaxHeader)
	}
	text := make([]byte, size)
	if err := readHeaderBytes(r, text); err != nil {
		return h, 0, err
	}
	h, err = parseNPYHeader(string(text))
	return h, int64(len(head) + lengthBytes + len(text)), err
}

func readHeaderBytes(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return endsInHeader()
	}
	return bare(err)
}

func endsInHeader() error {
	return inputErrorf(ErrTruncated, "the file ends inside its header; copy or download it again")
}

// parseDescr returns the dtype of a type string such as "<f8".
func parseDescr(descr string) (dtype, error) {
	order, name := "", descr
	if descr != "" && strings.Contains("<>|", descr[:1]) {
		order, name = descr[:1], descr[1:]
	}
	t, ok := dtypes[name]
	if !ok {
		return dtype{}, unreadableType(descr, name)
	}
	if t.width > 1 && order != "<" && order != ">" {
		return dtype{}, inputErrorf(ErrFormat, "NPY header: type %q does not tell its byte order", descr)
	}
	t.bigEndian = order == ">"
	return t, nil
}

// WriteNPY writes a as NPY version 1, little-endian float64 in C order.
func WriteNPY(w io.Writer, a Array) error {
	n, err := a.elements()
	if err != nil {
		return err
	}
	if n != len(a.Data) {
		return inputErrorf(ErrShape, "shape %s with %d values", shapeString(a.Shape), len(a.Data))
	}
	if _, err := w.Write(npyHeaderBytes(a.Shape)); err != nil {
		return err
	}
	return writeValues(w, a.Data)
}

// writeValues writes data as little-endian float64.
func writeValues(w io.Writer, data []float64) error {
	if littleEndian {
		for block := range slices.Chunk(data, blockLen) {
			if _, err := w.Write(bytesOf(block)); err != nil {
				return err
			}
		}
		return nil
	}
	buf := make([]byte, 0, 8*min(len(data), blockLen))
	for len(data) > 0 {
		k := min(len(data), blockLen)
		buf = buf[:0]
		for _, v := range data[:k] {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		data = data[k:]
	}
	return nil
}

// npyHeaderBytes returns an NPY header, padded with spaces so that the values are aligned.
func npyHeaderBytes(shape []int) []byte {
	const fixed = len(npyMagic) + 4 // version and length
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shapeString(shape))
	pad := npyAlign - (fixed+len(dict)+1)%npyAlign
	b := bytes.NewBufferString(npyMagic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(dict)+pad+1)))
	b.WriteString(dict + strings.Repeat(" ", pad) + "\n")
	return b.Bytes()
}
