package scqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
)

// Of a parabola y = a t^2 with |t| spread evenly up to 1 it is .95 a.
func TestCurvatureExtentOfAParabola(t *testing.T) {
	m := &Model{D: 2, Latent: 1, Curvature: 1, C: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}, Theta: []float64{3}}
	for i := range 2001 {
		m.Tau = append(m.Tau, float64(i)/1000-1)
	}
	assert.InDelta(t, 2.85, m.CurvatureExtent(m.Tau, nil), 0.01)
	weights := make([]float64, len(m.Tau))
	for i := 500; i < 1501; i++ {
		weights[i] = 2
	}
	assert.InDelta(t, 2.85/2, m.CurvatureExtent(m.Tau, weights), 0.01, "rows without weight do not count")
	assert.Zero(t, m.CurvatureExtent(nil, nil))
	m.Theta[0] = 0
	assert.Zero(t, m.CurvatureExtent(m.Tau, nil))
}

// Neither the unit of the data nor a rotation of tau changes it.
func TestCurvatureExtentIsInvariant(t *testing.T) {
	x := bentRowsOf(80, 6)
	m := learn(t, x, Config{Latent: 2, Loss: losses.SquaredL2(), Options: framework.Options{MaxIterations: 20}}).Model
	want := m.CurvatureExtent(m.Tau, x.Weights)
	assert.InEpsilon(t, want, m.Meta.CurvatureExtent, 1e-9)
	for _, unit := range []float64{1e-120, 1e120} {
		scaled := *m
		scaled.Tau, scaled.Theta = slices.Clone(m.Tau), slices.Clone(m.Theta)
		floats.Scale(unit, scaled.Tau)
		floats.Scale(1/unit, scaled.Theta)
		assert.InEpsilon(t, want, scaled.CurvatureExtent(scaled.Tau, x.Weights), 1e-9)
	}
	turned := *m
	f, d := turned.sheet(), m.Latent
	q := make([]float64, d*d)
	manifolds.NewStiefel(d, d).Rand(q, rand.New(rand.NewPCG(1, 2)))
	turn := mat.NewDense(d, d, q)
	for k := range f.S {
		var left, form mat.Dense
		left.Mul(turn.T(), formOf(f, k))
		form.Mul(&left, turn)
		f.SetForm(k, form.RawMatrix().Data)
	}
	turned.fromSheet(f)
	var tau mat.Dense
	tau.Mul(mat.NewDense(len(m.Tau)/d, d, m.Tau), turn)
	assert.InEpsilon(t, want, turned.CurvatureExtent(tau.RawMatrix().Data, x.Weights), 1e-6)
}

func TestCurvatureIsJudged(t *testing.T) {
	for _, c := range []struct {
		value           float64
		notes, warnings int
	}{{0, 0, 0}, {8, 0, 0}, {8.1, 1, 0}, {100, 1, 0}, {101, 0, 1}} {
		var m Meta
		m.judgeCurvature(c.value)
		assert.InDelta(t, c.value, m.CurvatureExtent, 0)
		assert.Len(t, m.Notes, c.notes)
		assert.Len(t, m.Warnings, c.warnings)
	}
}

// Starts that fold do not win by their cost.
func TestFindings(t *testing.T) {
	gentle, bent := finding{10, 0.5, 1}, finding{9, 4, 1}
	folded, more := finding{1, 9, 1}, finding{0.5, 90, 1}
	for _, pair := range [][2]finding{{gentle, bent}, {gentle, folded}, {bent, folded}, {folded, more}, {finding{5, 4, 1}, gentle}, {finding{9, 0.5, 1}, gentle},
		{finding{9.5, 4, 50}, finding{10, 0.5, 50}}, // with many directions off the sheet little can be saved in one
	} {
		assert.True(t, pair[0].beats(pair[1]), "%v", pair)
		assert.False(t, pair[1].beats(pair[0]), "%v", pair)
	}
	assert.False(t, gentle.beats(gentle), "the first of equals stays")
	assert.False(t, math.IsNaN(finding{0, 0, 1}.score()))
}

// Curvature below the normal numbers was scaled to infinity, whose eigenvalues are none.
func TestLeastCurvatureHasAnExtent(t *testing.T) {
	m := &Model{D: 4, Latent: 2, Curvature: 2, Theta: []float64{5e-324, 0, 0, 5e-324, 0, 0}}
	v := m.CurvatureExtent([]float64{0, 0, 1, 0, 0, 1}, nil)
	assert.GreaterOrEqual(t, v, 0.)
	assert.Less(t, v, 1e-300)
}
