package dataset

// lzfRatio bounds how far data unpacks: three bytes stand for up to 264.
const lzfRatio = 88

// appendLZF unpacks data in the format of liblzf into dst, whose capacity it keeps to.
// It is false for data that is damaged or longer.
//
// Source: M. Lehmann, liblzf 3.6, the description of its format.
func appendLZF(dst, packed []byte) (out []byte, ok bool) {
	for len(packed) > 0 {
		control := int(packed[0])
		packed = packed[1:]
		if control < 32 { // as they are
			n := control + 1
			if n > len(packed) || len(dst)+n > cap(dst) {
				return dst, false
			}
			dst, packed = append(dst, packed[:n]...), packed[n:]
			continue
		}
		n := control >> 5
		if n == 7 {
			if len(packed) == 0 {
				return dst, false
			}
			n += int(packed[0])
			packed = packed[1:]
		}
		if len(packed) == 0 {
			return dst, false
		}
		from := len(dst) - (control&31)<<8 - int(packed[0]) - 1
		packed = packed[1:]
		n += 2
		if from < 0 || len(dst)+n > cap(dst) {
			return dst, false
		}
		for range n { // which may overlap what it writes
			dst = append(dst, dst[from])
			from++
		}
	}
	return dst, true
}
