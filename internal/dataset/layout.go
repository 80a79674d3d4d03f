package dataset

import "io"

// arrayLayout is the layout of an array's values, as declared in its header.
type arrayLayout struct {
	shape   []int
	dtype   dtype
	fortran bool  // Fortran order: the first index runs fastest
	header  int64 // number of bytes before the values
	count   int   // number of values
	left    int64 // number of bytes after the header, -1 if unknown
}

// measure sets the number of values and of bytes left, for a file of size bytes, -1 if unknown.
func (l *arrayLayout) measure(size int64) (err error) {
	l.left = -1
	if size >= 0 {
		l.left = max(size-l.header, 0)
	}
	l.count, err = Array{Shape: l.shape}.elements()
	return err
}

// bytes returns the size of the values in the file.
func (l *arrayLayout) bytes() int64 { return int64(l.count) * int64(l.dtype.width) }

// readArray reads the values from r, which must end after them.
func (l *arrayLayout) readArray(r io.Reader) (Array, error) {
	a := Array{Shape: l.shape}
	copies := 1.0
	if l.fortran {
		copies = 2
	}
	var err error
	if a.Data, err = readValues(r, l.left, a, l.dtype, copies); err != nil {
		return Array{}, err
	}
	if l.fortran {
		a = a.fromFortran()
	}
	return a, nil
}

// list converts a one-dimensional array to a column.
func (l *arrayLayout) list() error {
	if len(l.shape) != 1 {
		return inputErrorf(ErrShape, "shape %s is not a list of labels, one for each row; give another file or save it with y.reshape(-1)", shapeString(l.shape))
	}
	if l.count == 0 {
		return inputErrorf(ErrShape, "holds no labels")
	}
	l.shape = append(l.shape, 1)
	return nil
}

// table checks that the array is a table with at least one value.
func (l *arrayLayout) table() error {
	shape := shapeString(l.shape)
	switch len(l.shape) {
	case 0, 1:
		return inputErrorf(ErrShape,
			"shape %s is not a table; reshape it with X.reshape(-1, 1) for one column, or give it as labels", shape)
	case 2:
	default:
		return inputErrorf(ErrShape, "shape %s is not a table; reshape it with X.reshape(len(X), -1)", shape)
	}
	if l.count == 0 {
		return inputErrorf(ErrShape, "shape %s holds no values; at least one row and one column are needed", shape)
	}
	return nil
}
