package framework

// LineSearch chooses the step length along a direction of negative slope.
type LineSearch interface {
	// Search returns a step t > 0, or 0 if it finds none. at returns the cost at a step, +Inf if the cost is not
	// finite there, and the slope if requested. cost and slope are those at 0, and first is the first step to try. An
	// error of at is returned unchanged.
	Search(at func(t float64, sloped bool) (cost, slope float64, err error), cost, slope, first float64) (float64, error)
}
