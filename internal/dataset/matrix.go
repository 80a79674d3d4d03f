package dataset

import "math"

// Matrix is a table of Rows x Cols values, row-major in Data. Names holds the column names
// if the source had a header, else nil.
type Matrix struct {
	Rows, Cols int
	Data       []float64
	Names      []string
}

// Row returns row i, sharing memory with m.
func (m *Matrix) Row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// check returns an error if the fields of a Matrix are inconsistent.
func (m *Matrix) check() error {
	switch n, err := (Array{Shape: []int{m.Rows, m.Cols}}).elements(); {
	case err != nil:
		return err
	case n != len(m.Data):
		return inputErrorf(ErrShape, "%d x %d matrix with %d values", m.Rows, m.Cols, len(m.Data))
	case m.Names != nil && len(m.Names) != m.Cols:
		return inputErrorf(ErrShape, "%d column names for %d columns", len(m.Names), m.Cols)
	}
	return nil
}

// columns returns a copy of the columns with these indices.
func (m *Matrix) columns(keep []int) *Matrix {
	out := &Matrix{Rows: m.Rows, Cols: len(keep), Data: make([]float64, 0, m.Rows*len(keep))}
	for i := range m.Rows {
		row := m.Row(i)
		for _, j := range keep {
			out.Data = append(out.Data, row[j])
		}
	}
	return out
}

// checkFinite returns an error for an infinite entry and, unless missing is set, for NaN.
// origin[j] is the column of the file that became column j, for the message; nil means the
// same column.
func (m *Matrix) checkFinite(origin []int, missing bool) error {
	for i, v := range m.Data {
		if math.IsNaN(v) && !missing || math.IsInf(v, 0) {
			column := i % m.Cols
			if origin != nil {
				column = origin[column]
			}
			return entryError(i/m.Cols, column, v)
		}
	}
	return nil
}

// selected returns the rows that the options select by label.
func (m *Matrix) selected(o ReadOptions) (*Matrix, error) {
	if o.Labels == nil {
		return m, nil
	}
	m, _, err := Select(m, o.Labels, o.Keep, o.First)
	return m, err
}

// Only returns a copy of the listed rows.
func (m *Matrix) Only(list []int) *Matrix {
	some := &Matrix{Rows: len(list), Cols: m.Cols, Names: m.Names, Data: make([]float64, 0, len(list)*m.Cols)}
	for _, i := range list {
		some.Data = append(some.Data, m.Row(i)...)
	}
	return some
}
