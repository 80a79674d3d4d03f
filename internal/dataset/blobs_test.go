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
			got, err := b.Get(nil, k)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want[k], got))
		}
	}
	require.NoError(t, b.Close())
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
	_, err = b.Get(nil, 0)
	assert.ErrorContains(t, err, "set TMPDIR")
}

// Lists are read into bytes that are there, and into others where these are too few.
func TestBlobsAreReadIntoBytes(t *testing.T) {
	b, err := NewBlobs("parts", 2)
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, b.Put(0, []byte("short")))
	require.NoError(t, b.Put(1, []byte("longer than that")))
	room := make([]byte, 8)
	short, err := b.Get(room, 0)
	require.NoError(t, err)
	assert.Equal(t, "short", string(short))
	assert.Same(t, &room[0], &short[0])
	long, err := b.Get(short, 1)
	require.NoError(t, err)
	assert.Equal(t, "longer than that", string(long))
	assert.Equal(t, "short", string(room[:5]))
}
