package framework

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A stored run is one frame. Numbers are little-endian.
//
//	offset  bytes
//	     0      8  magic "SCQM run"
//	     8      4  format, see checkpointFormat
//	    12      8  length L of the payload
//	    20      4  CRC-32C (Castagnoli) of the 20 bytes before
//	    24      L  payload: a storedRun by encoding/gob
//	  24+L     32  SHA-256 of all bytes before
//
// The checksum of the header comes first so that format and length are known to
// be what was written before they are believed. Nothing of the payload is
// decoded before the digest is found to fit.
const (
	frameMagic   = "SCQM run"
	frameFormat  = 8
	frameLength  = frameFormat + 4
	frameCheck   = frameLength + 8
	frameHeader  = frameCheck + 4
	frameDigest  = sha256.Size
	frameMinimum = frameHeader + frameDigest
)

// remedy ends the sentence about a damaged frame.
const remedy = "copy it again, or remove it and start anew"

// checkpointFormat is the version of a stored run. It changes with [storedRun].
const checkpointFormat = 7

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeFrame writes the payload that encode makes, as one frame in one call of
// w.Write.
func writeFrame(w io.Writer, encode func(io.Writer) error) error {
	var b bytes.Buffer
	b.Write(make([]byte, frameHeader))
	if err := encode(&b); err != nil {
		return err
	}
	header := b.Bytes()[:frameHeader]
	copy(header, frameMagic)
	binary.LittleEndian.PutUint32(header[frameFormat:], checkpointFormat)
	binary.LittleEndian.PutUint64(header[frameLength:], uint64(b.Len()-frameHeader))
	binary.LittleEndian.PutUint32(header[frameCheck:], crc32.Checksum(header[:frameCheck], castagnoli))
	digest := sha256.Sum256(b.Bytes())
	b.Write(digest[:])
	_, err := w.Write(b.Bytes())
	return err
}

// readFrame returns the payload of the frame that r holds and ends with. It sets
// aside no more memory than about twice what r really has.
func readFrame(r io.Reader) ([]byte, error) {
	header := make([]byte, frameHeader)
	n, err := io.ReadFull(r, header)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	length, err := readFrameHeader(header[:n])
	if err != nil {
		return nil, err
	}
	// One byte more than there should be shows what follows the frame.
	rest, err := io.ReadAll(io.LimitReader(r, length+frameDigest+1))
	if err != nil {
		return nil, err
	}
	end := frameHeader + length
	switch got := frameHeader + int64(len(rest)); {
	case got < end+frameDigest:
		return nil, fmt.Errorf("ends after %d of %d bytes; %s", got, end+frameDigest, remedy)
	case got > end+frameDigest:
		return nil, fmt.Errorf("goes on after its end at byte %d; %s", end+frameDigest, remedy)
	}
	payload, want := rest[:length], rest[length:]
	h := sha256.New()
	h.Write(header)
	h.Write(payload)
	if !bytes.Equal(h.Sum(nil), want) {
		return nil, fmt.Errorf("is damaged: bytes %d to %d do not have the SHA-256 at byte %d; %s",
			frameHeader, end-1, end, remedy)
	}
	return payload, nil
}

// readFrameHeader returns the length of the payload.
func readFrameHeader(b []byte) (int64, error) {
	switch {
	case len(b) == 0:
		return 0, errors.New("is empty; " + remedy)
	case !bytes.HasPrefix(b, []byte(frameMagic)[:min(len(b), len(frameMagic))]):
		return 0, fmt.Errorf("bytes 0 to %d are %q, not %q; name another file, or %s",
			len(frameMagic)-1, b[:min(len(b), len(frameMagic))], frameMagic, remedy)
	case len(b) < frameHeader:
		return 0, fmt.Errorf("ends after %d of at least %d bytes; %s", len(b), frameMinimum, remedy)
	case binary.LittleEndian.Uint32(b[frameCheck:]) != crc32.Checksum(b[:frameCheck], castagnoli):
		return 0, fmt.Errorf("is damaged: bytes 0 to %d do not have the CRC-32C at byte %d; %s", frameCheck-1, frameCheck, remedy)
	}
	if format := binary.LittleEndian.Uint32(b[frameFormat:]); format != checkpointFormat {
		return 0, fmt.Errorf("has format %d, this program reads %d; go on with the version of the program that stored it, or start anew",
			format, checkpointFormat)
	}
	length := binary.LittleEndian.Uint64(b[frameLength:])
	if length > maxFrame {
		return 0, fmt.Errorf("has a length of %d bytes, more than %d; %s", length, uint64(maxFrame), remedy)
	}
	return int64(length), nil
}

// maxFrame keeps sums of lengths from overflowing; no run comes near it.
const maxFrame = 1 << 60
