package dataset

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// A sealed archive ends in a zip comment with the SHA-256 of all bytes before its digits.
// The checksums of zip cover only the content of members, not names, offsets and flags,
// and some readers ignore them.
const (
	sealPrefix = "scqm sha256 "
	sealDigits = 2 * sha256.Size
	sealSize   = len(sealPrefix) + sealDigits
)

// sealWriter passes bytes on, but replaces the last ones, the digits of the seal, by those
// of the hash of all bytes before them.
type sealWriter struct {
	w    io.Writer
	hash hash.Hash
	held []byte // the last bytes written, up to sealDigits, not yet passed on
}

// NewSealedNPZWriter returns a writer of a sealed archive, for [OpenSealedNPZ] or any
// other zip reader. The caller must Close it.
func NewSealedNPZWriter(w io.Writer) *NPZWriter {
	s := &sealWriter{w: w, hash: sha256.New()}
	z := NewNPZWriter(s)
	z.seal = s
	return z
}

// Write implements io.Writer.
func (s *sealWriter) Write(p []byte) (int, error) {
	if early := len(p) - sealDigits; early > 0 { // large writes are not copied
		if err := s.pass(len(s.held)); err != nil {
			return 0, err
		}
		s.hash.Write(p[:early])
		if k, err := s.w.Write(p[:early]); err != nil {
			return k, err
		}
		p = p[early:]
		s.held = append(s.held[:0], p...)
		return early + len(p), nil
	}
	s.held = append(s.held, p...)
	return len(p), s.pass(len(s.held) - sealDigits)
}

// pass writes the first n held bytes.
func (s *sealWriter) pass(n int) error {
	if n <= 0 {
		return nil
	}
	s.hash.Write(s.held[:n])
	_, err := s.w.Write(s.held[:n])
	s.held = append(s.held[:0], s.held[n:]...)
	return err
}

// closeSealed writes the directory of the archive and the seal.
func (z *NPZWriter) closeSealed() error {
	if err := z.zip.SetComment(sealPrefix + string(make([]byte, sealDigits))); err != nil {
		return err
	}
	if err := z.zip.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(z.seal.w, hex.EncodeToString(z.seal.hash.Sum(nil)))
	return err
}

// OpenSealedNPZ opens an archive written by [NewSealedNPZWriter], the size bytes of r.
// First it reads the file once and compares the hash. It returns an error if any bit has
// changed, or if another program wrote the archive.
func OpenSealedNPZ(r io.ReaderAt, size int64) (*NPZ, error) {
	if err := checkSeal(r, size); err != nil {
		return nil, err
	}
	z, err := OpenNPZ(r, size)
	if err != nil {
		return nil, err
	}
	for name, f := range z.members {
		if f.Method != zip.Store {
			return nil, inputErrorf(ErrFormat, "member %q is compressed, which those that scqm writes are not", name)
		}
	}
	return z, nil
}

func checkSeal(r io.ReaderAt, size int64) error {
	seal := make([]byte, min(size, int64(sealSize)))
	if n, err := r.ReadAt(seal, size-int64(len(seal))); n < len(seal) {
		return damage("the zip archive", bare(err))
	}
	if !bytes.HasPrefix(seal, []byte(sealPrefix)) {
		return unsealed(r, size)
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size-sealDigits)); err != nil {
		return bare(err)
	}
	if want := seal[len(sealPrefix):]; hex.EncodeToString(h.Sum(nil)) != string(want) {
		return inputErrorf(ErrFormat, "is damaged: bytes 0 to %d do not have the SHA-256 at byte %d; copy or download the file again",
			size-sealDigits-1, size-sealDigits)
	}
	return nil
}

// unsealed returns the error for a file without a seal. It matches ErrUnsealed if the file
// is otherwise a complete archive.
func unsealed(r io.ReaderAt, size int64) error {
	if _, err := OpenNPZ(r, size); err != nil {
		return err
	}
	return inputErrorf(ErrUnsealed, "has no SHA-256 in its last %d bytes: it is damaged there, or was written or changed by another program; "+
		"copy it again, or let scqm write it", sealSize)
}
