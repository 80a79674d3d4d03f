package denoise

// measured is a method with settings that have the unit of the rows.
type measured interface {
	Method
	// inUnits returns the method for rows divided by a unit. It reports false
	// where that cannot be.
	inUnits(unit float64) (Method, bool)
}

// methodIn returns a method for rows divided by a unit.
func methodIn(m Method, unit float64) (Method, bool) {
	if l, ok := m.(measured); ok {
		return l.inUnits(unit)
	}
	return m, true
}
