package manifolds

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Symmetric is the space of symmetric or of skew-symmetric n x n matrices, with the inner
// product trace(U'V) of R^{n x n}. Matrices are row-major and full. Geodesics are straight
// lines, as in [Euclidean].
type Symmetric struct {
	Euclidean
	n    int
	skew bool
}

// NewSymmetric returns the space of symmetric n x n matrices. It panics for n below 1.
func NewSymmetric(n int) *Symmetric {
	atLeast(1, "symmetric", n)
	return &Symmetric{Euclidean: Euclidean(n * n), n: n}
}

// NewSkewSymmetric returns the space of skew-symmetric n x n matrices. It panics for n
// below 1.
func NewSkewSymmetric(n int) *Symmetric {
	m := NewSymmetric(n)
	m.skew = true
	return m
}

// String returns a name such as "symmetric 3" or "skew 3".
func (m *Symmetric) String() string {
	if m.skew {
		return fmt.Sprintf("skew %d", m.n)
	}
	return fmt.Sprintf("symmetric %d", m.n)
}

// Dim is n(n+1)/2 for symmetric and n(n-1)/2 for skew-symmetric matrices.
func (m *Symmetric) Dim() int {
	if m.skew {
		return m.n * (m.n - 1) / 2
	}
	return m.n * (m.n + 1) / 2
}

// Project writes (V + V')/2 for symmetric and (V - V')/2 for skew-symmetric matrices.
func (m *Symmetric) Project(dst, x, v []float64) {
	m.Euclidean.Project(dst, x, v)
	s := matrix(m.n, m.n, dst)
	if m.skew {
		skew(s)
	} else {
		symmetrize(s)
	}
}

// RiemannianHessian writes the projection of H.
func (m *Symmetric) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(m.Size(), g, v)
	m.Project(dst, x, h)
}

// Rand draws the projection of a matrix of independent standard normal entries.
func (m *Symmetric) Rand(dst []float64, rng *rand.Rand) {
	m.Euclidean.Rand(dst, rng)
	m.Project(dst, dst, dst)
}

// Violation is the largest entry of |X - X'| for symmetric and of |X + X'| for
// skew-symmetric matrices, or +Inf if X is not finite.
func (m *Symmetric) Violation(x []float64) float64 {
	mustFit(m.Size(), x)
	if nonFinite(x) >= 0 {
		return math.Inf(1)
	}
	sign := 1.
	if m.skew {
		sign = -1
	}
	var worst float64
	for i := range m.n {
		for j := range i + 1 {
			worst = math.Max(worst, math.Abs(x[i*m.n+j]-sign*x[j*m.n+i]))
		}
	}
	return worst
}

// Restore replaces X by its projection. It fails if X is not finite.
func (m *Symmetric) Restore(x []float64) error {
	mustFit(m.Size(), x)
	if err := checkFinite(x); err != nil {
		return failed(m, "restoring x", err)
	}
	m.Project(x, x, x)
	return nil
}
