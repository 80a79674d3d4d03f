package framework

// As finds the capability C, any interface of anybody, on a problem or on what it wraps: a
// wrapper that adds to a problem and hides nothing of it has a method Unwrap() Problem.
func As[C any](p Problem) (c C, ok bool) {
	for {
		if c, ok = p.(C); ok {
			return c, true
		}
		w, wraps := p.(interface{ Unwrap() Problem })
		if !wraps {
			return c, false
		}
		p = w.Unwrap()
	}
}
