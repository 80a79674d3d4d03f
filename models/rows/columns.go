package rows

import "math"

// Columns holds the coordinates of rows without the columns in which all rows are the same.
type Columns struct {
	D    int
	keep []int
	same []float64 // D: the first row
	rest []int     // the columns that are gathered in one after those kept, none where they are left out
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

// Gather adds a column to y, the rows in those that are kept, that stands for all others: theirs, without the entry
// in which rows are the same, summed and divided by the root of their number. Points in which they differ
// have no place there.
func (f *Columns) Gather(y Data) Data {
	kept := make([]bool, f.D)
	for _, j := range f.keep {
		kept[j] = true
	}
	for j, k := range kept {
		if !k {
			f.rest = append(f.rest, j)
		}
	}
	z := y
	z.D, z.X = y.D+1, make([]float64, y.N*(y.D+1))
	for i := range y.N {
		copy(z.X[i*z.D:], y.Row(i))
	}
	return z
}

// Kept returns the columns in which rows differ, which is not for callers to change.
func (f *Columns) Kept() []int { return f.keep }

// Dims returns the lengths of rows in both coordinates.
func (f *Columns) Dims() (inside, outside int) {
	if len(f.rest) > 0 {
		return len(f.keep) + 1, f.D
	}
	return len(f.keep), f.D
}

// ShrinkPoint writes the coordinates of a point c.
func (f *Columns) ShrinkPoint(dst, c []float64) {
	f.ShrinkFrame(dst, c, 1)
	root := math.Sqrt(float64(len(f.rest)))
	for _, j := range f.rest {
		dst[len(f.keep)] -= f.same[j] / root
	}
}

// ShrinkFrame writes the rows of Q that are kept, of m entries, and what the others are gathered to.
func (f *Columns) ShrinkFrame(dst, q []float64, m int) {
	for k, j := range f.keep {
		copy(dst[k*m:(k+1)*m], q[j*m:(j+1)*m])
	}
	if len(f.rest) == 0 {
		return
	}
	sum, root := dst[len(f.keep)*m:], math.Sqrt(float64(len(f.rest)))
	clear(sum)
	for _, j := range f.rest {
		for a, v := range q[j*m : (j+1)*m] {
			sum[a] += v / root
		}
	}
}

// ExpandPoint is the inverse of ShrinkPoint, with the entry of all rows in the other columns.
func (f *Columns) ExpandPoint(dst, c []float64) {
	f.ExpandFrame(dst, c, 1)
	kept := 0
	for j, v := range f.same {
		switch {
		case kept < len(f.keep) && f.keep[kept] == j:
			kept++
		case len(f.rest) > 0:
			dst[j] += v
		default:
			dst[j] = v
		}
	}
}

// ExpandFrame writes the rows of Q that were kept, and its parts into those that were gathered. It leaves others
// of dst as they are.
func (f *Columns) ExpandFrame(dst, q []float64, m int) {
	for k, j := range f.keep {
		copy(dst[j*m:(j+1)*m], q[k*m:(k+1)*m])
	}
	root := math.Sqrt(float64(len(f.rest)))
	for _, j := range f.rest {
		for a, v := range q[len(f.keep)*m : (len(f.keep)+1)*m] {
			dst[j*m+a] = v / root
		}
	}
}
