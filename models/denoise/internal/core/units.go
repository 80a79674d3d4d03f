package core

// measured is a method with settings that have the unit of the rows.
type measured interface {
	Method
	// InUnits returns the method for rows divided by a unit. It returns false if this is not possible.
	InUnits(unit float64) (Method, bool)
}

// MethodIn returns a method for rows divided by a unit.
func MethodIn(m Method, unit float64) (Method, bool) {
	if l, ok := m.(measured); ok {
		return l.InUnits(unit)
	}
	return m, true
}
