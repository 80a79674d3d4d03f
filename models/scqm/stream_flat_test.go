package scqm

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

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

// Flat sheets are streamed in tens of reads; by first derivatives alone this one took 192.
func TestFlatStreamsTakeFewReads(t *testing.T) {
	x := flatRows(7, 3*BlockRows+100, 8)
	fit := learn(t, x, Config{Latent: 2, Loss: named(t, "lp 1.5", 8), Linear: true, Threads: 1, Solver: solvers.Streaming{}})
	assert.Equal(t, "converged", fit.Model.Meta.Status)
	assert.LessOrEqual(t, fit.Reads, 80)
}
