package residuals

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/rows"
)

// maxViolation is the largest distance of a given point from its manifold.
const maxViolation = 1e-6

// Distances is a [Function] on a point x of a manifold. The norm of its row i is the distance of x from a given point
// p_i: the row is the logarithm of x at p_i, in an orthonormal frame. With squared_l2 the fit is the Karcher mean of
// the points, with l2 their geometric median. It has one block, "x".
//
// Sources: H. Karcher, Riemannian center of mass and mollifier smoothing, Comm. Pure
// Appl. Math. 30 (1977); P. T. Fletcher, S. Venkatasubramanian, S. Joshi, The geometric
// median on Riemannian manifolds with application to robust atlas estimation,
// NeuroImage 45 (2009).
type Distances struct {
	Function
	points rows.Data
	metric framework.Distance
}

// NewDistances returns the distances from points on a manifold, one per row, as flat coordinates. It rejects weights
// of the data, which belong to [Config]. The manifold must be a framework.Logarithm and a framework.Distance. On
// spheres and covariance matrices derivatives are exact, elsewhere they are differences. It fails if a row is not
// finite or is off the manifold by more than 1e-6.
func NewDistances(m framework.Manifold, points rows.Data) (*Distances, error) {
	_, logarithm := m.(framework.Logarithm)
	metric, distance := m.(framework.Distance)
	if !logarithm || !distance {
		return nil, fmt.Errorf("residuals: %v has no logarithms and distances: %w", m, rows.ErrInput)
	}
	points, err := onManifold(m, points)
	if err != nil {
		return nil, err
	}
	d := &Distances{points: points, metric: metric}
	switch on := m.(type) {
	case *manifolds.SPD:
		d.Function, err = newDefiniteDistances(on, points)
	default:
		if isSphere(m) {
			d.Function = sphereDistances{m, points}
			break
		}
		d.Function, err = newFramedDistances(m, points)
	}
	return d, err
}

// Start returns the point, among at most 100 candidates, of least sum of distances from the others: a start that is
// robust against outliers.
func (d *Distances) Start() (framework.Point, error) {
	const tried = 100
	stride := max(1, d.points.N/tried)
	best, least := 0, math.Inf(1)
	for i := 0; i < d.points.N; i += stride {
		var sum float64
		for j := 0; j < d.points.N; j += stride {
			far, err := d.metric.Distance(d.points.Row(i), d.points.Row(j))
			if err != nil {
				return nil, fmt.Errorf("residuals: distance of rows %d and %d: %w", i, j, err)
			}
			sum += far
		}
		if sum < least {
			best, least = i, sum
		}
	}
	x := make([]float64, d.points.D)
	copy(x, d.points.Row(best))
	return framework.Point{x}, nil
}

// onManifold returns a copy of the rows without their rounding errors. It rejects rows that are not points of the
// manifold.
func onManifold(m framework.Manifold, points rows.Data) (rows.Data, error) {
	if points.D != m.Size() {
		return points, fmt.Errorf("residuals: rows have %d entries, points of %v %d: %w", points.D, m, m.Size(), rows.ErrInput)
	}
	if err := checkRows(points); err != nil {
		return points, err
	}
	points.X = slices.Clone(points.X)
	c, ok := m.(framework.Constrained)
	for i := 0; ok && i < points.N; i++ {
		off := c.Violation(points.Row(i))
		if !(off <= maxViolation) {
			return points, fmt.Errorf("residuals: row %d is off the manifold %v by %.3g: %w", i, m, off, rows.ErrInput)
		}
		if err := c.Restore(points.Row(i)); err != nil {
			return points, fmt.Errorf("residuals: row %d: %w", i, err)
		}
	}
	return points, nil
}

// checkRows rejects rows with missing entries or with weights, which belong to the [Config].
func checkRows(x rows.Data) error {
	x.Missing = false
	if x.Weights != nil {
		return fmt.Errorf("residuals: weights of rows belong to the configuration of the fit: %w", rows.ErrInput)
	}
	return x.Validate()
}

// block is the domain of distances.
func block(m framework.Manifold) []framework.Block {
	return []framework.Block{{Name: "x", Manifold: m}}
}

// framedDistances are distances on any manifold, without derivatives.
type framedDistances struct {
	on     framework.Manifold
	points rows.Data
	frames []float64 // for every point Dim tangent vectors, nil if the inner product is inherited
}

func newFramedDistances(m framework.Manifold, points rows.Data) (*framedDistances, error) {
	d := &framedDistances{on: m, points: points}
	if _, ok := m.(framework.Metric); !ok {
		return d, nil
	}
	size := m.Dim() * m.Size()
	d.frames = make([]float64, points.N*size)
	for i := range points.N {
		if !orthonormalFrame(d.frames[i*size:(i+1)*size], m, points.Row(i)) {
			return nil, fmt.Errorf("residuals: row %d has no frame of tangent vectors: %w", i, rows.ErrInput)
		}
	}
	return d, nil
}

// orthonormalFrame writes Dim tangent vectors at p that are orthonormal in the metric: projected unit vectors,
// orthogonalised twice against the earlier ones.
func orthonormalFrame(frame []float64, m framework.Manifold, p []float64) bool {
	b := framework.Block{Manifold: m}
	size, have := m.Size(), 0
	for j := 0; j < size && have < m.Dim(); j++ {
		v := frame[have*size : (have+1)*size]
		clear(v)
		v[j] = 1
		b.Project(v, p, v)
		before := b.Norm(p, v)
		for range 2 {
			for i := range have {
				u := frame[i*size : (i+1)*size]
				floats.AddScaled(v, -b.Inner(p, u, v), u)
			}
		}
		if norm := b.Norm(p, v); norm > 1e-8*before {
			floats.Scale(1/norm, v)
			have++
		}
	}
	return have == m.Dim()
}

// Blocks describes x.
func (d *framedDistances) Blocks() []framework.Block { return block(d.on) }

// Shape is the number of points, and the dimension or the number of coordinates.
func (d *framedDistances) Shape() (n, m int) {
	if d.frames == nil {
		return d.points.N, d.on.Size()
	}
	return d.points.N, d.on.Dim()
}

// Residuals writes logarithms.
func (d *framedDistances) Residuals(dst []float64, x framework.Point, from, to int) error {
	_, m := d.Shape()
	b := framework.Block{Manifold: d.on}
	size := d.on.Size()
	v := make([]float64, size)
	for i := from; i < to; i++ {
		p, row := d.points.Row(i), dst[(i-from)*m:(i-from+1)*m]
		if err := d.on.(framework.Logarithm).Log(v, p, x[0]); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if d.frames == nil {
			copy(row, v)
			continue
		}
		frame := d.frames[i*m*size : (i+1)*m*size]
		for j := range row {
			row[j] = b.Inner(p, frame[j*size:(j+1)*size], v)
		}
	}
	return nil
}
