package rows

// Columns holds the coordinates of rows without the columns in which all rows are the same.
type Columns struct {
	D    int
	keep []int
	same []float64 // D: the first row
}

// VaryingColumns leaves out the columns in which all rows are the same, and returns nothing where
// there are none.
func VaryingColumns(x Data) (*Columns, Data) {
	f := &Columns{D: x.D, same: x.Row(0)}
	varies := make([]bool, x.D)
	for i := range x.N {
		for j, v := range x.Row(i) {
			if v != f.same[j] {
				varies[j] = true
			}
		}
	}
	for j, v := range varies {
		if v {
			f.keep = append(f.keep, j)
		}
	}
	if len(f.keep) == x.D {
		return nil, x
	}
	y := x
	y.D, y.X = len(f.keep), make([]float64, x.N*len(f.keep))
	for i := range x.N {
		row, to := x.Row(i), y.Row(i)
		for k, j := range f.keep {
			to[k] = row[j]
		}
	}
	return f, y
}

// Kept returns the columns in which rows differ, which is not for callers to change.
func (f *Columns) Kept() []int { return f.keep }

// Dims returns the lengths of rows in both coordinates.
func (f *Columns) Dims() (inside, outside int) {
	return len(f.keep), f.D
}

// ShrinkPoint writes the coordinates of a point c.
func (f *Columns) ShrinkPoint(dst, c []float64) { f.ShrinkFrame(dst, c, 1) }

// ShrinkFrame writes the rows of Q that are kept, of m entries.
func (f *Columns) ShrinkFrame(dst, q []float64, m int) {
	for k, j := range f.keep {
		copy(dst[k*m:(k+1)*m], q[j*m:(j+1)*m])
	}
}

// ExpandPoint is the inverse of ShrinkPoint, with the entry of all rows in the other columns.
func (f *Columns) ExpandPoint(dst, c []float64) {
	copy(dst, f.same)
	f.ExpandFrame(dst, c, 1)
}

// ExpandFrame writes the rows of Q that were kept. It leaves others of dst as they are.
func (f *Columns) ExpandFrame(dst, q []float64, m int) {
	for k, j := range f.keep {
		copy(dst[j*m:(j+1)*m], q[k*m:(k+1)*m])
	}
}
