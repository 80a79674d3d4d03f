package scqm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

// Every row is offered once at most, those first that promise most, and none of losses without
// vertices.
func TestPromisingExchanges(t *testing.T) {
	x := noisyParaboloid(rand.New(rand.NewPCG(5, 95)), 8, 2, 40)
	m := learn(t, x, Config{Latent: 2, Loss: losses.L1()}).Model
	fine, err := m.refined(t.Context(), x, 1)
	require.NoError(t, err)
	p := fine.problem
	moves, err := p.neighbours(fine.at, exchangePlaces)
	require.NoError(t, err)
	perRow := map[int]int{}
	for _, v := range moves {
		perRow[v.Row]++
		assert.LessOrEqual(t, perRow[v.Row], exchangePlaces)
	}
	assert.Greater(t, len(moves), 4*x.N)
	list, err := p.promisingExchanges(fine.at, moves)
	require.NoError(t, err)
	require.Greater(t, len(list), 3)
	seen := map[int]bool{}
	for _, v := range list {
		assert.False(t, seen[v.Row])
		seen[v.Row] = true
	}
	again, _, err := p.PromisingExchanges(fine.at, 3)
	require.NoError(t, err)
	require.Len(t, again, 3)
	for k, v := range again {
		assert.Equal(t, list[k].Row, v.Row)
		assert.Equal(t, list[k].Tau, v.At)
	}
	radial, at := curvedProblem(t, "l2", 3, 2, 1)
	none, _, err := radial.PromisingExchanges(at, 3)
	require.NoError(t, err)
	assert.Empty(t, none)
}

// What a move promises is half of the square of the change of the whole gradient, whitened, less the rise of
// the whole cost.
func TestExchangeGainsAreThoseOfTheCost(t *testing.T) {
	p, x := curvedProblem(t, "l1", 5, 2, 2)
	_, scale, err := p.DualScale(x)
	require.NoError(t, err)
	moves, err := p.neighbours(x, 2)
	require.NoError(t, err)
	require.NotEmpty(t, moves)
	p.Smooth(0.1 * scale)
	defer p.Smooth(0)
	here, err := p.settled(x, 40)
	require.NoError(t, err)
	h, ok, err := framework.ReduceHessian(p, here)
	require.NoError(t, err)
	require.True(t, ok && h.Decompose())
	shape, _ := p.ArrowheadShape()
	from, to := framework.NewArrowhead(shape), framework.NewArrowhead(shape)
	before, _, err := p.AssembleHessian(from, here)
	require.NoError(t, err)
	for _, m := range moves[:5] {
		list, err := p.exchangeGains(here, []nearest.Move{m}, h)
		require.NoError(t, err)
		y := here.Clone()
		copy(y[BlockTau][m.Row*2:], m.Tau)
		y, err = p.settled(y, exchangeSteps)
		require.NoError(t, err)
		after, _, err := p.AssembleHessian(to, y)
		require.NoError(t, err)
		change, white := floats.SubTo(make([]float64, shape.Outer), to.OuterGrad, from.OuterGrad), make([]float64, shape.Outer)
		h.Whiten(white, change)
		want := floats.Dot(white, white)/2 - (after - before)
		assert.InDelta(t, want, list[0].gain, 1e-6*(1+math.Abs(want)), "row %d", m.Row)
	}
}
