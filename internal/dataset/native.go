package dataset

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian reports whether the processor is little-endian, like the numbers in files.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of x as bytes.
func bytesOf(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), valueBytes*len(x))
}
