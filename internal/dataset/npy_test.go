package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// npyText is a version 1 file with this dictionary.
func npyText(dict string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(len(dict)))
	return append(append(b, dict...), data...)
}

func readNPYAll(r io.Reader, size int64) (Array, error) { return readNPY(r, size, maxElements) }

func readBytes(b []byte) (Array, error) { return readNPYAll(bytes.NewReader(b), int64(len(b))) }

// The files were written by NumPy 2.4; see testdata/README.md.
func TestNPYReadsNumPy(t *testing.T) {
	values := []float64{0, 1, 2, 3, 100, 5}
	negative := []float64{0, -1, -2, -3, -100, -5}
	for name, want := range map[string][]float64{
		"b1": {0, 1, 1, 1, 1, 1}, "u1": values, "i1": negative,
		"le_u2": values, "be_u2": values, "le_i2": negative, "be_i2": negative,
		"le_u4": values, "be_u4": values, "le_i4": negative, "be_i4": negative,
		"le_u8": values, "be_u8": values, "le_i8": negative, "be_i8": negative,
		"le_f2": negative, "be_f2": negative,
		"le_f4": negative, "be_f4": negative, "le_f8": negative, "be_f8": negative,
		"fortran": values, "version2": values, "version3": values,
	} {
		b, err := os.ReadFile(filepath.Join("testdata", "numpy", name+".npy"))
		require.NoError(t, err)
		got, err := readBytes(b)
		require.NoError(t, err, name)
		assert.Equal(t, []int{2, 3}, got.Shape, name)
		assert.InDeltaSlice(t, want, got.Data, 0, name)
		streamed, err := readNPYAll(iotest.OneByteReader(bytes.NewReader(b)), -1)
		require.NoError(t, err, name)
		assert.Equal(t, got, streamed, name)
	}
}

func TestNPYFortranOrderOfThreeDimensions(t *testing.T) {
	b, err := os.ReadFile("testdata/numpy/fortran3d.npy")
	require.NoError(t, err)
	got, err := readBytes(b)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 3, 4}, got.Shape)
	for i, v := range got.Data {
		assert.Equal(t, float64(i), v)
	}
}

func TestNPYHalfPrecision(t *testing.T) {
	b, err := os.ReadFile("testdata/numpy/halves.npy")
	require.NoError(t, err)
	got, err := readBytes(b)
	require.NoError(t, err)
	want := []float64{0, math.Copysign(0, -1), math.Ldexp(1, -24), 0, 1, 65504, math.Inf(1), math.Inf(-1), math.NaN()}
	want[3] = got.Data[3]
	assert.InDelta(t, 6.1e-5, got.Data[3], 6e-8)
	for i, v := range want[:8] {
		assert.Equal(t, math.Float64bits(v), math.Float64bits(got.Data[i]), i)
	}
	assert.True(t, math.IsNaN(got.Data[8]))
}

func TestNPYWritesWhatNumPyWrites(t *testing.T) {
	want, err := os.ReadFile("testdata/numpy/le_f8.npy")
	require.NoError(t, err)
	a, err := readBytes(want)
	require.NoError(t, err)
	var got bytes.Buffer
	require.NoError(t, WriteNPY(&got, a))
	assert.Equal(t, want, got.Bytes())
}

func TestNPYRoundTrip(t *testing.T) {
	for _, shape := range [][]int{{}, {0}, {1}, {3, 0, 2}, {7}, {2, 3, 4}, {blockLen + 1}, {2*blockLen + 3, 1}} {
		n, err := Array{Shape: shape}.elements()
		require.NoError(t, err)
		a := Array{shape, make([]float64, n)}
		for i := range a.Data {
			a.Data[i] = math.Sqrt(float64(i))
		}
		var b bytes.Buffer
		require.NoError(t, WriteNPY(&b, a))
		for _, size := range []int64{-1, int64(b.Len())} {
			got, err := readNPYAll(bytes.NewReader(b.Bytes()), size)
			require.NoError(t, err)
			assert.Equal(t, a, got)
		}
	}
}

func TestNPYHeaderDialects(t *testing.T) {
	for _, dict := range []string{
		"{'shape':(2,),'descr':'<f8','fortran_order':False}",
		"  { \"descr\" : \"<f8\" ,\n'fortran_order':True , 'shape': ( 2 , ) , }   \n",
		"{'fortran_order': False, 'shape': (2,), 'descr': '<f8', }\n",
	} {
		got, err := readBytes(npyText(dict, make([]byte, 16)))
		require.NoError(t, err, dict)
		assert.Equal(t, Array{[]int{2}, []float64{0, 0}}, got)
	}
}

func TestNPYRefusesHeaders(t *testing.T) {
	const form = "{'descr': '<f8', 'fortran_order': False, 'shape': %s}"
	for dict, part := range map[string]string{
		"":                                 "NPY header: at byte 0",
		"{":                                "expected a string",
		"{}":                               "expected the keys",
		"{,}":                              "expected a string",
		"[]":                               `expected "{"`,
		"{'descr': '<f8'}":                 "expected the keys",
		"{'descr': '<f8', 'descr': '<f8'}": "each key once",
		"{'colour': 1}":                    "expected the keys",
		"{'descr' '<f8'}":                  `expected ":"`,
		"{'descr': '<f8}":                  "expected a string",
		"{'descr': '\\x66'}":               "expected a string",
		"{'descr': '<f8', 'fortran_order': 0, 'shape': (2,)}": `expected "False"`,
		fmt.Sprintf(form, "(2,)") + "x":                       "nothing after",
		fmt.Sprintf(form, "2"):                                `expected "("`,
		fmt.Sprintf(form, "(2"):                               `expected "," or ")"`,
		fmt.Sprintf(form, "(,)"):                              "whole number",
		fmt.Sprintf(form, "(-1,)"):                            "whole number",
		fmt.Sprintf(form, "(1.5,)"):                           `expected "," or ")"`,
		fmt.Sprintf(form, "(99999999999999999999,)"):          "whole number",
		fmt.Sprintf(form, "("+strings.Repeat("1,", 33)+")"):   "at most 32 dimensions",
		strings.Repeat("{", 60000):                            "expected a string",
	} {
		_, err := readBytes(npyText(dict, make([]byte, 16)))
		refused(t, err, ErrFormat, "NPY header", part)
	}
}

func TestNPYRefusesTypes(t *testing.T) {
	for descr, part := range map[string]string{
		"'|O'": "Python objects", "'<U5'": "text", "'|S3'": "text", "'<c16'": "complex", "'|V8'": "records",
		"[('a', '<f8')]": "fields as the columns", "'<f16'": "X.astype(float)", "'<M8[ns]'": "X.astype(float)",
		"'f8'": "byte order", "'|f8'": "byte order", "''": "cannot be read", "'<'": "cannot be read", "'=f8'": "cannot be read",
	} {
		_, err := readBytes(npyText("{'descr': "+descr+", 'fortran_order': False, 'shape': (1,)}", make([]byte, 8)))
		refused(t, err, ErrFormat, part)
	}
}

func TestNPYRefusesFiles(t *testing.T) {
	good := npy(t, []int{3, 2}, 1, 2, 3, 4, 5, 6)
	for cut := range good {
		for _, size := range []int64{int64(cut), -1} {
			_, err := readNPYAll(bytes.NewReader(good[:cut]), size)
			refused(t, err, ErrInput)
			if cut >= len(good)-48 {
				refused(t, err, ErrTruncated, fmt.Sprintf("%d bytes of data are missing", len(good)-cut))
			}
		}
	}
	long := append(bytes.Clone(good), 0)
	_, err := readBytes(long)
	refused(t, err, ErrFormat, "1 bytes follow the data")
	_, err = readNPYAll(bytes.NewReader(long), -1)
	refused(t, err, ErrFormat, "bytes follow the data")

	_, err = readBytes([]byte(npyMagic + "\x04\x00......"))
	refused(t, err, ErrFormat, "version 4")
	_, err = readBytes([]byte(npyMagic + "\x02\x00\xff\xff\xff\xff"))
	refused(t, err, ErrFormat, "header claims 4294967295 bytes")
}

func TestNPYClaimsCostNothing(t *testing.T) {
	for _, shape := range []string{
		"(1000000000000,)", "(1000000, 1000000)", "(4611686018427387904, 4)", "(4294967296, 4294967296)",
		"(9223372036854775807,)", "(0, 9223372036854775807)", "(3, 1000000000)",
	} {
		b := npyText("{'descr': '<f8', 'fortran_order': False, 'shape': "+shape+"}", make([]byte, 64))
		for _, size := range []int64{int64(len(b)), -1} {
			used := allocated(func() {
				_, err := readNPYAll(bytes.NewReader(b), size)
				refused(t, err, ErrInput)
			})
			assert.Less(t, used, uint64(2<<20), "shape %s, size %d", shape, size)
		}
	}
}

// Without a size, memory follows the bytes that are there, not the claim.
func TestNPYStreamMemory(t *testing.T) {
	const present = 1 << 22
	b := npyText("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,)}", make([]byte, present))
	used := allocated(func() {
		_, err := readNPYAll(bytes.NewReader(b), -1)
		refused(t, err, ErrTruncated, fmt.Sprintf("%d bytes of data are missing", int64(800000000000-present)))
	})
	assert.Less(t, used, uint64(8*present))
}

func TestWriteNPYRefuses(t *testing.T) {
	for _, a := range []Array{
		{[]int{2}, []float64{1}},
		{[]int{-1}, nil},
		{[]int{math.MaxInt, math.MaxInt}, nil},
		{make([]int, 33), nil},
	} {
		refused(t, WriteNPY(io.Discard, a), ErrShape)
	}
	assert.ErrorIs(t, WriteNPY(&limitedWriter{0}, Array{[]int{1}, []float64{1}}), errFull)
	assert.ErrorIs(t, WriteNPY(&limitedWriter{128}, Array{[]int{1}, []float64{1}}), errFull)
}

func BenchmarkReadNPY(b *testing.B) {
	const n = 1e6
	var f bytes.Buffer
	require.NoError(b, WriteNPY(&f, Array{[]int{n, 50}, make([]float64, n*50)}))
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(f.Len()))
		for b.Loop() {
			_, err := readBytes(f.Bytes())
			require.NoError(b, err)
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(f.Len()))
		for b.Loop() {
			copy(make([]byte, f.Len()), f.Bytes())
		}
	})
}
