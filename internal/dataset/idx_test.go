package dataset

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// images is two pictures of two by three 8-bit values.
var images = []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}

func readIDX(r io.Reader, size int64) (Array, error) {
	l, err := readIDXLayout(r, size)
	if err != nil {
		return Array{}, err
	}
	return l.readArray(r)
}

func TestIDXFlattens(t *testing.T) {
	for _, size := range []int64{int64(len(images)), -1} {
		a, err := readIDX(bytes.NewReader(images), size)
		require.NoError(t, err)
		assert.Equal(t, Array{[]int{2, 6}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}}, a)
	}
}

func TestIDXTypes(t *testing.T) {
	for code, c := range map[byte]struct {
		bytes []byte
		value float64
	}{
		0x08: {[]byte{200}, 200},
		0x09: {[]byte{200}, -56},
		0x0B: {[]byte{0xff, 0x00}, -256},
		0x0C: {[]byte{0, 1, 0, 0}, 65536},
		0x0D: {[]byte{0x3f, 0xc0, 0, 0}, 1.5},
		0x0E: {[]byte{0x3f, 0xf8, 0, 0, 0, 0, 0, 0}, 1.5},
	} {
		b := append([]byte{0, 0, code, 1, 0, 0, 0, 1}, c.bytes...)
		a, err := readIDX(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err, code)
		assert.Equal(t, Array{[]int{1}, []float64{c.value}}, a, code)
	}
}

func TestIDXRefuses(t *testing.T) {
	with := func(i int, v byte) []byte {
		b := bytes.Clone(images)
		b[i] = v
		return b
	}
	for _, c := range []struct {
		content []byte
		kind    error
		part    string
	}{
		{images[:0], ErrTruncated, "empty"},
		{images[:3], ErrFormat, "not an IDX file"},
		{images[:10], ErrTruncated, "inside its header"},
		{images[:20], ErrTruncated, "8 bytes of data are missing"},
		{append(bytes.Clone(images), 1), ErrFormat, "bytes follow the data"},
		{with(0, 1), ErrFormat, "not an IDX file"},
		{with(2, 0x0A), ErrFormat, "type code 0x0a"},
		{with(3, 0), ErrFormat, "not an IDX file"},
		{with(4, 0xff), ErrTruncated, "missing"},
		{[]byte("\x00\x00\x08\x03" + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), ErrShape, "too large"},
		{append([]byte{0, 0, 8, 255}, make([]byte, 1020)...), ErrShape, "255 dimensions"},
	} {
		for _, size := range []int64{int64(len(c.content)), -1} {
			used := allocated(func() {
				_, err := readIDX(bytes.NewReader(c.content), size)
				refused(t, err, c.kind, c.part)
			})
			assert.Less(t, used, uint64(2<<20))
		}
	}
}

func TestIDXWithoutImages(t *testing.T) {
	_, err := Read(file(t, "x.idx", []byte{0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3}), ReadOptions{})
	refused(t, err, ErrShape, "shape (0, 6) holds no values")
}
