package residuals_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
)

// relative is a measured rotation between two others, row-major: X_to should be X_from R.
type relative struct {
	from, to int
	r        []float64
}

// graph has the rows X_from R - X_to of measured rotations between k unknown ones, in one
// block of k copies: rotation averaging.
type graph struct {
	k     int
	edges []relative
}

func (g graph) Blocks() []framework.Block {
	return []framework.Block{{Name: "X", Manifold: manifolds.NewRotations(3), Copies: g.k}}
}

func (g graph) Shape() (n, m int) { return len(g.edges), 9 }

func (g graph) Residuals(dst []float64, x framework.Point, from, to int) error {
	return g.JacobianProduct(dst, nil, x, from, to) // rows are linear
}

func (g graph) JacobianProduct(dst []float64, _, v framework.Point, from, to int) error {
	for i, e := range g.edges[from:to] {
		for j := range 3 {
			for k := range 3 {
				sum := -v[0][9*e.to+3*j+k]
				for l := range 3 {
					sum += v[0][9*e.from+3*j+l] * e.r[3*l+k]
				}
				dst[9*i+3*j+k] = sum
			}
		}
	}
	return nil
}

func (g graph) AddTransposedProduct(dst, _ framework.Point, rows []float64, from, to int) error {
	for i, e := range g.edges[from:to] {
		row := rows[9*i : 9*i+9]
		floats.Sub(dst[0][9*e.to:9*e.to+9], row)
		for j := range 3 {
			for l := range 3 {
				dst[0][9*e.from+3*j+l] += floats.Dot(row[3*j:3*j+3], e.r[3*l:3*l+3])
			}
		}
	}
	return nil
}

// measure returns measurements of a ring of rotations with chords, of which a fraction is
// wrong, and a start near the truth.
func measure(t testing.TB, truth []float64, n int, wrong float64, rng *rand.Rand) (g graph, start framework.Point) {
	m := manifolds.NewRotations(3)
	g.k = len(truth) / 9
	for i := range n {
		e := relative{i % g.k, (i%g.k + 1 + i/g.k%(g.k-1)) % g.k, make([]float64, 9)}
		if rng.Float64() < wrong {
			m.Rand(e.r, rng)
		} else {
			for j := range 3 {
				for l := range 3 {
					for q := range 3 {
						e.r[3*j+l] += truth[9*e.from+3*q+j] * truth[9*e.to+3*q+l]
					}
				}
			}
		}
		g.edges = append(g.edges, e)
	}
	x := make([]float64, len(truth))
	for i := range g.k {
		copy(x[9*i:], near(t, m, truth[9*i:9*i+9], 0.3, rng))
	}
	return g, framework.Point{x}
}

// TestRotationAveraging: the measurements that are not wrong fit to the last digit, although
// a quarter is.
func TestRotationAveraging(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 8))
	truth := points(manifolds.NewRotations(3), 10, rng).X
	g, start := measure(t, truth, 80, 0.25, rng)
	r := fit(t, g, start, losses.L2())
	require.Equal(t, framework.Converged, r.Run.Status, r.Run.Message)
	off := make([]float64, 9)
	for i := range g.edges {
		require.NoError(t, g.Residuals(off, framework.Point{truth}, i, i+1))
		require.InDelta(t, floats.Norm(off, 2), r.Norms[i], 1e-7)
	}
}
