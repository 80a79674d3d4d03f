package framework

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A stored run is one frame, which extends to the end of the file.
//
//	offset  bytes
//	     0      8  magic "SCQM run"
//	     8      4  format, see checkpointFormat, little-endian
//	    12     32  SHA-256 of all other bytes
//	    44         payload: a storedRun by encoding/gob
//
// The payload is only decoded after the digest has been verified.
const (
	frameMagic   = "SCQM run"
	frameFormat  = len(frameMagic)
	frameDigest  = frameFormat + 4
	framePayload = frameDigest + sha256.Size
)

// remedy ends the sentence about a damaged frame.
const remedy = "copy it again, or remove it and start anew"

// checkpointFormat is the version of a stored run. It changes with [storedRun].
const checkpointFormat = 8

// digest is the SHA-256 of a frame without the bytes of the digest itself.
func digest(frame []byte) []byte {
	h := sha256.New()
	h.Write(frame[:frameDigest])
	h.Write(frame[framePayload:])
	return h.Sum(nil)
}

// writeFrame writes the payload from encode as one frame, in one call of w.Write.
func writeFrame(w io.Writer, encode func(io.Writer) error) error {
	var b bytes.Buffer
	b.Write(make([]byte, framePayload))
	if err := encode(&b); err != nil {
		return err
	}
	frame := b.Bytes()
	copy(frame, frameMagic)
	binary.LittleEndian.PutUint32(frame[frameFormat:], checkpointFormat)
	copy(frame[frameDigest:], digest(frame))
	_, err := w.Write(frame)
	return err
}

// readFrame returns the payload of the frame in r, and requires that r ends with it.
func readFrame(r io.Reader) ([]byte, error) {
	frame, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	start := frame[:min(len(frame), len(frameMagic))]
	switch {
	case len(frame) == 0:
		return nil, errors.New("is empty; " + remedy)
	case !bytes.HasPrefix([]byte(frameMagic), start):
		return nil, fmt.Errorf("bytes 0 to %d are %q, not %q; name another file, or %s", len(frameMagic)-1, start, frameMagic, remedy)
	case len(frame) < framePayload:
		return nil, fmt.Errorf("ends after %d of at least %d bytes; %s", len(frame), framePayload, remedy)
	}
	if format := binary.LittleEndian.Uint32(frame[frameFormat:]); format != checkpointFormat {
		return nil, fmt.Errorf("has format %d at byte %d, this program reads %d; go on with the version of the program that stored it, or start anew",
			format, frameFormat, checkpointFormat)
	}
	if !bytes.Equal(digest(frame), frame[frameDigest:framePayload]) {
		return nil, fmt.Errorf("is damaged, cut or longer than it was: its %d bytes do not have the SHA-256 at byte %d; %s",
			len(frame), frameDigest, remedy)
	}
	return frame[framePayload:], nil
}
