package dataset

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Lists that grow, shrink and are replaced are those of a map.
func TestBlobs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b, err := NewBlobs("parts", 4)
	require.NoError(t, err)
	want := make([][]byte, 4)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		k := rng.IntN(4)
		list := bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(50))
		if rng.IntN(5) == 0 {
			want[k] = list
			require.NoError(t, b.Put(k, list))
		} else {
			want[k] = append(bytes.Clone(want[k]), list...)
			require.NoError(t, b.Append(k, list))
		}
		for k := range want {
			got, err := b.Get(k)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want[k], got))
		}
	}
	require.NoError(t, b.Close())
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = b.Get(0)
	assert.ErrorContains(t, err, "set TMPDIR")
}
