package dataset

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func sealed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := NewSealedNPZWriter(&b)
	require.NoError(t, z.Array("c", Array{[]int{3}, []float64{3, 4, 5}}))
	require.NoError(t, z.Raw("meta.json", []byte("{}")))
	require.NoError(t, z.Close())
	return b.Bytes()
}

func openSealed(b []byte) (*NPZ, error) { return OpenSealedNPZ(bytes.NewReader(b), int64(len(b))) }

func TestSealedArchivesAreArchives(t *testing.T) {
	b := sealed(t)
	assert.Equal(t, b, sealed(t), "the same calls give the same bytes")
	for _, open := range []func([]byte) (*NPZ, error){openBytes, openSealed} {
		z, err := open(b)
		require.NoError(t, err)
		a, err := z.Array("c", 3)
		require.NoError(t, err)
		assert.Equal(t, []float64{3, 4, 5}, a.Data)
	}
	sum := sha256.Sum256(b[:len(b)-64])
	assert.True(t, strings.HasSuffix(string(b), "scqm sha256 "+hex.EncodeToString(sum[:])), "as the comment on the format says")
}

func TestSealsBreak(t *testing.T) {
	good := sealed(t)
	for bit := range 8 * len(good) {
		b := bytes.Clone(good)
		b[bit/8] ^= 1 << (bit % 8)
		_, err := openSealed(b)
		refused(t, err, ErrFormat, "again")
	}
	for cut := range good {
		_, err := openSealed(good[:cut])
		refused(t, err, ErrInput)
	}
	_, err := openSealed(append(bytes.Clone(good), 0))
	refused(t, err, ErrUnsealed, "has no SHA-256 in its last 76 bytes")
	_, err = openSealed(model(t))
	refused(t, err, ErrUnsealed, "written or changed by another program")
	_, err = openSealed(nil)
	refused(t, err, ErrTruncated, "the file is empty")
}

// A seal that fits does not open the door to compressed members, whose size
// nobody knows beforehand.
func TestSealedMembersAreStored(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	_, err := w.Create("meta.json")
	require.NoError(t, err)
	require.NoError(t, w.SetComment(sealPrefix+strings.Repeat("0", sealDigits)))
	require.NoError(t, w.Close())
	body := b.Bytes()[:b.Len()-sealDigits]
	sum := sha256.Sum256(body)
	_, err = openSealed(hex.AppendEncode(body, sum[:]))
	refused(t, err, ErrFormat, `member "meta.json" is compressed`)
}

func TestSealedWriterPassesErrorsOn(t *testing.T) {
	for room := range len(sealed(t)) {
		z := NewSealedNPZWriter(&limitedWriter{room})
		err := z.Array("c", Array{[]int{3}, []float64{3, 4, 5}})
		if err == nil {
			err = z.Raw("meta.json", []byte("{}"))
		}
		if err == nil {
			err = z.Close()
		}
		require.ErrorIs(t, err, errFull, "room for %d bytes", room)
	}
}
