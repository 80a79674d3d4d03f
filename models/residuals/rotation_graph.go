package residuals

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
)

// RelativeRotation is a measurement between two rotations of a graph: X_To should be
// X_From R. The zero rotation, From, stands for a fixed frame where From is
// [FixedFrame]: then X_To should be R itself.
type RelativeRotation struct {
	From, To int
	// R is the 3 x 3 rotation, row-major.
	R []float64
}

// FixedFrame is the From of a rotation that is measured by itself.
const FixedFrame = -1

// RotationMetric says how rotations are compared.
type RotationMetric int

const (
	// Chordal rows are the 9 entries of X_From R - X_To, with the length
	// sqrt(8) sin(t/2) for an angle of t.
	Chordal RotationMetric = iota
	// Geodesic rows are the rotation vectors of R'X_From'X_To in R^3, as long as
	// their angle in radians, from 0 to pi.
	Geodesic
)

// RotationGraph is a [Function] of k rotations of space, whose rows compare measured
// rotations with them: rotation averaging. Where no rotation is measured in the fixed
// frame, fits are unique up to one rotation from the left. It has one block, "X", with k
// copies.
//
// Source: R. Hartley, J. Trumpf, Y. Dai, H. Li, Rotation averaging, Int. J. Comput. Vis.
// 103 (2013) 267-305.
type RotationGraph struct {
	k      int
	edges  []RelativeRotation
	metric RotationMetric
}

// NewRotationGraph returns the residuals of measured rotations between k unknown ones.
// It fails where a measurement names a rotation that is not there, or one twice, where
// it is not finite or, by more than 1e-6, no rotation, and where measurements do not
// connect all of the k.
func NewRotationGraph(k int, measured []RelativeRotation, metric RotationMetric) (*RotationGraph, error) {
	if k < 1 || len(measured) == 0 || metric != Chordal && metric != Geodesic {
		return nil, fmt.Errorf("residuals: %d rotations, %d measurements, metric %d: %w", k, len(measured), metric, rows.ErrInput)
	}
	for i, e := range measured {
		switch {
		case e.To < 0 || e.To >= k || e.From < FixedFrame || e.From >= k || e.From == e.To:
			return nil, fmt.Errorf("residuals: row %d measures from %d to %d of %d rotations: %w", i, e.From, e.To, k, rows.ErrInput)
		case len(e.R) != 9:
			return nil, fmt.Errorf("residuals: row %d has a rotation of %d entries, want 9: %w", i, len(e.R), rows.ErrInput)
		case !(space.Violation(e.R) <= maxViolation):
			return nil, fmt.Errorf("residuals: row %d is off the rotations by %.3g: %w", i, space.Violation(e.R), rows.ErrInput)
		}
	}
	g := &RotationGraph{k: k, edges: slices.Clone(measured), metric: metric}
	for i := range g.edges {
		r := slices.Clone(g.edges[i].R)
		if err := space.Restore(r); err != nil {
			return nil, fmt.Errorf("residuals: row %d: %w", i, err)
		}
		g.edges[i].R = r
	}
	if _, lost := g.spanningTree(); lost >= 0 {
		return nil, fmt.Errorf("residuals: no measurements connect rotation %d with the others: %w", lost, rows.ErrInput)
	}
	return g, nil
}

// Blocks describes X.
func (g *RotationGraph) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: space, Copies: g.k}}
}

// Shape is the number of measurements, and 9 or 3.
func (g *RotationGraph) Shape() (n, m int) {
	if g.metric == Geodesic {
		return len(g.edges), 3
	}
	return len(g.edges), 9
}

// Start carries the measured rotations along a spanning tree, breadth first, from the
// fixed frame, or from the first rotation at the identity.
func (g *RotationGraph) Start() framework.Point {
	x, _ := g.spanningTree()
	return framework.Point{x}
}

// spanningTree returns the start, and the first rotation that it does not reach or -1.
func (g *RotationGraph) spanningTree() (x []float64, lost int) {
	touching := make([][]int, g.k+1) // edges of each rotation, the last of the fixed frame
	for i, e := range g.edges {
		from := e.From
		if from == FixedFrame {
			from = g.k
		}
		touching[from] = append(touching[from], i)
		touching[e.To] = append(touching[e.To], i)
	}
	x, reached, queue := make([]float64, 9*g.k), make([]bool, g.k+1), []int{g.k}
	if len(touching[g.k]) == 0 {
		copy(x, identity)
		queue[0] = 0
	}
	reached[queue[0]] = true
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, i := range touching[node] {
			e := g.edges[i]
			other, from := e.To, g.rotation(x, e.From)
			if other == node {
				if other = e.From; other == FixedFrame {
					other = g.k
				}
			}
			if reached[other] {
				continue
			}
			reached[other] = true
			queue = append(queue, other)
			switch {
			case other == e.To:
				product(g.rotation(x, other), from, e.R)
			case other < g.k: // X_To R'
				timesTransposed(g.rotation(x, other), g.rotation(x, e.To), e.R)
			}
		}
	}
	for i := range g.k {
		if !reached[i] {
			return x, i
		}
	}
	return x, -1
}

// rotation returns rotation i of x, which is the identity for the fixed frame.
func (g *RotationGraph) rotation(x []float64, i int) []float64 {
	if i == FixedFrame {
		return identity
	}
	return x[9*i : 9*i+9 : 9*i+9]
}

// Residuals writes the rows of the metric.
func (g *RotationGraph) Residuals(dst []float64, x framework.Point, from, to int) error {
	var w turnWork
	for i := from; i < to; i++ {
		e := g.edges[i]
		if g.metric == Chordal {
			row := dst[9*(i-from) : 9*(i-from)+9]
			product(row, g.rotation(x[0], e.From), e.R)
			floats.Sub(row, g.rotation(x[0], e.To))
			continue
		}
		if err := g.vector(&w, x[0], i); err != nil {
			return err
		}
		copy(dst[3*(i-from):], w.r[:])
	}
	return nil
}

// vector leaves the rotation vector of R'X_From'X_To in w.r and X_From'X_To in w.work.
func (g *RotationGraph) vector(w *turnWork, x []float64, i int) error {
	e := g.edges[i]
	var between [9]float64
	transposedProduct(between[:], g.rotation(x, e.From), g.rotation(x, e.To))
	transposedProduct(w.m[:], e.R, between[:])
	if err := rotationVector(w.r[:], w.m[:], w.work[:]); err != nil {
		return fmt.Errorf("row %d: %w", i, err)
	}
	w.work = between
	return nil
}

// JacobianProduct implements [Jacobian].
func (g *RotationGraph) JacobianProduct(dst []float64, x, v framework.Point, from, to int) error {
	var w turnWork
	var turn [9]float64
	var a [3]float64
	for i := from; i < to; i++ {
		e := g.edges[i]
		if g.metric == Chordal {
			row := dst[9*(i-from) : 9*(i-from)+9]
			clear(row)
			if e.From != FixedFrame {
				product(row, g.rotation(v[0], e.From), e.R)
			}
			floats.Sub(row, g.rotation(v[0], e.To))
			continue
		}
		if err := g.vector(&w, x[0], i); err != nil {
			return err
		}
		// The turn of X_To, less that of X_From as X_To sees it.
		transposedProduct(turn[:], g.rotation(x[0], e.To), g.rotation(v[0], e.To))
		axial(w.u[:], turn[:])
		if e.From != FixedFrame {
			transposedProduct(turn[:], g.rotation(x[0], e.From), g.rotation(v[0], e.From))
			axial(a[:], turn[:])
			for j := range 3 {
				for k := range 3 {
					w.u[j] -= w.work[3*k+j] * a[k]
				}
			}
		}
		turnSlope(w.u[:], w.r[:], 1)
		copy(dst[3*(i-from):], w.u[:])
	}
	return nil
}

// AddTransposedProduct implements [Jacobian].
func (g *RotationGraph) AddTransposedProduct(dst, x framework.Point, rows []float64, from, to int) error {
	var w turnWork
	var back [9]float64
	for i := from; i < to; i++ {
		e := g.edges[i]
		if g.metric == Chordal {
			row := rows[9*(i-from) : 9*(i-from)+9]
			if e.From != FixedFrame {
				timesTransposed(back[:], row, e.R)
				floats.Add(g.rotation(dst[0], e.From), back[:])
			}
			floats.Sub(g.rotation(dst[0], e.To), row)
			continue
		}
		if err := g.vector(&w, x[0], i); err != nil {
			return err
		}
		copy(w.u[:], rows[3*(i-from):])
		turnSlope(w.u[:], w.r[:], -1)
		addCross(g.rotation(dst[0], e.To), g.rotation(x[0], e.To), w.u[:])
		if e.From == FixedFrame {
			continue
		}
		var a [3]float64
		for j := range 3 {
			a[j] = -floats.Dot(w.work[3*j:3*j+3], w.u[:])
		}
		addCross(g.rotation(dst[0], e.From), g.rotation(x[0], e.From), a[:])
	}
	return nil
}

// Angles writes the angle in radians, from 0 to pi, by which x misses each measured
// rotation.
func (g *RotationGraph) Angles(dst []float64, x framework.Point) error {
	var w turnWork
	for i := range g.edges {
		if err := g.vector(&w, x[0], i); err != nil {
			return fmt.Errorf("residuals: %w", err)
		}
		dst[i] = math.Sqrt(w.r[0]*w.r[0] + w.r[1]*w.r[1] + w.r[2]*w.r[2])
	}
	return nil
}

// product writes AB for 3 x 3 matrices into dst, which is neither.
func product(dst, a, b []float64) {
	for i := range 3 {
		for j := range 3 {
			dst[3*i+j] = a[3*i]*b[j] + a[3*i+1]*b[3+j] + a[3*i+2]*b[6+j]
		}
	}
}

// timesTransposed writes AB' for 3 x 3 matrices into dst, which is neither.
func timesTransposed(dst, a, b []float64) {
	for i := range 3 {
		for j := range 3 {
			dst[3*i+j] = floats.Dot(a[3*i:3*i+3], b[3*j:3*j+3])
		}
	}
}
