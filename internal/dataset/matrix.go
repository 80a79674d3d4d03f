package dataset

import "math"

// Matrix is Rows rows of Cols values each, row-major in Data. Names holds the
// column names when the source had a header, else nil.
type Matrix struct {
	Rows, Cols int
	Data       []float64
	Names      []string
}

// Row returns row i, sharing memory with m.
func (m *Matrix) Row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// check tells whether the fields of a Matrix that a caller built agree.
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

// matrixOf views an array as a table.
func matrixOf(a Array) (*Matrix, error) {
	shape := shapeString(a.Shape)
	switch len(a.Shape) {
	case 0, 1:
		return nil, inputErrorf(ErrShape,
			"shape %s is not a table; reshape it with X.reshape(-1, 1) for one column, or give it as labels", shape)
	case 2:
	default:
		return nil, inputErrorf(ErrShape, "shape %s is not a table; reshape it with X.reshape(len(X), -1)", shape)
	}
	if len(a.Data) == 0 {
		return nil, inputErrorf(ErrShape, "shape %s holds no values; at least one row and one column are needed", shape)
	}
	return &Matrix{Rows: a.Shape[0], Cols: a.Shape[1], Data: a.Data}, nil
}

// columns returns a copy of the columns named by index.
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

// checkFinite refuses infinities and, unless entries can be missing, NaN. origin[j] is the column of the file
// that became column j, so that the message points into the file.
func (m *Matrix) checkFinite(origin []int, missing bool) error {
	for i, v := range m.Data {
		if math.IsNaN(v) && !missing || math.IsInf(v, 0) {
			return inputErrorf(ErrNonFinite,
				"row %d, column %d is %v (rows and columns count from 0); remove the row or fill in the value",
				i/m.Cols, origin[i%m.Cols], v)
		}
	}
	return nil
}
