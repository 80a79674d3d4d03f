package dataset

import (
	"context"
	"io"
	"sync"
)

// table is where the values of a two-dimensional array stand.
type table struct {
	at         io.ReaderAt
	offset     int64
	rows, cols int
	dtype      dtype
	fortran    bool // columns one after the other
}

// fortranRows is the least number of rows that are taken from each column at a
// time: pieces of a few pages, so that a disk is not asked for every page by
// itself.
const fortranRows = 4096

// scratch is what one goroutine reads through.
type scratch struct {
	raw    []byte
	values []float64
}

var scratches = sync.Pool{New: func() any {
	return &scratch{}
}}

// bytes are room for as many.
func (s *scratch) bytes(n int) []byte {
	if s.raw == nil {
		s.raw = make([]byte, 8*blockLen)
	}
	return s.raw[:n]
}

// numbers are room for as many.
func (s *scratch) numbers(n int) []float64 {
	if s.values == nil {
		s.values = make([]float64, blockLen)
	}
	return s.values[:n]
}

// read decodes rows from first on into dst, all that it has room for, of the
// columns keep, nil for all. place has for every column its place among keep, -1
// where it is not there.
func (t *table) read(ctx context.Context, dst []float64, first int, keep, place []int) error {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if t.fortran {
		return t.readFortran(ctx, s, dst, first, keep)
	}
	if keep == nil {
		return t.run(ctx, s, dst, first*t.cols)
	}
	return t.readSome(ctx, s, dst, first, place, len(keep))
}

// run decodes values that stand one after the other.
func (t *table) run(ctx context.Context, s *scratch, dst []float64, from int) error {
	for len(dst) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(dst), blockLen)
		if err := t.decode(s, dst[:n], from); err != nil {
			return err
		}
		dst, from = dst[n:], from+n
	}
	return nil
}

// readSome decodes all columns and keeps some.
func (t *table) readSome(ctx context.Context, s *scratch, dst []float64, first int, place []int, kept int) error {
	from, end := first*t.cols, (first+len(dst)/kept)*t.cols
	for from < end {
		part := s.numbers(min(end-from, blockLen))
		if err := t.run(ctx, s, part, from); err != nil {
			return err
		}
		i, j := from/t.cols-first, from%t.cols
		for _, v := range part {
			if k := place[j]; k >= 0 {
				dst[i*kept+k] = v
			}
			if j++; j == t.cols {
				i, j = i+1, 0
			}
		}
		from += len(part)
	}
	return nil
}

// readFortran gathers rows from columns.
func (t *table) readFortran(ctx context.Context, s *scratch, dst []float64, first int, keep []int) error {
	width := t.cols
	if keep != nil {
		width = len(keep)
	}
	count := len(dst) / width
	piece := min(max(fortranRows, blockLen/width), blockLen)
	for lo := 0; lo < count; lo += piece {
		part := s.numbers(min(piece, count-lo))
		for k := range width {
			column := k
			if keep != nil {
				column = keep[k]
			}
			if err := t.run(ctx, s, part, column*t.rows+first+lo); err != nil {
				return err
			}
			for i, v := range part {
				dst[(lo+i)*width+k] = v
			}
		}
	}
	return nil
}

// decode reads values at their place among all.
func (t *table) decode(s *scratch, dst []float64, from int) error {
	var raw []byte
	if t.dtype.native() {
		raw = bytesOf(dst)
	} else {
		raw = s.bytes(len(dst) * t.dtype.width)
	}
	n, err := t.at.ReadAt(raw, t.offset+int64(from)*int64(t.dtype.width))
	if n < len(raw) {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return inputErrorf(ErrTruncated, "%d bytes of data are missing that were there when the file was opened; let whoever writes it finish first", len(raw)-n)
		}
		return bare(err)
	}
	if t.dtype.bigEndian {
		reverseEach(raw, t.dtype.width)
	}
	if !t.dtype.native() {
		t.dtype.decode(dst, raw)
	}
	return nil
}
