package dataset

import "io"

// tableWriter writes a table in one of the output formats.
type tableWriter struct {
	Table
	format   string
	to       io.Writer
	done     int   // rows written
	failed   error // error of writing
	produced error // error of the function that produces the rows
}

// run writes the whole table.
func (t *tableWriter) run(w io.Writer, produce func(func([]float64) error) error) error {
	t.to = w
	if t.format == formatNPZ {
		z := NewNPZWriter(w)
		member, err := z.create("arr_0" + formatNPY)
		if err != nil {
			return err
		}
		t.to = member
		if err := t.rows(produce); err != nil {
			return err
		}
		return z.Close()
	}
	return t.rows(produce)
}

func (t *tableWriter) rows(produce func(func([]float64) error) error) error {
	if err := t.begin(); err != nil {
		return err
	}
	err := produce(t.write)
	switch {
	case t.failed != nil:
		return t.failed
	case err != nil:
		t.produced = err
	case t.done != t.Rows:
		t.produced = inputErrorf(ErrShape, "%d rows of a table of %d", t.done, t.Rows)
	}
	return t.produced
}

// comma returns the separator of text fields, 0 for binary formats.
func (t *tableWriter) comma() byte {
	switch t.format {
	case formatCSV:
		return ','
	case formatTSV:
		return '\t'
	}
	return 0
}

func (t *tableWriter) begin() error {
	if comma := t.comma(); comma != 0 {
		return writeNames(t.to, t.Names, comma)
	}
	_, err := t.to.Write(npyHeaderBytes([]int{t.Rows, t.Cols}))
	return err
}

// write writes a number of whole rows.
func (t *tableWriter) write(rows []float64) error {
	if t.Cols == 0 {
		t.done = t.Rows
		return nil
	}
	if len(rows)%t.Cols != 0 || len(rows)/t.Cols > t.Rows-t.done {
		return inputErrorf(ErrShape, "%d numbers are no rows of the %d x %d that are left", len(rows), t.Rows-t.done, t.Cols)
	}
	t.done += len(rows) / t.Cols
	if comma := t.comma(); comma != 0 {
		t.failed = writeLines(t.to, rows, t.Cols, comma)
	} else {
		t.failed = writeValues(t.to, rows)
	}
	return t.failed
}
