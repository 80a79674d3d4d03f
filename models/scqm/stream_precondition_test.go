package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// flatRows are rows near a plane whose coordinates are correlated, with noise of heavy tails.
func flatRows(seed uint64, n, D int) Data {
	noise := gaussians(seed, n*(D+3))
	x := Data{N: n, D: D, X: noise[:n*D]}
	for i := range n {
		more := noise[n*D+3*i:][:3]
		row := x.Row(i)
		for j := range row {
			a := float64(j + 1)
			row[j] = 3 + .2*row[j]/math.Sqrt(.3+more[2]*more[2]) + 4*math.Sin(a)*more[0] + (math.Cos(2*a)+math.Sin(a))*more[1]
		}
	}
	return x
}

// What is preconditioned, times kappa M, is what it was.
func TestFlatStreamPreconditioner(t *testing.T) {
	const D, d = 6, 2
	x := flatRows(3, 2000, D)
	loss := losses.L1()
	p := newStreamProblem(t.Context(), &LocalEngine{Source: x, Loss: loss, Threads: 1}, loss, d, 0)
	starts, err := p.newStreamStarts(Config{Latent: d, Loss: loss, Linear: true})
	require.NoError(t, err)
	at, err := starts.point(0)
	require.NoError(t, err)
	flat := p.conditioned().(*flatStream)
	_, err = flat.BuildPreconditioner(at)
	require.NoError(t, err)
	reads := p.summed
	o, err := p.firstOrder(at)
	require.NoError(t, err)
	assert.Equal(t, reads, p.summed, "the gradient at the point was there")
	kappa, err := flat.bend(o.Cost / o.Weight)
	require.NoError(t, err)
	assert.InEpsilon(t, D*o.Weight/o.Cost, kappa, 1e-9, "1/|r| where all entries have the mean loss")

	v := framework.NewPoint(p.Blocks())
	copy(v[BlockC], gaussians(1, D))
	copy(v[BlockQ], gaussians(2, D*d))
	h := framework.NewPoint(p.Blocks())
	flat.Precondition(h, v)
	for k := range D {
		h0, row := h[BlockC][k], h[BlockQ][k*d:(k+1)*d]
		assert.InDelta(t, v[BlockC][k], kappa*(o.Weight*h0+floats.Dot(o.TauSum, row)), 1e-9)
		for j := range d {
			assert.InDelta(t, v[BlockQ][k*d+j], kappa*(o.TauSum[j]*h0+floats.Dot(o.TauSquares[j*d:(j+1)*d], row)), 1e-9)
		}
	}
	flat.Precondition(v, v)
	assert.Equal(t, h, v, "in place")
	p.spread = 0
	kappa, err = flat.bend(0)
	require.NoError(t, err)
	assert.Equal(t, 1.0, kappa, "equal rows")
	bent := newStreamProblem(t.Context(), &LocalEngine{Source: x, Loss: loss, Threads: 1}, loss, d, 1)
	assert.Same(t, bent, bent.conditioned())
}

// Flat sheets are streamed in tens of reads; without a preconditioner this one took 192.
func TestFlatStreamsTakeFewReads(t *testing.T) {
	x := flatRows(7, 3*BlockRows+100, 8)
	fit := learn(t, x, Config{Latent: 2, Loss: named(t, "lp 1.5", 8), Linear: true, Threads: 1, Solver: solvers.Streaming{}})
	assert.Equal(t, "converged", fit.Model.Meta.Status)
	assert.LessOrEqual(t, fit.Reads, 80)
}
