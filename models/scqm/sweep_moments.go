package scqm

import "gonum.org/v1/gonum/floats"

// moments is all that the outer blocks need to know of some rows: weighted sums
// of deviations x_i - c from the current centre and of the regressors
//
//	y_i = [tau_i / h; phi(tau_i) / h^2],
//
// where h is the length scale of the data, which keeps sums of fourth powers
// within the range of the numbers. Moments of disjoint rows about the same
// centre merge by adding.
//
// A flat sheet needs no phi: its q counts as 0 here.
type moments struct {
	d, q   int
	cost   float64   // sum of v_i loss(r_i)
	weight float64   // sum of w_i
	x      []float64 // D: sum of w_i (x_i - c)
	y      []float64 // d+q: sum of w_i y_i
	yx     []float64 // (d+q) x D: sum of w_i y_i (x_i - c)'
	phi    []float64 // q x q: sum of w_i phi_i phi_i' / h^4, upper triangle
}

func newMoments(f *sheet) *moments {
	q := forms(f)
	return &moments{
		d: f.d, q: q, x: make([]float64, f.D), y: make([]float64, f.d+q),
		yx: make([]float64, (f.d+q)*f.D), phi: make([]float64, q*q),
	}
}

// forms is the number of entries of phi that matter: q, or none for a flat
// sheet.
func forms(f *sheet) int {
	if f.s == 0 {
		return 0
	}
	return f.q
}

// product returns row j of yx.
func (m *moments) product(j int) []float64 {
	D := len(m.x)
	return m.yx[j*D : (j+1)*D]
}

func (m *moments) reset() {
	m.cost, m.weight = 0, 0
	clear(m.x)
	clear(m.y)
	clear(m.yx)
	clear(m.phi)
}

// add merges other into m.
func (m *moments) add(other *moments) {
	m.cost += other.cost
	m.weight += other.weight
	floats.Add(m.x, other.x)
	floats.Add(m.y, other.y)
	floats.Add(m.yx, other.yx)
	floats.Add(m.phi, other.phi)
}

// accumulate adds one row with weight w, deviation x and regressors y.
func (m *moments) accumulate(w float64, x, y []float64) {
	m.weight += w
	floats.AddScaled(m.x, w, x)
	for j, v := range y {
		m.y[j] += w * v
		floats.AddScaled(m.product(j), w*v, x)
	}
	phi := y[m.d:]
	for a, v := range phi {
		floats.AddScaled(m.phi[a*m.q+a:(a+1)*m.q], w*v, phi[a:])
	}
}

// centre turns the sums about the current centre into sums about the weighted
// means, which it leaves in x and y, and completes phi symmetrically.
func (m *moments) centre() {
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
	floats.Scale(1/m.weight, m.y)
}
