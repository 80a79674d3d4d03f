package manifolds

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/internal/dense"
)

// ErrNoShortestGeodesic says that two points are too far apart for [Stiefel.Log]: shortest
// geodesics exist, but none that was found is known to be one.
var ErrNoShortestGeodesic = errors.New("no geodesic shorter than pi, the injectivity radius, was found; beyond it none is known to be the shortest")

// Log writes the tangent vector at X whose geodesic is the shortest to Y.
//
// For 1 < p < n there is no closed form. Newton's method finds V with Exp(X, V) = Y. A
// geodesic shorter than pi, the injectivity radius, is the shortest. If none is found, Log
// fails with [ErrNoShortestGeodesic]: for all points farther apart, and for some at a
// distance above 3.1, where the search may go astray. On St(n, 1), the sphere, and on each
// of the two components of St(n, n), the rotations, closed forms give a shortest geodesic
// at any distance. Log also fails if X or Y is not a point, or if no path joins them.
//
// Sources: R. Zimmermann, K. Hueper, Computing the Riemannian logarithm on the Stiefel
// manifold, SIAM J. Matrix Anal. Appl. 43 (2022) 953-980, for the problem in St(2p, p)
// to which that in St(n, p) comes down, and for shooting, whose steps are Newton's with
// the identity for the derivative; R. Zimmermann, J. Stoye, The injectivity radius of
// the compact Stiefel manifold under the Euclidean metric, arXiv:2405.02268 (2024).
func (m *Stiefel) Log(dst, x, y []float64) error {
	mustFit(m.Size(), dst, x, y)
	return failed(m, "logarithm", m.log(dst, x, y))
}

// Distance is the length of the shortest geodesic. It fails where Log does.
func (m *Stiefel) Distance(x, y []float64) (float64, error) {
	mustFit(m.Size(), x, y)
	if m.p == 1 {
		return Sphere(m.n).Distance(x, y)
	}
	v := make([]float64, m.Size())
	if err := m.log(v, x, y); err != nil {
		return 0, failed(m, "distance", err)
	}
	return floats.Norm(v, 2), nil
}

func (m *Stiefel) log(dst, x, y []float64) error {
	for _, z := range [][]float64{x, y} {
		if !(m.Violation(z) <= looseRotation) {
			return errNoPoint
		}
	}
	switch m.p {
	case 1:
		return Sphere(m.n).Log(dst, x, y)
	case m.n:
		return m.logSquare(dst, x, y)
	}
	f := m.frame()
	defer m.frames.Put(f)
	load(f.c, x)
	load(f.b, y)
	q := f.complement()
	s := newShooting(m.p, q.Rows)
	gram(s.block(s.target, 0, m.p), f.c, f.b)
	gram(s.block(s.target, m.p, q.Rows), q, f.b)
	if err := s.aim(); err != nil {
		return err
	}
	clear(f.b.Data)
	addProduct(f.b, 1, f.c, s.block(s.v, 0, m.p))
	addProduct(f.b, 1, q, s.block(s.v, m.p, q.Rows))
	store(dst, f.b)
	return nil
}

// logSquare writes X log(X'Y), for p = n.
func (m *Stiefel) logSquare(dst, x, y []float64) error {
	t := newTurn(m.n)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, matrix(m.n, m.n, x), matrix(m.n, m.n, y), 0, t.a)
	if t.determinantSign(t.a.Data) < 0 {
		return fmt.Errorf("no path joins matrices whose determinants have different signs")
	}
	if err := t.log(); err != nil {
		return err
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(m.n, m.n, x), t.a, 0, t.b)
	copy(dst, t.b.Data)
	return nil
}

// complement returns orthonormal columns, at most p, that are orthogonal to X (f.c) and
// together with X span the columns of Y (f.b). It overwrites f.a.
func (f *frame) complement() blas64.General {
	copy(f.a.Data, f.b.Data)
	f.horizontal(f.a, f.c)
	f.horizontal(f.a, f.c) // what cancellation left
	if err := f.qf(); err != nil {
		panic(err) // points are finite
	}
	// Where the rank is less than p, some columns of Q are anything. The squares of the
	// singular values of what is orthogonal to X of Q are 1 for the rest, and if one
	// is far from 0 its direction is as good.
	f.horizontal(f.a, f.c)
	f.horizontal(f.a, f.c)
	gram(f.g, f.a, f.a)
	e := dense.NewSymmetricEigen(f.p)
	copy(e.A, f.g.Data)
	e.FactorizeOrIdentity()
	k := 0
	for i := f.p - 1; i >= 0 && k < f.n-f.p && e.Values[i] > 0.25; i-- {
		for j := range f.p {
			f.t.Data[j*f.p+k] = e.A[j*f.p+i] / math.Sqrt(e.Values[i])
		}
		k++
	}
	q := zeros(k, f.n)
	addProduct(q, 1, f.a, blas64.General{Rows: f.p, Cols: k, Stride: f.p, Data: f.t.Data})
	return q
}
