package residuals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// leastPairs is the number of pairs that determine the start of an essential matrix.
const leastPairs = 8

// Essential is a [Function] of the motion between two views of a calibrated camera, whose
// rows compare pairs of image points with it. A point that the first view has at a, the
// second has at b, where, with a third coordinate of 1,
//
//	b'Ea = 0,  E = [t]x R:
//
// coordinates X of the first camera are RX + t in the second. Rows have one entry, the
// Sampson distance
//
//	b'Ea / sqrt((Ea)_1^2 + (Ea)_2^2 + (E'b)_1^2 + (E'b)_2^2),
//
// to first order how far the pair is, in both images together, from one that fits. The
// blocks are "R", a rotation, and "t", a direction on the sphere: its length cannot be
// seen. E and -E, with two rotations each, are the same to all rows, so that fits are
// one of four, near the start.
//
// Where pairs are wrong take a loss that forgets those that are far off, such as that of
// Geman and McClure, r^2/(r^2 + s^2) with a scale s of some times the noise, from [Essential.Start].
// Under l2 a wrong matrix costs less than a few wrong pairs: a pair is never far from the
// epipolar lines of any motion, and one that is wrong may be.
//
// Sources: H. C. Longuet-Higgins, A computer algorithm for reconstructing a scene from
// two projections, Nature 293 (1981); R. Hartley, A. Zisserman, Multiple View Geometry in
// Computer Vision, 2nd ed., Cambridge 2004, chapters 9 and 11.
type Essential struct{ a, b rows.Data }

// NewEssential returns the residuals of pairs of image points, one a row of a and b, in
// coordinates of the calibrated camera: pixels less the principal point, over the focal
// length. It fails with rows.ErrInput where there are less than 8 pairs, where rows have
// not two entries, finite ones, and where data have weights: those belong to [Config].
func NewEssential(a, b rows.Data) (*Essential, error) {
	if a.N != b.N || a.N < leastPairs || a.D != 2 || b.D != 2 || len(a.X) != 2*a.N || len(b.X) != 2*b.N {
		return nil, fmt.Errorf("residuals: %d points of %d coordinates and %d of %d; want as many pairs of 2, at least %d: %w",
			a.N, a.D, b.N, b.D, leastPairs, rows.ErrInput)
	}
	if a.Weights != nil || b.Weights != nil {
		return nil, fmt.Errorf("residuals: give weights in Config: %w", rows.ErrInput)
	}
	for view, data := range [2]rows.Data{a, b} {
		for i, v := range data.X {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("residuals: view %d, row %d has %v: %w", view+1, i/2, v, rows.ErrInput)
			}
		}
	}
	a.X, b.X = slices.Clone(a.X), slices.Clone(b.X)
	return &Essential{a, b}, nil
}

// Blocks describes R and t.
func (f *Essential) Blocks() []framework.Block {
	return []framework.Block{{Name: "R", Manifold: space}, {Name: "t", Manifold: manifolds.Sphere(3)}}
}

// Shape is the number of pairs, and 1.
func (f *Essential) Shape() (n, m int) { return f.a.N, 1 }

// Matrix writes [t]x R into E, 3 x 3 and row-major.
func (f *Essential) Matrix(e []float64, x framework.Point) { crossed(e, x[1], x[0]) }

// crossed writes [t]x M for a 3 x 3 matrix into dst, which is not M.
func crossed(dst, t, m []float64) {
	for j := range 3 {
		dst[j] = t[1]*m[6+j] - t[2]*m[3+j]
		dst[3+j] = t[2]*m[j] - t[0]*m[6+j]
		dst[6+j] = t[0]*m[3+j] - t[1]*m[j]
	}
}

// pair is a pair of points, compared by a matrix E.
type pair struct {
	a, b, p, q [3]float64 // p = Ea, q = E'b
	n, s       float64    // b'Ea, and the root
}

func (f *Essential) pair(e []float64, i int) pair {
	c := pair{a: [3]float64{f.a.X[2*i], f.a.X[2*i+1], 1}, b: [3]float64{f.b.X[2*i], f.b.X[2*i+1], 1}}
	for j := range 3 {
		for k := range 3 {
			c.p[j] += e[3*j+k] * c.a[k]
			c.q[j] += e[3*k+j] * c.b[k]
		}
	}
	c.n = c.b[0]*c.p[0] + c.b[1]*c.p[1] + c.b[2]*c.p[2]
	c.s = math.Sqrt(c.p[0]*c.p[0] + c.p[1]*c.p[1] + c.q[0]*c.q[0] + c.q[1]*c.q[1])
	return c
}

// distance is the Sampson distance; 0 where both points are epipoles.
func (c *pair) distance() float64 {
	if c.s == 0 {
		return 0
	}
	return c.n / c.s
}

// slope writes the derivative of the distance with respect to the entries of E.
func (c *pair) slope(w []float64) {
	clear(w)
	if c.s == 0 {
		return
	}
	back := c.n / (c.s * c.s * c.s)
	for j := range 3 {
		for k := range 3 {
			w[3*j+k] = c.b[j] * c.a[k] / c.s
			if j < 2 {
				w[3*j+k] -= back * c.p[j] * c.a[k]
			}
			if k < 2 {
				w[3*j+k] -= back * c.q[k] * c.b[j]
			}
		}
	}
}

// Residuals writes Sampson distances.
func (f *Essential) Residuals(dst []float64, x framework.Point, from, to int) error {
	var e [9]float64
	f.Matrix(e[:], x)
	for i := from; i < to; i++ {
		c := f.pair(e[:], i)
		dst[i-from] = c.distance()
	}
	return nil
}

// JacobianProduct implements [Jacobian].
func (f *Essential) JacobianProduct(dst []float64, x, v framework.Point, from, to int) error {
	var e, de, other, w [9]float64
	f.Matrix(e[:], x)
	crossed(de[:], v[1], x[0])
	crossed(other[:], x[1], v[0])
	floats.Add(de[:], other[:])
	for i := from; i < to; i++ {
		c := f.pair(e[:], i)
		c.slope(w[:])
		dst[i-from] = floats.Dot(w[:], de[:])
	}
	return nil
}

// AddTransposedProduct implements [Jacobian].
func (f *Essential) AddTransposedProduct(dst, x framework.Point, g []float64, from, to int) error {
	var e, w, sum, back [9]float64
	f.Matrix(e[:], x)
	for i := from; i < to; i++ {
		c := f.pair(e[:], i)
		c.slope(w[:])
		floats.AddScaled(sum[:], g[i-from], w[:])
	}
	crossed(back[:], x[1], sum[:]) // [t]x' = -[t]x
	floats.Sub(dst[0], back[:])
	timesTransposed(back[:], sum[:], x[0])
	dst[1][0] += back[7] - back[5]
	dst[1][1] += back[2] - back[6]
	dst[1][2] += back[3] - back[1]
	return nil
}

const (
	// startSamples is the number of samples of eight pairs, with which a clean one is
	// missed with a probability of 2e-7 where four of ten pairs are wrong.
	startSamples = 1000
	// inlierScale times the median distance is that up to which pairs count as right: 2.5
	// standard deviations of normal errors.
	inlierScale = 2.5 * 1.4826
)

// Start is the least median of distances: of 1000 samples of eight pairs, the same in
// every call, the one whose matrix E has the least median of Sampson distances, and then
// the matrix of the pairs that this calls right. Of its four motions it takes the one that
// has most of them in front of both cameras. It is near the truth, but for noise, with
// less than half of the pairs wrong. It
// fails where the pairs determine no matrix, as those that are all equal.
//
// Source: P. J. Rousseeuw, Least median of squares regression, J. Am. Stat. Assoc. 79
// (1984), with the equations of Longuet-Higgins (1981).
func (f *Essential) Start() (framework.Point, error) {
	n := f.a.N
	rng := rand.New(rand.NewPCG(1, 2))
	eigen := dense.NewSymmetricEigen(9)
	weights, sizes, sorted := make([]float64, n), make([]float64, n), make([]float64, n)
	var e, best [9]float64
	least := math.Inf(1)
	for range startSamples {
		clear(weights)
		for _, i := range rng.Perm(n)[:leastPairs] {
			weights[i] = 1
		}
		if !f.solve(e[:], eigen, weights) {
			continue
		}
		f.sizes(sizes, e[:])
		copy(sorted, sizes)
		slices.Sort(sorted)
		if median := sorted[n/2]; median < least {
			least, best = median, e
		}
	}
	f.sizes(sizes, best[:])
	for i, size := range sizes {
		weights[i] = 0
		if c := f.pair(best[:], i); size <= inlierScale*least && c.s > 0 {
			weights[i] = 1 / (c.s * c.s)
		}
	}
	if math.IsInf(least, 1) || !f.solve(e[:], eigen, weights) {
		return nil, fmt.Errorf("residuals: the pairs do not determine a matrix: %w", rows.ErrInput)
	}
	return f.motion(e[:], weights)
}

// solve writes the E of length 1 with the least weighted sum of squares of b'Ea, and
// reports whether there is one such.
func (f *Essential) solve(e []float64, eigen *dense.SymmetricEigen, weights []float64) bool {
	f.normalEquations(eigen.A, weights)
	if !eigen.Factorize() || !(eigen.Values[1] > 0x1p-46*eigen.Values[8]) {
		return false
	}
	for j := range e {
		e[j] = eigen.A[9*j]
	}
	return true
}

// sizes writes the lengths of the distances.
func (f *Essential) sizes(dst, e []float64) {
	for i := range dst {
		c := f.pair(e, i)
		dst[i] = math.Abs(c.distance())
	}
}

// normalEquations writes the sum of squares b'Ea as a quadratic form in E.
func (f *Essential) normalEquations(dst, weights []float64) {
	clear(dst)
	var row [9]float64
	for i, w := range weights {
		if w == 0 {
			continue
		}
		c := f.pair(row[:], i)
		for j := range 3 {
			for k := range 3 {
				row[3*j+k] = c.b[j] * c.a[k]
			}
		}
		for j, v := range row {
			floats.AddScaled(dst[9*j:9*j+9], w*v, row[:])
		}
	}
}

// motion returns the motion of E that has most weight in front of both cameras.
func (f *Essential) motion(e, weights []float64) (framework.Point, error) {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(3, 3, e), mat.SVDFull) {
		return nil, fmt.Errorf("residuals: the start has no singular values: %w", rows.ErrInput)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	quarter := mat.NewDense(3, 3, []float64{0, -1, 0, 1, 0, 0, 0, 0, 1})
	t := []float64{u.At(0, 2), u.At(1, 2), u.At(2, 2)}
	best, most := framework.Point(nil), -1.0
	for _, turn := range []mat.Matrix{quarter, quarter.T()} {
		var r mat.Dense
		r.Product(&u, turn, v.T())
		if mat.Det(&r) < 0 {
			r.Scale(-1, &r)
		}
		for _, sign := range []float64{1, -1} {
			x := framework.Point{slices.Clone(r.RawMatrix().Data), floats.ScaleTo(make([]float64, 3), sign, t)}
			if front := f.inFront(x, weights); front > most {
				best, most = x, front
			}
		}
	}
	return best, nil
}

// inFront is the weight of the pairs whose rays meet, nearly, in front of both cameras.
func (f *Essential) inFront(x framework.Point, weights []float64) float64 {
	var sum float64
	var zero [9]float64
	for i, w := range weights {
		c := f.pair(zero[:], i)
		var ra [3]float64
		for j := range 3 {
			ra[j] = floats.Dot(x[0][3*j:3*j+3], c.a[:])
		}
		// Least squares for depths: z b = y Ra + t.
		aa, bb, ab := floats.Dot(ra[:], ra[:]), floats.Dot(c.b[:], c.b[:]), floats.Dot(ra[:], c.b[:])
		at, bt := floats.Dot(ra[:], x[1]), floats.Dot(c.b[:], x[1])
		if y, z := ab*bt-bb*at, aa*bt-ab*at; y > 0 && z > 0 {
			sum += w
		}
	}
	return sum
}
