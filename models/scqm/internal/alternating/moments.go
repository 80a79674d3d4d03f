package alternating

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// Moments are the sums over rows that determine the outer blocks: weighted sums of deviations x_i - c from the
// current centre and of the regressors
//
//	y_i = [tau_i / h; phi(tau_i) / h^2],
//
// where h is the length scale of the data, which keeps sums of fourth powers within the range of the numbers.
// Moments of disjoint rows about the same centre merge by adding.
//
// They take 2nD(1+d+q) operations.
//
// A flat sheet needs no phi: its q counts as 0 here.
type Moments struct {
	d, q   int
	cost   float64   // sum of v_i loss(r_i)
	weight float64   // sum of w_i
	x      []float64 // D: sum of w_i (x_i - c)
	y      []float64 // d+q: sum of w_i y_i
	yx     []float64 // (d+q) x D: sum of w_i y_i (x_i - c)'
	phi    []float64 // q x q: sum of w_i phi_i phi_i' / h^4, upper triangle

	all []float64 // (d+q) x (d+q): sum of w_i y_i y_i'; nil where phi suffices

	columns []float64 // (1+d+q) x D: x above yx
	squares []float64 // (1+d+q) x (1+d+q): what accumulate adds to weight, y and phi
}

// NewMoments returns the moments of no rows, for the shape of a sheet.
func NewMoments(f *sheet.Sheet) *Moments {
	q := forms(f)
	columns := make([]float64, (1+f.Latent+q)*f.D)
	return &Moments{
		d: f.Latent, q: q, x: columns[:f.D], y: make([]float64, f.Latent+q),
		yx: columns[f.D:], phi: make([]float64, q*q), columns: columns,
		squares: make([]float64, (1+f.Latent+q)*(1+f.Latent+q)),
	}
}

// withPairs makes m also sum the products of all regressors, which are not stored.
func (m *Moments) withPairs() *Moments {
	m.all = make([]float64, (m.d+m.q)*(m.d+m.q))
	return m
}

// forms is the number of features phi: q, or 0 for a flat sheet.
func forms(f *sheet.Sheet) int {
	if f.S == 0 {
		return 0
	}
	return f.Q
}

// Len is the number of sums.
func (m *Moments) Len() int { return 2 + len(m.y) + len(m.columns) + len(m.phi) }

// Store writes the sums into dst, of [Moments.Len] numbers.
func (m *Moments) Store(dst []float64) {
	dst[0], dst[1] = m.cost, m.weight
	at := 2
	for _, part := range [][]float64{m.y, m.columns, m.phi} {
		at += copy(dst[at:], part)
	}
}

// Load sets the sums from stored ones, or from a sum of several such.
func (m *Moments) Load(src []float64) {
	m.cost, m.weight = src[0], src[1]
	at := 2
	for _, part := range [][]float64{m.y, m.columns, m.phi} {
		at += copy(part, src[at:])
	}
}

// product returns row j of yx.
func (m *Moments) product(j int) []float64 {
	D := len(m.x)
	return m.yx[j*D : (j+1)*D]
}

func (m *Moments) reset() {
	m.cost, m.weight = 0, 0
	clear(m.columns)
	clear(m.y)
	clear(m.phi)
	clear(m.all)
}

// add merges other into m.
func (m *Moments) add(other *Moments) {
	m.cost += other.cost
	m.weight += other.weight
	floats.Add(m.columns, other.columns)
	floats.Add(m.y, other.y)
	floats.Add(m.phi, other.phi)
	floats.Add(m.all, other.all)
}

// accumulate adds n rows of x, n x D, with deviations from c: y are their regressors below
// a 1, n x (1+d+q), and wy the same times their weights.
func (m *Moments) accumulate(x, c, y, wy []float64, n int) {
	k, q := 1+m.d+m.q, m.q
	dense.AddCentredProduct(m.columns, wy, x, c, n, k, len(m.x))
	clear(m.squares)
	dense.AddProduct(m.squares, wy, y, n, k, k)
	m.weight += m.squares[0]
	for j := range m.y {
		m.y[j] += m.squares[(1+j)*k]
	}
	for a := range q {
		row := m.squares[(1+m.d+a)*k+1+m.d:][:q]
		floats.Add(m.phi[a*q+a:(a+1)*q], row[a:])
	}
	if m.all == nil {
		return
	}
	for j := range k - 1 {
		floats.Add(m.all[j*(k-1):(j+1)*(k-1)], m.squares[(1+j)*k+1:(2+j)*k])
	}
}

// centre turns the sums about the current centre into sums about the weighted
// means, which it leaves in x and y, and completes phi symmetrically.
func (m *Moments) centre() {
	floats.Scale(1/m.weight, m.x)
	for j, sum := range m.y {
		floats.AddScaled(m.product(j), -sum, m.x)
	}
	phi := m.y[m.d:]
	for a := range m.q {
		for b := a; b < m.q; b++ {
			m.phi[a*m.q+b] -= phi[a] / m.weight * phi[b]
			m.phi[b*m.q+a] = m.phi[a*m.q+b]
		}
	}
	if k := len(m.y); m.all != nil {
		for i, v := range m.y {
			floats.AddScaled(m.all[i*k:(i+1)*k], -v/m.weight, m.y)
		}
	}
	floats.Scale(1/m.weight, m.y)
}
