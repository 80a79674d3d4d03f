package scqm

import (
	"hash"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/solvers"
)

// publishedDecrease is the MinRelativeDecrease of [solvers.RGD], which is slow below it. For other solvers this value
// would end runs before they reach the tolerance: a gradient of 1e-6 predicts a decrease of about 1e-12.
const publishedDecrease = 1e-10

func (c Config) options(x Data, solver framework.Solver) framework.Options {
	o := c.Options
	if _, published := solver.(solvers.RGD); published && o.MinRelativeDecrease == 0 {
		o.MinRelativeDecrease = publishedDecrease
	}
	return c.fingerprinted(o, x.N, x.D, c.Curvature, solver, func(h hash.Hash) {
		hashFloats(h, x.X)
		hashFloats(h, x.Weights)
	})
}
