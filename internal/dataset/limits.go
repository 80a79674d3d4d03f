package dataset

import (
	"bytes"
	"io"
	"math"

	"github.com/scqm/scqm/internal/memory"
)

// Limits on the expansion of a small compressed file. Tables of measurements stay within
// them: they compress by factors below 30.
const (
	// deflateRatio is the largest number of bytes that one byte of deflated data can expand to.
	deflateRatio = 1032
	// maxRatio bounds the compression ratio of data after the first plainBytes.
	maxRatio   = 400
	plainBytes = 256 << 20
)

// valueBytes is the size of a number in memory.
const valueBytes = 8

// smaller is the advice in errors about memory.
const smaller = "read a part of it, or store fewer rows or columns"

// checkMemory returns an error if fewer bytes than given are available.
func checkMemory(what string, bytes float64) error { return memory.Check(what, bytes, smaller) }

// bounded is a reader that knows an upper bound of its bytes; maxBytes returns -1 if there is none.
type bounded interface{ maxBytes() int64 }

// maxBytes returns an upper bound of the bytes of r, -1 if there is none.
func maxBytes(r io.Reader) int64 {
	if b, ok := r.(bounded); ok {
		return b.maxBytes()
	}
	return -1
}

// unpacked returns the largest number of bytes to which packed deflated bytes can expand.
func unpacked(packed int64) int64 {
	if packed < 0 || packed > (math.MaxInt64>>1)/deflateRatio {
		return -1
	}
	return packed*deflateRatio + 1<<16
}

// ratio limits the output of a decompressor relative to its input.
type ratio struct{ packed, out int64 }

// grow adds n to the count of output bytes, and returns an error if the ratio to the input
// bytes is too large. If the input bytes so far are unknown, packed is their total.
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

// Read reads bytes and counts them.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// readAll reads a whole file of size bytes, -1 if unknown. It checks the available memory
// before it allocates.
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
