package dense

import "math"

// inverter inverts m x m matrices in place, by Gauss-Jordan elimination with partial pivoting. It eliminates a few
// columns at a time, then applies their steps to the others at once. It takes 2m^3 operations.
//
// Source: E. S. Quintana, G. Quintana, X. Sun, R. van de Geijn, A note on parallel matrix
// inversion, SIAM J. Sci. Comput. 22 (2001) 1762-1771.
type inverter struct {
	m      int
	pivots []int
	panel  []float64 // m x inverterColumns: the columns being eliminated, and zeros
	rows   []float64 // inverterColumns x m
}

// inverterColumns is the number of columns that are eliminated at a time.
const inverterColumns = 8

func newInverter(m int) inverter {
	return inverter{m: m, pivots: make([]int, m), panel: make([]float64, m*inverterColumns), rows: make([]float64, inverterColumns*m)}
}

// invert inverts a. It returns false, with a partly overwritten, if a is singular or holds NaN.
func (v *inverter) invert(a []float64) bool {
	m := v.m
	for from := 0; from < m; from += inverterColumns {
		to := min(from+inverterColumns, m)
		clear(v.panel)
		for i := range m {
			copy(v.panel[i*inverterColumns:], a[i*m+from:i*m+to])
		}
		for k := from; k < to; k++ {
			if !v.eliminate(k, k-from) {
				return false
			}
			swapRows(a, m, k, v.pivots[k])
		}
		v.follow(a, from, to, 0, from)
		v.follow(a, from, to, to, m)
		for i := range m {
			copy(a[i*m+from:i*m+to], v.panel[i*inverterColumns:])
		}
	}
	for k := m - 1; k >= 0; k-- {
		if p := v.pivots[k]; p != k {
			for i := range m {
				a[i*m+k], a[i*m+p] = a[i*m+p], a[i*m+k]
			}
		}
	}
	return true
}

// eliminate does the elimination step of column k, which is the given column of the panel.
func (v *inverter) eliminate(k, column int) bool {
	best, most := k, math.Abs(v.row(k)[column])
	for i := k + 1; i < v.m; i++ {
		if size := math.Abs(v.row(i)[column]); size > most {
			best, most = i, size
		}
	}
	row := *v.row(best)
	pivot := row[column]
	if pivot == 0 || math.IsNaN(pivot) {
		return false
	}
	v.pivots[k] = best
	*v.row(best) = *v.row(k)
	row[column] = 1
	inverse := 1 / pivot
	for j := range row {
		row[j] *= inverse
	}
	for i := range v.m {
		other := v.row(i)
		t := other[column]
		other[column] = 0
		other[0] -= float64(t * row[0]) // a loop would take three times as long
		other[1] -= float64(t * row[1])
		other[2] -= float64(t * row[2])
		other[3] -= float64(t * row[3])
		other[4] -= float64(t * row[4])
		other[5] -= float64(t * row[5])
		other[6] -= float64(t * row[6])
		other[7] -= float64(t * row[7])
	}
	*v.row(k) = row
	return true
}

// row returns row i of the panel.
func (v *inverter) row(i int) *[inverterColumns]float64 {
	return (*[inverterColumns]float64)(v.panel[i*inverterColumns:])
}

// follow applies the steps of eliminate to the columns from..to.
func (v *inverter) follow(a []float64, from, to, first, last int) {
	m, cols := v.m, last-first
	if cols == 0 {
		return
	}
	for k := from; k < to; k++ {
		row := a[k*m+first : k*m+last]
		copy(v.rows[(k-from)*cols:], row)
		clear(row)
	}
	add := weighted{w: v.panel, row: 1, column: inverterColumns, x: v.rows, stride: cols, n: to - from}
	add.to(a[first:], m, m, cols)
}

func swapRows(a []float64, m, i, j int) {
	if i == j {
		return
	}
	for k := range m {
		a[i*m+k], a[j*m+k] = a[j*m+k], a[i*m+k]
	}
}
