package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Moments are the sums over rows that determine the outer blocks: weighted sums of the deviations x_i - c from the
// current centre and of the regressors
//
//	y_i = [tau_i / h; phi(tau_i) / h^2],
//
// h is the length scale of the data, which prevents overflow of sums of fourth powers. Moments of disjoint rows about
// the same centre merge by adding their Sums.
//
// They take 2nD(1+d+q) operations.
//
// A flat sheet needs no phi; its q counts as 0 here.
type Moments struct {
	// Sums holds all sums: the cost sum of v_i loss(r_i), the weight sum of w_i, then y, x, yx and yy.
	Sums []float64

	k, d    int       // d+q, and d
	y       []float64 // k: sum of w_i y_i
	x       []float64 // D: sum of w_i (x_i - c)
	yx      []float64 // k x D: sum of w_i y_i (x_i - c)'
	yy      []float64 // k x k: sum of w_i y_i y_i'
	columns []float64 // (1+k) x D: x above yx
	squares []float64 // (1+k) x (1+k): terms that accumulate adds to weight, y and yy
}

// NewMoments returns zero moments for sheets of the shape of f.
func NewMoments(f *sheet.Sheet) *Moments {
	k, D := f.Latent+forms(f), f.D
	m := &Moments{Sums: make([]float64, 2+k+(1+k)*D+k*k), k: k, d: f.Latent, squares: make([]float64, (1+k)*(1+k))}
	rest := m.Sums[2:]
	m.y, rest = rest[:k], rest[k:]
	m.columns, m.yy = rest[:(1+k)*D], rest[(1+k)*D:]
	m.x, m.yx = m.columns[:D], m.columns[D:]
	return m
}

// forms is the number of features phi: q, or 0 for a flat sheet.
func forms(f *sheet.Sheet) int {
	if f.S == 0 {
		return 0
	}
	return f.Q
}

func (m *Moments) cost() float64   { return m.Sums[0] }
func (m *Moments) weight() float64 { return m.Sums[1] }

// product returns row j of the matrix yx.
func (m *Moments) product(j int) []float64 {
	D := len(m.x)
	return m.yx[j*D : (j+1)*D]
}

// pairs returns row j of the matrix yy.
func (m *Moments) pairs(j int) []float64 { return m.yy[j*m.k : (j+1)*m.k] }

// accumulate adds n rows x, n x D, as deviations from c. y are their regressors after a 1, n x (1+k), and wy the same
// times their weights.
func (m *Moments) accumulate(x, c, y, wy []float64, n int) {
	k := 1 + m.k
	dense.AddCentredProduct(m.columns, wy, x, c, n, k, len(m.x))
	clear(m.squares)
	dense.AddProduct(m.squares, wy, y, n, k, k)
	m.Sums[1] += m.squares[0]
	for j := range m.y {
		m.y[j] += m.squares[(1+j)*k]
		floats.Add(m.pairs(j), m.squares[(1+j)*k+1:(2+j)*k])
	}
}

// shift converts sums about a centre c to sums about c - by. Moments can only be added if their centres are equal.
func (m *Moments) shift(by []float64) {
	floats.AddScaled(m.x, m.weight(), by)
	for j, v := range m.y {
		floats.AddScaled(m.product(j), v, by)
	}
}

// centre converts the sums about the current centre to sums about the weighted means, which it stores in x and y.
func (m *Moments) centre() {
	floats.Scale(1/m.weight(), m.x)
	for j, sum := range m.y {
		floats.AddScaled(m.product(j), -sum, m.x)
		floats.AddScaled(m.pairs(j), -sum/m.weight(), m.y)
	}
	floats.Scale(1/m.weight(), m.y)
}
