package dataset

// lzfRatio bounds the expansion of LZF data: three bytes expand to at most 264.
const lzfRatio = 88

// appendLZF decompresses data in the format of liblzf and appends them to dst. It returns
// false if the data are invalid or exceed the capacity of dst.
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
