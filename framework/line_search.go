package framework

// LineSearch chooses how far to go along a direction of negative slope.
type LineSearch interface {
	// Search returns a step t > 0, or 0 where it finds none. at evaluates the cost at a step,
	// +Inf where that is no point of finite cost, and the slope there if it is asked to.
	// cost and slope are those at 0, first is the first step to try. An error of at is handed
	// on as it is.
	Search(at func(t float64, sloped bool) (cost, slope float64, err error), cost, slope, first float64) (float64, error)
}
