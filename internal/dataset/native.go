package dataset

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian reports that numbers lie in memory as they do in files.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf are the bytes of numbers as they lie in memory.
func bytesOf(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), valueBytes*len(x))
}
