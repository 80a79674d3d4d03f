package blocks

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"

	"github.com/scqm/scqm/models/rows"
)

// Format is the version of the encoding of requests, partials and responses.
const Format = 6

// Numbers is a list of float64, each encoded in 8 bytes.
type Numbers []float64

// MarshalBinary implements [encoding.BinaryMarshaler].
func (v Numbers) MarshalBinary() ([]byte, error) {
	return binary.Append(make([]byte, 0, 8*len(v)), binary.LittleEndian, []float64(v))
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (v *Numbers) UnmarshalBinary(b []byte) error {
	*v = make(Numbers, len(b)/8)
	_, err := binary.Decode(b, binary.LittleEndian, []float64(*v))
	return err
}

// Encode returns values as gob with a checksum. A message of gob holds at most 1 GiB.
func Encode(values ...any) ([]byte, error) {
	var b bytes.Buffer
	to := gob.NewEncoder(&b)
	for _, v := range values {
		if err := to.Encode(v); err != nil {
			return nil, err
		}
	}
	return seal(b.Bytes()), nil
}

// Decode decodes the first value in the bytes that Encode returned, and returns the decoder of the others. It rejects
// damaged bytes, and a version, which is a field of v, other than that of this package. what names the value in errors.
func Decode(b []byte, what string, v any, version *int) (*gob.Decoder, error) {
	if len(b) < sha256.Size {
		return nil, fmt.Errorf("scqm: %d bytes are no %s: %w", len(b), what, rows.ErrInput)
	}
	body := b[:len(b)-sha256.Size]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[len(body):]) {
		return nil, fmt.Errorf("scqm: a %s is damaged: its checksum is not that of its bytes: %w", what, rows.ErrInput)
	}
	from := gob.NewDecoder(bytes.NewReader(body))
	if err := from.Decode(v); err != nil || *version != Format {
		return nil, fmt.Errorf("scqm: these bytes are no %s of format %d; use one version of scqm everywhere: %w", what, Format, rows.ErrInput)
	}
	return from, nil
}

// seal appends a checksum.
func seal(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}
