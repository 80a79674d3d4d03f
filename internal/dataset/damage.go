package dataset

import (
	"archive/zip"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// damage converts a decompressor's error about invalid bytes to an input error. It returns
// other errors, such as io.EOF and disk failures, unchanged.
func damage(what string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return inputErrorf(ErrTruncated, "%s ends early; copy or download the file again", what)
	}
	corrupt := errors.As(err, new(flate.CorruptInputError))
	for _, e := range []error{gzip.ErrHeader, gzip.ErrChecksum, zip.ErrFormat, zip.ErrChecksum, zip.ErrAlgorithm} {
		corrupt = corrupt || errors.Is(err, e)
	}
	if corrupt {
		return inputErrorf(ErrFormat, "%s is damaged (%w); copy or download the file again", what, err)
	}
	return err
}

// npyMagic begins an .npy file.
const npyMagic = "\x93NUMPY"

// signatures are the first bytes of formats whose files often have a wrong extension.
var signatures = []struct{ prefix, kind string }{
	{npyMagic, "a NumPy .npy file"},
	{"PK\x03\x04", "a zip archive, as .npz and .xlsx files are"},
	{"\x1f\x8b", "gzip data; such names end in .gz"},
	{"\x00\x00\x08", "an IDX file"},
	{"\x89HDF", "an HDF5 file"},
	{"\x89PNG", "a PNG picture"},
	{"\xff\xd8\xff", "a JPEG picture"},
	{"PAR1", "a Parquet file"},
	{"MATLAB", "a MATLAB file"},
	{"\x80\x03", "a Python pickle"},
	{"\x80\x04", "a Python pickle"},
	{"\x80\x05", "a Python pickle"},
	{"\xef\xbb\xbf", "text with a byte order mark; save it without"},
	{"\xff\xfe", "UTF-16 text; save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text; save it as UTF-8"},
	{"<!DO", "a web page"},
	{"<htm", "a web page"},
	{"vers", "a Git LFS pointer; fetch the file itself"},
}

// resemblance describes the format that the first bytes of a file suggest.
func resemblance(head []byte) string {
	text := string(head)
	for _, s := range signatures {
		if len(text) > 2 && strings.HasPrefix(text, s.prefix[:min(len(s.prefix), len(text))]) {
			return "it looks like " + s.kind
		}
	}
	if strings.IndexFunc(text, func(c rune) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c > '~' }) < 0 {
		return fmt.Sprintf("it looks like text, beginning %q", text)
	}
	return fmt.Sprintf("it begins with the bytes % x", head)
}
