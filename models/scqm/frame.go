package scqm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// frame is an orthonormal basis of R^D that begins with the columns of Q.
type frame struct {
	f    *sheet
	w    []float64 // D x D: its vectors as rows
	left []float64 // D: squared distance of every coordinate axis from the rows so far

	moved, next []float64 // m x D
	gram, turn  []float64 // m x m
	root        []float64 // m x m
}

func newFrame(f *sheet) *frame {
	vec := func(n int) []float64 { return make([]float64, n) }
	return &frame{
		f: f, w: vec(f.D * f.D), left: vec(f.D), moved: vec(f.m * f.D), next: vec(f.m * f.D),
		gram: vec(f.m * f.m), turn: vec(f.m * f.m), root: vec(f.m * f.m),
	}
}

// axis returns vector r of the frame.
func (b *frame) axis(r int) []float64 { return b.w[r*b.f.D : (r+1)*b.f.D] }

// complete makes the frame of the sheet: the columns of Q, then the coordinate
// axes furthest from the rows so far, orthogonalised. It depends on Q only.
func (b *frame) complete() {
	D, m := b.f.D, b.f.m
	copy(b.w, b.f.qt)
	if m == D {
		return
	}
	for j := range b.left {
		b.left[j] = 1
		for i := range m {
			b.left[j] -= b.w[i*D+j] * b.w[i*D+j]
		}
	}
	for i := m; i < D; i++ {
		row := b.axis(i)
		clear(row)
		row[floats.MaxIdx(b.left)] = 1
		dense.OrthogonalizeRow(b.w, i, D)
		for j, v := range row {
			b.left[j] -= v * v
		}
	}
}

// see writes the coordinates of x - c in the frame into y.
func (b *frame) see(y, x []float64) {
	D, c := b.f.D, b.f.c
	for r := range y {
		axis := b.w[r*D : (r+1)*D]
		var sum float64
		for j, v := range axis {
			sum += v * (x[j] - c[j])
		}
		y[r] = sum
	}
}

// sight is what is seen of all rows in a frame.
type sight struct {
	y    []float64 // n x D: W'(x - c)
	c, q []float64 // the c and Q' to which y belongs
	// version is that of the data to which y belongs.
	version uint64
	kept    bool
}

func newSight(f *sheet, n int) sight {
	return sight{y: make([]float64, n*f.D), c: make([]float64, f.D), q: make([]float64, f.m*f.D)}
}

// at reports whether y belongs to the sheet and a version of the data.
func (s *sight) at(f *sheet, version uint64) bool {
	return s.kept && s.version == version && slices.Equal(s.c, f.c) && slices.Equal(s.q, f.qt)
}

// keep says that y was computed for the sheet and a version of the data.
func (s *sight) keep(f *sheet, version uint64) {
	copy(s.c, f.c)
	copy(s.q, f.qt)
	s.kept, s.version = true, version
}

// orthonormalize replaces moved, Q plus a tangent vector by columns, by its
// polar factor Y (Y'Y)^-1/2. It reports false where moved is not finite.
func (b *frame) orthonormalize() bool {
	D, m := b.f.D, b.f.m
	for i := range m {
		for j := range i + 1 {
			v := dense.Dot(b.moved[i*D:(i+1)*D], b.moved[j*D:(j+1)*D])
			b.gram[i*m+j], b.gram[j*m+i] = v, v
		}
	}
	if s := floats.Sum(b.gram); s-s != 0 {
		return false
	}
	dense.JacobiEigen(b.gram, b.turn, m)
	for i := range m {
		for j := range i + 1 {
			var v float64
			for k := range m {
				v += b.turn[k*m+i] * b.turn[k*m+j] / math.Sqrt(b.gram[k*m+k])
			}
			b.root[i*m+j], b.root[j*m+i] = v, v
		}
	}
	clear(b.next)
	for i := range m {
		row := b.next[i*D : (i+1)*D]
		for j, v := range b.root[i*m : (i+1)*m] {
			for k, u := range b.moved[j*D : (j+1)*D] {
				row[k] += v * u
			}
		}
	}
	b.moved, b.next = b.next, b.moved
	return true
}

// quadratic writes 2 W'MW.
func (b *frame) quadratic(dst, m []float64) {
	D := b.f.D
	for r := range D {
		for j := range D {
			b.left[j] = 2 * floats.Dot(m[j*D:(j+1)*D], b.axis(r))
		}
		for q := range D {
			dst[r*D+q] = floats.Dot(b.left, b.axis(q))
		}
	}
}

// rotate writes W'x.
func (b *frame) rotate(dst, x []float64) {
	for r := range dst {
		dst[r] = dense.Dot(b.axis(r), x)
	}
}
