package dataset

import (
	"archive/zip"
	"bytes"
	"io"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func openBytes(b []byte) (*NPZ, error) { return OpenNPZ(bytes.NewReader(b), int64(len(b))) }

func model(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := NewNPZWriter(&b)
	require.NoError(t, z.Array("U", Array{[]int{2, 1}, []float64{1, 2}}))
	require.NoError(t, z.Array("c", Array{[]int{3}, []float64{3, 4, 5}}))
	require.NoError(t, z.Raw("meta.json", []byte(`{"version":1}`)))
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestNPZRoundTrip(t *testing.T) {
	b := model(t)
	assert.Equal(t, b, model(t), "the same calls give the same bytes")
	z, err := openBytes(b)
	require.NoError(t, err)
	assert.Equal(t, []string{"U", "c", "meta.json"}, z.Names())

	a, err := z.Array("c", 3)
	require.NoError(t, err)
	assert.Equal(t, Array{[]int{3}, []float64{3, 4, 5}}, a)
	meta, err := z.Raw("meta.json", 13)
	require.NoError(t, err)
	assert.Equal(t, `{"version":1}`, string(meta))
	meta, err = z.Raw("meta.json", math.MaxInt64)
	require.NoError(t, err)
	assert.Len(t, meta, 13)
}

func TestNPZRefuses(t *testing.T) {
	z, err := openBytes(model(t))
	require.NoError(t, err)
	_, err = z.Array("c", 2)
	refused(t, err, ErrShape, `array "c": shape (3,) has more than the 2 values expected`)
	_, err = z.Raw("meta.json", 12)
	refused(t, err, ErrFormat, "more than the 12 bytes expected")
	_, err = z.Array("V", 9)
	refused(t, err, ErrFormat, `holds no "V"; it holds "U", "c", "meta.json"`)
	_, err = z.Array("meta.json", 9)
	refused(t, err, ErrFormat, `holds no "meta.json"`)
	_, err = z.Raw("c", 9)
	refused(t, err, ErrFormat, `holds no "c"`)

	w := NewNPZWriter(io.Discard)
	require.NoError(t, w.Raw("a", nil))
	assert.ErrorContains(t, w.Raw("a", nil), "twice")
	refused(t, w.Array("b", Array{[]int{2}, nil}), ErrShape, `array "b"`)
}

func TestNPZReadsNumPy(t *testing.T) {
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		b, err := os.ReadFile("testdata/numpy/" + name)
		require.NoError(t, err)
		z, err := openBytes(b)
		require.NoError(t, err)
		assert.Equal(t, []string{"X", "y"}, z.Names())
		x, err := z.Array("X", 6)
		require.NoError(t, err)
		assert.Equal(t, Array{[]int{2, 3}, []float64{0, 1, 2, 3, 100, 5}}, x)
	}
}

func TestNPZKeys(t *testing.T) {
	m, err := Read("testdata/numpy/stored.npz", ReadOptions{})
	require.NoError(t, err, "X is the only table")
	assert.Equal(t, 3, m.Cols)
	labels, err := ReadLabels("testdata/numpy/stored.npz")
	require.NoError(t, err, "y is the only list")
	assert.Equal(t, []string{"1", "0"}, labels)

	_, err = Read("testdata/numpy/two.npz", ReadOptions{})
	refused(t, err, ErrShape, `two.npz: holds several arrays; append :KEY`, `"A", "B"`)
	m, err = Read("testdata/numpy/two.npz:B", ReadOptions{})
	require.NoError(t, err)
	assert.Equal(t, 2, m.Rows)
	_, err = Read("testdata/numpy/two.npz:C", ReadOptions{})
	refused(t, err, ErrFormat, `two.npz: holds no "C"; it holds "A", "B"`)
	_, err = Read("testdata/numpy/stored.npz:y", ReadOptions{})
	refused(t, err, ErrShape, "shape (2,)")
}

// Cutting, or flipping any bit of, an archive must never be taken for good data:
// either it is refused or what is read is what was written.
func TestNPZDamage(t *testing.T) {
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		good, err := os.ReadFile("testdata/numpy/" + name)
		require.NoError(t, err)
		for cut := range good {
			_, err := openBytes(good[:cut])
			refused(t, err, ErrInput)
		}
		for i := range good {
			b := bytes.Clone(good)
			b[i] ^= 0x10
			z, err := openBytes(b)
			if err != nil {
				refused(t, err, ErrInput)
				continue
			}
			x, err := z.Array("X", 6)
			if err != nil {
				refused(t, err, ErrInput)
				continue
			}
			assert.Equal(t, []float64{0, 1, 2, 3, 100, 5}, x.Data, "byte %d", i)
		}
	}
}

// Four megabytes of zeros pack into four kilobytes. Only what the header claims is
// unpacked, and only what the caller allows.
func TestNPZBomb(t *testing.T) {
	const claim = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}"
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string][]byte{"small.npy": npyText(claim, make([]byte, 1<<22)), "meta": make([]byte, 1<<22)} {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	z, err := openBytes(b.Bytes())
	require.NoError(t, err)
	used := allocated(func() {
		_, err = z.Array("small", 1000)
		refused(t, err, ErrFormat, "bytes follow the data")
		_, err = z.Raw("meta", 1000)
		refused(t, err, ErrFormat, "more than the 1000 bytes")
	})
	assert.Less(t, used, uint64(1<<19))
}

func TestNPZRefusesTwins(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for range 2 {
		_, err := w.Create("X.npy")
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	_, err := openBytes(b.Bytes())
	refused(t, err, ErrFormat, `holds "X.npy" twice`)
}
