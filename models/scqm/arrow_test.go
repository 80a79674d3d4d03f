package scqm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// sphereNeighbours returns the k points nearest to point number center of n
// points on the unit sphere with Gaussian noise.
func sphereNeighbours(seed uint64, n, k, center int, noise float64) Data {
	rng := rand.New(rand.NewPCG(seed, 11))
	points := make([][]float64, n)
	for i := range points {
		p := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		floats.Scale(1/floats.Norm(p, 2), p)
		for j := range p {
			p[j] += noise * rng.NormFloat64()
		}
		points[i] = p
	}
	at := slices.Clone(points[center])
	slices.SortFunc(points, func(a, b []float64) int {
		return int(math.Copysign(1, floats.Distance(a, at, 2)-floats.Distance(b, at, 2)))
	})
	return Data{N: k, D: 3, X: slices.Concat(points[:k]...)}
}

// On neighbourhoods of a sphere, a few passes bring the cost within a millionth
// of its limit.
func TestNewtonOnSphereNeighbourhoods(t *testing.T) {
	for name, most := range map[string]float64{"squared_l2": 30, "huber": 30, "mahalanobis": 30} {
		var passes []float64
		for fit := range 15 {
			x := sphereNeighbours(uint64(fit), 300, 30, 10*fit, 0.06)
			run := learn(t, x, Config{Latent: 2, Loss: named(t, name, 3), Ridge: 10, Solver: solvers.Newton{}, Options: framework.Options{
				MaxIterations: 100, MinRelativeDecrease: -1, Tolerance: 1e-12, CheckEvery: 1000,
			}}).Run
			passes = append(passes, passesTo(run, run.Cost, 1e-6))
		}
		slices.Sort(passes)
		assert.LessOrEqual(t, passes[len(passes)/2], most, name)
	}
}
