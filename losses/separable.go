package losses

import "math"

// groupLength is about how many entries of a batch are worked on at a time: few
// enough to stay in the first-level cache.
const groupLength = 256

// separable makes a loss of an even function phi of one entry.
type separable struct {
	name string
	// terms is Phi of [framework.Separable]. d1 may be the same slice as r, and
	// is 0 at a kink; d2 is 0 there.
	terms func(phi, d1, d2, r []float64)
}

// Name implements [framework.Loss].
func (l separable) Name() string { return l.name }

// Phi implements [framework.Separable].
func (l separable) Phi(phi, d1, d2, r []float64) { l.terms(phi, d1, d2, r) }

// Evaluate implements [framework.Loss].
func (l separable) Evaluate(values, grad, r []float64, dim int) error {
	countRows(l.name, values, grad, r, dim)
	if values == nil {
		if grad != nil {
			l.terms(nil, grad, nil, r)
		}
		return nil
	}
	l.inGroups(r, dim, func(phi []float64, from, to int) {
		l.terms(phi, part(grad, from, to), nil, r[from:to])
		for i := range len(phi) / dim {
			values[from/dim+i] = sum(phi[i*dim : (i+1)*dim])
		}
	})
	return nil
}

// HessianProduct implements [framework.SecondOrder].
func (l separable) HessianProduct(dst, r, v []float64, dim int) error {
	countRows(l.name, nil, dst, r, dim)
	l.inGroups(r, dim, func(d2 []float64, from, to int) {
		l.terms(nil, nil, d2, r[from:to])
		for k, c := range d2 {
			dst[from+k] = c * v[from+k]
		}
	})
	return nil
}

// inGroups calls work for runs [from, to) of whole rows of r, with a buffer of
// that length.
func (l separable) inGroups(r []float64, dim int, work func(buffer []float64, from, to int)) {
	length := max(1, groupLength/dim) * dim
	buffer := borrow(length)
	defer scratch.Put(buffer)
	for from := 0; from < len(r); from += length {
		to := min(from+length, len(r))
		work((*buffer)[:to-from], from, to)
	}
}

// concave is a separable loss whose phi is a concave function of r^2, and so
// bounded by the parabola with weight phi'(r)/r.
type concave struct{ separable }

// Weights implements [framework.Majorizer].
func (l concave) Weights(w, r []float64, dim int) error {
	countRows(l.name, nil, w, r, dim)
	l.inGroups(r, dim, func(a []float64, from, to int) {
		for k, v := range r[from:to] {
			a[k] = max(math.Abs(v), tiny)
		}
		l.terms(nil, w[from:to], nil, a)
		for k, v := range a {
			w[from+k] /= v
		}
	})
	return nil
}

// part returns s[from:to], of nil nil.
func part(s []float64, from, to int) []float64 {
	if s == nil {
		return nil
	}
	return s[from:to]
}
