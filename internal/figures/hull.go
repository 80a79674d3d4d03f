package figures

import "slices"

// convexHull returns the corners of the hull, anticlockwise, by Andrew's monotone
// chain.
func convexHull(points [][2]float64) [][2]float64 {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	var hull [][2]float64
	for range 2 {
		begin := len(hull)
		for _, p := range points {
			for len(hull) >= begin+2 && turn(hull[len(hull)-2], hull[len(hull)-1], p) <= 0 {
				hull = hull[:len(hull)-1]
			}
			hull = append(hull, p)
		}
		hull = hull[:len(hull)-1]
		slices.Reverse(points)
	}
	return hull
}

// turn is positive where the way from a by b to c turns left.
func turn(a, b, c [2]float64) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}

func inHull(hull [][2]float64, p [2]float64) bool {
	for i := range hull {
		if turn(hull[i], hull[(i+1)%len(hull)], p) < 0 {
			return false
		}
	}
	return true
}
