package dense

import "math"

// reflectionPanel is the number of reflections that are applied together.
const reflectionPanel = 32

// Reflections are the product H = H_0 H_1 ... of Householder reflections I - tau_j v_j v_j', n x n, that
// leave the first axis where it is.
type Reflections struct {
	n      int
	panels []panel
}

// panel is the product I - V'TV of some reflections, whose v_j are the rows of V.
type panel struct {
	count   int
	vectors []float64 // count x n
	t       []float64 // count x count, upper triangular
}

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
	r := &reduction{a: append([]float64(nil), m...), n: n, from: 0, tridiagonal: t}
	for r.from < n {
		h.panels = append(h.panels, r.reduce(min(reflectionPanel, n-r.from)))
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

// reduction is a matrix of which the first rows are tridiagonal.
type reduction struct {
	a           []float64 // the others, square, of which only what is on and above the diagonal counts
	n, from     int
	tridiagonal *Tridiagonal
}

// reduce takes so many rows more. With V and W of the panel so far, what is left of the matrix is A -
// V'W - W'V, which is formed at its end.
func (r *reduction) reduce(count int) panel {
	size := r.n - r.from
	p := panel{count: count, vectors: make([]float64, count*r.n), t: make([]float64, count*count)}
	vs, ws := make([]float64, count*size), make([]float64, count*size)
	for j := range count {
		row, v, w := r.a[j*size:(j+1)*size], vs[j*size:(j+1)*size], ws[j*size:(j+1)*size]
		for k := range j {
			AddScaled(row[j:], -vs[k*size+j], ws[k*size+j:(k+1)*size])
			AddScaled(row[j:], -ws[k*size+j], vs[k*size+j:(k+1)*size])
		}
		r.tridiagonal.Diagonal[r.from+j] = row[j]
		if j+1 == size {
			break
		}
		copy(v[j+1:], row[j+1:])
		tau, beta := reflector(v[j+1:])
		r.tridiagonal.Off[r.from+j] = beta
		r.multiply(w, v, size, j+1)
		for k := range j {
			a, b := vs[k*size:(k+1)*size], ws[k*size:(k+1)*size]
			along, across := InnerProduct(a[j+1:], v[j+1:]), InnerProduct(b[j+1:], v[j+1:])
			AddScaled(w[j+1:], -across, a[j+1:])
			AddScaled(w[j+1:], -along, b[j+1:])
		}
		Scale(w, tau)
		AddScaled(w[j+1:], -tau/2*InnerProduct(w[j+1:], v[j+1:]), v[j+1:])
		copy(p.vectors[j*r.n+r.from:(j+1)*r.n], v)
		p.join(j, tau, r.n)
	}
	r.shrink(count, vs, ws)
	r.from += count
	return p
}

// multiply adds the product of the matrix, size x size, with v to w, from row and column from on.
func (r *reduction) multiply(w, v []float64, size, from int) {
	for i := from; i < size; i++ {
		row := r.a[i*size+i : (i+1)*size]
		w[i] += InnerProduct(row, v[i:])
		AddScaled(w[i+1:], v[i], row[1:])
	}
}

// shrink leaves the rows and columns after the first ones, updated.
func (r *reduction) shrink(count int, vs, ws []float64) {
	size := r.n - r.from
	left := size - count
	for i := range left {
		copy(r.a[i*left+i:(i+1)*left], r.a[(i+count)*size+count+i:(i+count+1)*size])
	}
	r.a = r.a[:left*left]
	weights, rows := make([]float64, left*2*count), make([]float64, 2*count*left)
	for k := range count {
		v, w := vs[k*size+count:(k+1)*size], ws[k*size+count:(k+1)*size]
		for i := range left {
			weights[i*2*count+2*k], weights[i*2*count+2*k+1] = -v[i], -w[i]
		}
		copy(rows[2*k*left:], w)
		copy(rows[(2*k+1)*left:], v)
	}
	for i := 0; i < left; i += SquareRows {
		add := weighted{w: weights[i*2*count:], row: 1, column: 2 * count, x: rows[i:], stride: left, n: 2 * count}
		add.to(r.a[i*left+i:], left, min(SquareRows, left-i), left-i)
	}
}

// reflector overwrites x by v, its first entry 1, and returns tau and beta with (I - tau vv')x = beta
// times the first axis.
func reflector(x []float64) (tau, beta float64) {
	var far float64
	for _, v := range x[1:] {
		far = math.Hypot(far, v)
	}
	first := x[0]
	if far == 0 {
		x[0] = 1
		return 0, first
	}
	beta = -math.Copysign(math.Hypot(first, far), first)
	Scale(x[1:], 1/(first-beta))
	x[0] = 1
	return (beta - first) / beta, beta
}

// join adds reflection j to the product.
func (p *panel) join(j int, tau float64, n int) {
	v := p.vectors[j*n : (j+1)*n]
	for i := range j {
		p.t[i*p.count+j] = -tau * InnerProduct(p.vectors[i*n:(i+1)*n], v)
	}
	for i := range j { // T times that: row i needs those from i on only
		var sum float64
		for k := i; k < j; k++ {
			sum += p.t[i*p.count+k] * p.t[k*p.count+j]
		}
		p.t[i*p.count+j] = sum
	}
	p.t[j*p.count+j] = tau
}

// reflectedRows are turned at a time, so that they stay in cache.
const reflectedRows = 64

// Rows multiplies every row of x, of length n, by H', or back by H: 4n^2 operations for a row.
func (h *Reflections) Rows(x []float64, back bool) {
	if len(h.panels) == 0 {
		return
	}
	products := make([]float64, 2*reflectionPanel*reflectedRows)
	for ; len(x) > 0; x = x[min(len(x), reflectedRows*h.n):] {
		some := x[:min(len(x), reflectedRows*h.n)]
		for k := range h.panels {
			if back {
				k = len(h.panels) - 1 - k
			}
			h.panels[k].rows(some, products, h.n, back)
		}
	}
}

// rows multiplies rows x' by I - V'TV, or by its transpose.
func (p *panel) rows(x, products []float64, n int, back bool) {
	rows := len(x) / n
	pulled, turned := products[:p.count*rows], products[reflectionPanel*reflectedRows:][:p.count*rows]
	FrameProducts(pulled, rows, nil, x, nil, p.vectors, rows, p.count, n)
	clear(turned)
	for i := range p.count {
		for j := i; j < p.count; j++ {
			from, to := i, j
			if back {
				from, to = j, i
			}
			AddScaled(turned[to*rows:(to+1)*rows], -p.t[i*p.count+j], pulled[from*rows:(from+1)*rows])
		}
	}
	AddProduct(x, turned, p.vectors, p.count, rows, n)
}

// Columns multiplies every column of x, n x k, by H', or back by H.
func (h *Reflections) Columns(x []float64, k int, back bool) {
	if len(h.panels) == 0 || k == 0 {
		return
	}
	rows := make([]float64, len(x))
	Transpose(rows, x, h.n, k)
	h.Rows(rows, back)
	Transpose(x, rows, k, h.n)
}
