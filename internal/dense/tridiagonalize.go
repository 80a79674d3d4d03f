package dense

import "math"

// reflectionPanel is the number of reflections that are applied together, a multiple of
// symmetricLanes.
const reflectionPanel = 32

// Tridiagonalize returns T and H with M = HTH' for a symmetric matrix M, n x n, in 4n^3/3
// operations, half of them in products of the matrix with one vector each, which read it from the
// diagonal on. Of a matrix that is tridiagonal H is I.
//
// Source: J. J. Dongarra, D. C. Sorensen, S. J. Hammarling, Block reduction of matrices to condensed
// forms for eigenvalue computations, J. Comput. Appl. Math. 27 (1989) 215-227.
func Tridiagonalize(m []float64, n int) (*Tridiagonal, *Reflections) {
	t, h := &Tridiagonal{make([]float64, n), make([]float64, n-1)}, &Reflections{n: n}
	if t.read(m) {
		return t, h
	}
	r := newReduction(m, n, t)
	for from := 0; from < n; from += reflectionPanel {
		h.panels = append(h.panels, r.reduce(from, min(reflectionPanel, n-from)))
	}
	return t, h
}

// read takes the entries of a matrix and reports whether it is tridiagonal.
func (t *Tridiagonal) read(m []float64) bool {
	n := len(t.Diagonal)
	for i := range n {
		t.Diagonal[i] = m[i*n+i]
		if i+1 < n {
			t.Off[i] = m[i*n+i+1]
		}
		for j := i + 2; j < n; j++ {
			if m[i*n+j] != 0 {
				return false
			}
		}
	}
	return true
}

// reduction is a matrix of which the first rows are tridiagonal. Only what is on and above its
// diagonal blocks of symmetricLanes counts.
type reduction struct {
	a             []float64 // size x size, zeros from n on
	n, size       int       // size is the next multiple of symmetricLanes
	t             *Tridiagonal
	panel         []float64 // W and V of a panel, reflectionPanel x size each
	w, v          []float64 // its parts
	negative      []float64 // -V and -W
	along, across []float64 // reflectionPanel
}

func newReduction(m []float64, n int, t *Tridiagonal) *reduction {
	size := (n + symmetricLanes - 1) / symmetricLanes * symmetricLanes
	long := reflectionPanel * size
	r := &reduction{
		a: make([]float64, size*size), n: n, size: size, t: t, panel: make([]float64, 2*long), negative: make([]float64, 2*long),
		along: make([]float64, reflectionPanel), across: make([]float64, reflectionPanel),
	}
	r.w, r.v = r.panel[:long], r.panel[long:]
	for i := range n {
		from := i / symmetricLanes * symmetricLanes
		copy(r.a[i*size+from:i*size+n], m[i*n+from:(i+1)*n])
	}
	return r
}

// reduce takes so many rows more. With V and W of the panel so far, what is left of the matrix is A -
// V'W - W'V, which is formed at its end.
func (r *reduction) reduce(from, count int) panel {
	p := panel{count: count, from: from, vectors: addressed{r.a[from*r.size+from:], r.size}, t: make([]float64, count*count)}
	clear(r.panel)
	size := r.size
	for j := range count {
		i := from + j
		row, v, w := r.a[i*size:(i+1)*size], r.v[j*size:(j+1)*size], r.w[j*size:(j+1)*size]
		r.update(row, j, i)
		r.t.Diagonal[i] = row[i]
		if i+1 == r.n {
			break
		}
		copy(v[i+1:], row[i+1:])
		tau, beta := reflector(v[i+1 : r.n])
		r.t.Off[i] = beta
		addSymmetricProduct(w, r.a, v, size, (i+1)/symmetricLanes*symmetricLanes)
		along := r.correct(w, v, j, i+1)
		Scale(w[i+1:], tau)
		AddScaled(w[i+1:], -tau/2*InnerProduct(w[i+1:], v[i+1:]), v[i+1:])
		clear(w[:i+1])
		p.join(j, tau, along)
	}
	if from+count < r.n {
		r.shrink(from+count, count)
	}
	for j := range count { // these rows have served
		copy(r.a[(from+j)*r.size+from:(from+j+1)*r.size], r.v[j*r.size+from:(j+1)*r.size])
	}
	return p
}

// symmetricLanes is the number of rows and columns of the blocks of addSymmetricProduct.
const symmetricLanes = 8

// addSymmetricProduct adds the product of a symmetric matrix with v to y. Of a, n x n, it reads what
// is on and above the diagonal blocks of eight, once; n is a multiple of eight, and so is first: rows
// and columns before it are left out. It takes 4 operations for an entry.
func addSymmetricProduct(y, a, v []float64, n, first int) {
	for i := first; i < n; i++ {
		row, from := a[i*n:(i+1)*n], i/symmetricLanes*symmetricLanes
		y[i] += InnerProduct(row[from:], v[from:n])
		from += symmetricLanes
		AddScaled(y[from:n], v[i], row[from:])
	}
}

// update takes the row i of the reflections so far, j of them, from the matrix.
func (r *reduction) update(row []float64, j, i int) {
	for k := range j {
		r.along[k], r.across[k] = -r.v[k*r.size+i], -r.w[k*r.size+i]
	}
	r.add(row, r.along[:j], r.w, i)
	r.add(row, r.across[:j], r.v, i)
}

// correct takes V'Wv + W'Vv from w, from an entry on, and returns -Vv.
func (r *reduction) correct(w, v []float64, j, from int) []float64 {
	first := from / symmetricLanes * symmetricLanes // v is zero before it
	along, across := r.along[:j], r.across[:j]
	if j > 0 {
		axis := addressed{v[first:], 0}
		addressed{r.v[first:], r.size}.products(along, j, axis, j, 1, r.size-first)
		addressed{r.w[first:], r.size}.products(across, j, axis, j, 1, r.size-first)
	}
	Scale(along, -1)
	Scale(across, -1)
	r.add(w, across, r.v, from)
	r.add(w, along, r.w, from)
	return along
}

// add adds a sum of rows to one, from a block on.
func (r *reduction) add(row, weights, rows []float64, from int) {
	first := from / symmetricLanes * symmetricLanes
	sum := weighted{w: weights, row: 1, column: 1, x: rows[first:], stride: r.size, n: len(weights)}
	sum.to(row[first:], r.size, 1, r.size-first)
}

// shrink forms what is left of the matrix, from a row on.
func (r *reduction) shrink(from, count int) {
	for k := range count * r.size {
		r.negative[k], r.negative[count*r.size+k] = -r.v[k], -r.w[k]
	}
	for i := from; i < r.size; i += SquareRows {
		sum := weighted{w: r.negative[i:], row: r.size, column: 1, x: r.panel[i:], stride: r.size, n: 2 * count}
		sum.to(r.a[i*r.size+i:], r.size, min(SquareRows, r.size-i), r.size-i)
	}
}

// reflector overwrites x by v, its first entry 1, and returns tau and beta with (I - tau vv')x = beta
// times the first axis.
func reflector(x []float64) (tau, beta float64) {
	far, first := Norm(x[1:]), x[0]
	if far == 0 {
		x[0] = 1
		return 0, first
	}
	beta = -math.Copysign(math.Hypot(first, far), first)
	Scale(x[1:], 1/(first-beta))
	x[0] = 1
	return (beta - first) / beta, beta
}
