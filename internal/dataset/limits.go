package dataset

import (
	"bytes"
	"io"
	"math"

	"github.com/scqm/scqm/internal/memory"
)

// Limits on what a small file may grow into. None is in the way of tables of
// measured numbers, which compress by less than 30.
const (
	// deflateRatio is the most that one byte of deflated data can stand for.
	deflateRatio = 1032
	// maxRatio bounds the ratio of what was unpacked beyond plainBytes.
	maxRatio   = 400
	plainBytes = 256 << 20
)

// valueBytes is the size of a number in memory.
const valueBytes = 8

// smaller is how a file takes less memory.
const smaller = "read a part of it, or store fewer rows or columns"

// checkMemory refuses to set aside memory that is not there.
func checkMemory(what string, bytes float64) error { return memory.Check(what, bytes, smaller) }

// bounded is a reader that knows the most bytes it can give, -1 for not at all.
type bounded interface{ maxBytes() int64 }

// maxBytes is what bounds the bytes of r, -1 if nothing does.
func maxBytes(r io.Reader) int64 {
	if b, ok := r.(bounded); ok {
		return b.maxBytes()
	}
	return -1
}

// unpacked is the most that so many deflated bytes can give.
func unpacked(packed int64) int64 {
	if packed < 0 || packed > (math.MaxInt64>>1)/deflateRatio {
		return -1
	}
	return packed*deflateRatio + 1<<16
}

// ratio guards the output of a decompressor.
type ratio struct{ packed, out int64 }

// grow counts bytes that came out. packed are those that went in, or all there
// are where that is not known.
func (g *ratio) grow(what string, n int) error {
	g.out += int64(n)
	if g.out > plainBytes && g.packed >= 0 && g.out/maxRatio > g.packed {
		return inputErrorf(ErrFormat, "%s unpacks to more than %d times its size, over %s; unpack it first if it is meant to", what, maxRatio, memory.Format(float64(g.out)))
	}
	return nil
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	n int64
}

// Read counts.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// readAll reads a whole file of size bytes, -1 if that is not known, without
// setting aside memory that is not there.
func readAll(r io.Reader, size int64) ([]byte, error) {
	if size >= 0 {
		if err := checkMemory("bytes of the file", float64(size)); err != nil {
			return nil, err
		}
		b := make([]byte, size)
		n, err := io.ReadFull(r, b)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		return b[:n], err
	}
	var parts [][]byte
	total := 0
	for length := 1 << 16; ; length = min(2*length, 32<<20) {
		if err := checkMemory("bytes of the file", float64(total+length)+float64(total+length)); err != nil {
			return nil, err
		}
		part := make([]byte, length)
		n, err := io.ReadFull(r, part)
		parts, total = append(parts, part[:n]), total+n
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			if len(parts) == 1 {
				return parts[0], nil
			}
			return bytes.Join(parts, nil), nil
		default:
			return nil, err
		}
	}
}
