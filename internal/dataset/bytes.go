package dataset

import "encoding/binary"

// appendOrdered appends the bytes of a number in an order.
func appendOrdered[T uint16 | uint32 | uint64](out []byte, order binary.ByteOrder, v T) []byte {
	var b [8]byte
	switch v := any(v).(type) {
	case uint16:
		order.PutUint16(b[:], v)
		return append(out, b[:2]...)
	case uint32:
		order.PutUint32(b[:], v)
		return append(out, b[:4]...)
	case uint64:
		order.PutUint64(b[:], v)
	}
	return append(out, b[:]...)
}
