package manifolds

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// Euclidean is R^n, for n at least 0, with the usual inner product. Geodesics
// are straight lines, so that every operation is exact.
type Euclidean int

// String returns a name such as "euclidean 5".
func (m Euclidean) String() string { return fmt.Sprintf("euclidean %d", int(m)) }

// Size is n.
func (m Euclidean) Size() int { return atLeast(0, "euclidean", int(m)) }

// Dim is n.
func (m Euclidean) Dim() int { return m.Size() }

// Project copies v: every vector is tangent.
func (m Euclidean) Project(dst, x, v []float64) {
	mustFit(int(m), dst, x, v)
	copy(dst, v)
}

// Retract writes x + v. It fails where the sum is not finite.
func (m Euclidean) Retract(dst, x, v []float64) error {
	mustFit(int(m), dst, x, v)
	floats.AddTo(dst, x, v)
	return failed(m, "retraction", checkFinite(dst))
}

// RetractionOrder is 2: the retraction is the geodesic.
func (Euclidean) RetractionOrder() int { return 2 }

// Exp writes x + v.
func (m Euclidean) Exp(dst, x, v []float64) error { return m.Retract(dst, x, v) }

// Log writes y - x. It fails where the difference is not finite.
func (m Euclidean) Log(dst, x, y []float64) error {
	mustFit(int(m), dst, x, y)
	floats.SubTo(dst, y, x)
	return failed(m, "logarithm", checkFinite(dst))
}

// Distance is |x - y|. It fails where that is not finite.
func (m Euclidean) Distance(x, y []float64) (float64, error) {
	mustFit(int(m), x, y)
	d := floats.Distance(x, y, 2)
	if d-d != 0 {
		return 0, failed(m, "distance", errNoPoint)
	}
	return d, nil
}

// Transport copies v.
func (m Euclidean) Transport(dst, x, y, v []float64) {
	mustFit(int(m), dst, x, y, v)
	copy(dst, v)
}

// RiemannianHessian copies h.
func (m Euclidean) RiemannianHessian(dst, x, g, h, v []float64) {
	mustFit(int(m), dst, x, g, h, v)
	copy(dst, h)
}

// Rand draws independent standard normal coordinates.
func (m Euclidean) Rand(dst []float64, rng *rand.Rand) {
	mustFit(int(m), dst)
	for i := range dst {
		dst[i] = rng.NormFloat64()
	}
}
