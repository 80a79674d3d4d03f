package dataset

import (
	"context"
	"io"
	"sync"
)

// table locates the values of a two-dimensional array in a file.
type table struct {
	at         io.ReaderAt
	offset     int64
	rows, cols int
	dtype      dtype
	fortran    bool // column-major
}

// fortranRows is the least number of rows that are read from each column at a time. It
// makes each read span a few pages, which is faster than a read for each page.
const fortranRows = 4096

// scratch holds the buffers of one goroutine.
type scratch struct {
	raw    []byte
	values []float64
}

var scratches = sync.Pool{New: func() any {
	return &scratch{}
}}

// bytes returns a buffer of n bytes.
func (s *scratch) bytes(n int) []byte {
	if s.raw == nil {
		s.raw = make([]byte, 8*blockLen)
	}
	return s.raw[:n]
}

// numbers returns a buffer of n numbers.
func (s *scratch) numbers(n int) []float64 {
	if s.values == nil {
		s.values = make([]float64, blockLen)
	}
	return s.values[:n]
}

// read reads rows into dst, from row first on, as many as it holds. It keeps the columns
// keep, or all if keep is nil. place[j] is the index of column j in keep, -1 if it is not
// kept.
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

// run reads consecutive values.
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

// readSome reads all columns and keeps some.
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

// readFortran reads rows of a column-major table.
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

// decode reads consecutive values, from index from of the array on.
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
