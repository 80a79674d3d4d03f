package scqm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/losses"
)

// The minimum of a row is that of a fine grid.
func TestEntryPredictorFindsTheMinimum(t *testing.T) {
	x := parabola(80, 2)
	m := learn(t, x, Config{Latent: 1, Loss: losses.L2()}).Model
	p := newEntryPredictor(m, rand.New(rand.NewPCG(1, 1)).Perm(x.D), 5, 0.1)
	r := newRowPrediction(p)
	for i := range 10 {
		r.distance(parabola(10, 3).Row(i))
		part := &p.parts[len(p.parts)-1]
		r.newton.Metric = part.gram
		floats.ScaleTo(r.newton.Linear, -1, r.b)
		found, best := r.newton.Value(r.tau), math.Inf(1)
		for k := range 4001 {
			best = min(best, r.newton.Value([]float64{8 * (float64(k)/4000 - 0.5)}))
		}
		assert.LessOrEqual(t, found, best+1e-9*math.Abs(best))
	}
}

// parabola are noisy rows of one in 10 dimensions.
func parabola(n int, seed uint64) Data {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := Data{N: n, D: 10, X: make([]float64, n*10)}
	for i := range n {
		for j := range x.D {
			x.Row(i)[j] = 0.1 * rng.NormFloat64()
		}
		a := 4*rng.Float64() - 2
		x.Row(i)[0] += a
		x.Row(i)[1] += a * a / 2
	}
	return rotated(x, 1)
}
