// Package shm shares arrays of numbers between two processes of one machine.
// It is one of the few places that use unsafe: memory that is mapped comes as
// bytes and is needed as numbers.
package shm

import (
	"errors"
	"unsafe"
)

// ErrUnsupported says that this system offers no memory that could be shared
// safely. There are other ways to send arrays.
var ErrUnsupported = errors.New("no shared memory on this system")

// Align is the distance of which the places of arrays in a segment are
// multiples, in bytes: a cache line.
const Align = 64

const floatBytes = 8

// Span returns the bytes that an array of n numbers takes in a segment.
func Span(n int) int { return (floatBytes*n + Align - 1) / Align * Align }

// Segment is a piece of memory that another process may map too. What the other
// process writes appears at any time: copy what must not change.
type Segment struct {
	data []byte
	fd   int // of the side that made it, -1 once released
}

// Len is the size in bytes.
func (s *Segment) Len() int { return len(s.data) }

// Floats returns the n numbers that begin at byte at, a multiple of 8, in the
// order of bytes of this machine. The slice lives as long as the segment. It is
// nil where the segment has no such place.
func (s *Segment) Floats(at, n int) []float64 {
	if at < 0 || at%floatBytes != 0 || n < 0 || at > len(s.data) || n > (len(s.data)-at)/floatBytes {
		return nil
	}
	if n == 0 {
		return []float64{}
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&s.data[at])), n)
}
