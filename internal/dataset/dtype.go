package dataset

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
)

// dtype describes how one value is stored.
type dtype struct {
	name      string // the name in NumPy, without byte order: "u1", "f8"
	width     int    // in bytes
	bigEndian bool

	// decode fills dst from little-endian values in src.
	decode func(dst []float64, src []byte)
}

// dtypes are the types that can be read. 64-bit integers beyond 2^53 are rounded
// to the nearest float64.
var dtypes = func() map[string]dtype {
	le := binary.LittleEndian
	types := map[string]dtype{
		"b1": each(1, func(b []byte) float64 { return float64(min(b[0], 1)) }),
		"u1": each(1, func(b []byte) float64 { return float64(b[0]) }),
		"i1": each(1, func(b []byte) float64 { return float64(int8(b[0])) }),
		"u2": each(2, func(b []byte) float64 { return float64(le.Uint16(b)) }),
		"i2": each(2, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }),
		"u4": each(4, func(b []byte) float64 { return float64(le.Uint32(b)) }),
		"i4": each(4, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }),
		"u8": each(8, func(b []byte) float64 { return float64(le.Uint64(b)) }),
		"i8": each(8, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }),
		"f2": each(2, func(b []byte) float64 { return half(le.Uint16(b)) }),
		"f4": each(4, func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }),
		"f8": {width: 8, decode: decodeFloat64},
	}
	for name, t := range types {
		t.name = name
		types[name] = t
	}
	return types
}()

// native reports whether values have the same bytes in files as in memory.
func (t dtype) native() bool { return t.name == "f8" && littleEndian && !t.bigEndian }

func each(width int, value func([]byte) float64) dtype {
	return dtype{width: width, decode: func(dst []float64, src []byte) {
		for i := range dst {
			dst[i] = value(src[i*width:])
		}
	}}
}

// decodeFloat64 decodes little-endian values in one loop without a call per value, for speed on large data.
func decodeFloat64(dst []float64, src []byte) {
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
	}
}

// half converts an IEEE 754 binary16.
func half(h uint16) float64 {
	sign := 1 - 2*float64(h>>15)
	exponent, fraction := int(h>>10&31), float64(h&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return sign * math.Inf(1)
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// blockLen is the number of values read at a time: many, to save system calls, but few
// enough to stay in the cache.
const blockLen = 1 << 15

// readValues reads the values of an array from r, which must end after them. copies is the
// number of copies of the values that the caller will hold, for the memory check. left is
// the number of bytes in r, or -1 if unknown; then memory only grows with the bytes that
// arrive, unless r is bounded.
func readValues(r io.Reader, left int64, a Array, t dtype, copies float64) ([]float64, error) {
	n, err := a.elements()
	if err != nil {
		return nil, err
	}
	if err := checkClaim(r, left, n, t); err != nil {
		return nil, err
	}
	room := n
	if left < 0 && maxBytes(r) < 0 {
		room = min(n, blockLen)
	}
	data := []float64{}
	inPlace := t.native()
	var buf []byte
	if !inPlace {
		buf = make([]byte, min(n, blockLen)*t.width)
	}
	for len(data) < n {
		if len(data) == cap(data) {
			if data, err = enlarge(data, a, room, copies); err != nil {
				return nil, err
			}
			room = min(n, growth*room)
		}
		done := len(data)
		count := min(cap(data)-done, blockLen)
		block := buf
		if inPlace {
			block = bytesOf(data[done : done+count])
		}
		block = block[:count*t.width]
		got, err := io.ReadFull(r, block)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, missingBytes(int64(n-done)*int64(t.width) - int64(got))
		}
		if err != nil {
			return nil, bare(err)
		}
		if t.bigEndian {
			reverseEach(block, t.width)
		}
		data = data[:done+count]
		if !inPlace {
			t.decode(data[done:], block)
		}
	}
	return data, expectEnd(r)
}

// growth is the factor by which a full slice grows. Until they are collected, the old
// slices also use memory.
const growth = 4

// enlarge returns data with a larger capacity for values of the array, or an error if there is too little memory.
func enlarge(data []float64, a Array, room int, copies float64) ([]float64, error) {
	need := float64(room) * copies
	if len(data) > 0 {
		need += float64(room) / (growth - 1)
	}
	if err := checkMemory("values of shape "+shapeString(a.Shape), valueBytes*need); err != nil {
		return nil, err
	}
	return append(make([]float64, 0, room), data...), nil
}

// checkClaim checks that n values need no more bytes than are left in r, or than
// compressed data can expand to.
func checkClaim(r io.Reader, left int64, n int, t dtype) error {
	want := int64(n) * int64(t.width)
	if most := maxBytes(r); left < 0 && most >= 0 && want > most {
		return inputErrorf(ErrTruncated, "the header claims %d bytes of data, and the compressed file can hold %d at most; copy or download it again", want, most)
	}
	switch {
	case left < 0, left == want:
		return nil
	case left < want:
		return missingBytes(want - left)
	}
	return inputErrorf(ErrFormat, "%d bytes follow the data; the header or the file is damaged", left-want)
}

func missingBytes(n int64) error {
	return inputErrorf(ErrTruncated, "%d bytes of data are missing; the file is cut short: copy or download it again", n)
}

// expectEnd returns an error if r has more bytes. Reading to the end also makes a decompressor verify its checksum.
func expectEnd(r io.Reader) error {
	switch n, err := io.ReadFull(r, make([]byte, 1)); {
	case n > 0:
		return inputErrorf(ErrFormat, "bytes follow the data; the header or the file is damaged")
	case err == io.EOF:
		return nil
	default:
		return bare(err)
	}
}

func reverseEach(b []byte, width int) {
	for ; len(b) >= width; b = b[width:] {
		slices.Reverse(b[:width])
	}
}
