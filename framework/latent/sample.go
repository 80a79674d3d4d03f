package latent

import "github.com/scqm/scqm/framework"

// Sampler is a problem whose cost is a sum over data that can be read in part.
type Sampler interface {
	framework.Problem
	// Parts returns the number of parts of the same size that the data have; 0 where the
	// problem, as it is set up, cannot be sampled.
	Parts() int
	// Sample makes the problem that of count parts, spread over the data, and their share
	// of all that is no sum over the data, until it is called with Parts() or an error
	// ends the run. A larger sample contains a smaller one.
	Sample(count int)
	// SamplingError is the cost, as a part of itself, by which the minimum of a sample of
	// count parts is expected to lie above that of all data.
	SamplingError(count int) float64
}

// Sample runs something on a sample of so many parts of the data of a problem that is a
// [Sampler]. What it evaluates counts as the part of all data that it is.
func Sample(e *framework.Evaluator, count int, run func() error) error {
	p, _ := framework.As[Sampler](e.Problem())
	all := p.Parts()
	p.Sample(count)
	defer p.Sample(all)
	return e.Share(float64(count)/float64(all), run)
}
