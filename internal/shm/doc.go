// Package shm shares arrays of numbers between two processes of one machine. It uses
// unsafe, because mapped memory is bytes and the arrays are numbers.
package shm

import (
	"errors"
	"unsafe"
)

// ErrUnsupported says that this system has no memory that can be shared safely. Callers
// then send arrays another way.
var ErrUnsupported = errors.New("no shared memory on this system")

// Align is the alignment of arrays in a segment, in bytes: a cache line.
const Align = 64

const floatBytes = 8

// Span returns the bytes that an array of n numbers takes in a segment.
func Span(n int) int { return (floatBytes*n + Align - 1) / Align * Align }

// Segment is memory that another process may map too. The other process may write at any
// time: copy data that must not change.
type Segment struct {
	data []byte
	fd   int // file descriptor in the process that created it, -1 after Release
}

// Len is the size in bytes.
func (s *Segment) Len() int { return len(s.data) }

// Floats returns the n numbers at offset at in bytes, a multiple of 8, in native byte
// order. The slice is valid until Close. It is nil if the range is outside the segment.
func (s *Segment) Floats(at, n int) []float64 {
	if at < 0 || at%floatBytes != 0 || n < 0 || at > len(s.data) || n > (len(s.data)-at)/floatBytes {
		return nil
	}
	if n == 0 {
		return []float64{}
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&s.data[at])), n)
}
