package dense

// Reflections are the product H = H_0 H_1 ... of Householder reflections I - tau_j v_j v_j', n x n, that
// leave the first axis where it is.
type Reflections struct {
	n      int
	panels []panel
}

// panel is the product I - V'TV of some reflections, whose v_j are the rows of V, which begin at an
// entry from: those before it are zeros.
type panel struct {
	count, from int
	vectors     addressed // from that entry on
	t           []float64 // count x count, upper triangular
}

// join adds reflection j to the product, of which along is -Vv_j.
func (p *panel) join(j int, tau float64, along []float64) {
	for i := range j { // T times that: row i needs those from i on only
		var sum float64
		for k := i; k < j; k++ {
			sum += float64(p.t[i*p.count+k] * along[k])
		}
		p.t[i*p.count+j] = tau * sum
	}
	p.t[j*p.count+j] = tau
}

// reflectedRows are turned at a time, so that they stay in cache.
const reflectedRows = 64

// Rows multiplies every row of x, of length n, by H', or back by H: 2n^2 operations for a row.
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
	addressed{x[p.from:], n}.products(pulled, rows, p.vectors, rows, p.count, n-p.from)
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
	add := weighted{w: turned, row: rows, column: 1, x: p.vectors.x, stride: p.vectors.apart, n: p.count}
	add.to(x[p.from:], n, rows, n-p.from)
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
