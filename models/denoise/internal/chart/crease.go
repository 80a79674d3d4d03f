package chart

import "math"

// crease is a surface of two half planes that meet. A point on the plane of one belongs to its half plane if it is
// not beyond the other plane. Normals point to the side without the other half plane.
type crease struct {
	normal [2][3]float64 // unit
	at     [3]float64    // a point where they meet
	cosine float64       // of the normals
}

// meet returns the multiples of the normals to subtract from a point to reach the intersection of the planes, given
// the heights over both.
func (k *crease) meet(first, second float64) (a, b float64) {
	inverse := 1 / (1 - k.cosine*k.cosine)
	return (first - k.cosine*second) * inverse, (second - k.cosine*first) * inverse
}

// foot writes the point nearest to x into dst, and returns on which half planes it is.
func (k *crease) foot(dst, x []float64) (on [2]bool) {
	n, m, c := &k.normal[0], &k.normal[1], k.cosine
	e := [3]float64{x[0] - k.at[0], x[1] - k.at[1], x[2] - k.at[2]}
	a, b := inner(n, &e), inner(m, &e)
	on = [2]bool{b <= c*a, a <= c*b}
	switch {
	case on[0] && on[1]:
		on[0] = a*a <= b*b
		on[1] = !on[0]
	case !on[0] && !on[1]:
		on = [2]bool{true, true}
		a, b = k.meet(a, b)
	}
	if !on[0] {
		a = 0
	}
	if !on[1] {
		b = 0
	}
	for j := range e {
		dst[j] = x[j] - a*n[j] - b*m[j]
	}
	return on
}

// side returns the half plane that x is nearer to. In a tie, as beyond the intersection, it returns the one whose
// plane is further.
func (k *crease) side(x *[3]float64) int {
	e := [3]float64{x[0] - k.at[0], x[1] - k.at[1], x[2] - k.at[2]}
	a, b := inner(&k.normal[0], &e), inner(&k.normal[1], &e)
	u, v, s := positive(b-k.cosine*a), positive(a-k.cosine*b), k.sine()
	if a*a+s*u*u > b*b+s*v*v {
		return 1
	}
	return 0
}

// sine is 1 over the square of the sine of the angle between the normals. It is raised slightly to break ties of
// squared distances from the intersection of the half planes.
func (k *crease) sine() float64 { return (1 + creaseTie) / (1 - k.cosine*k.cosine) }

// store writes the crease as [Space.Store] does.
func (k *crease) store(to []float64, h float64) {
	copy(to, k.at[:])
	copy(to[3:], k.normal[0][:])
	copy(to[6:], k.normal[1][:])
	to[9], to[10] = h, math.Inf(1)
}

func (k *crease) load(from []float64) {
	k.at = [3]float64(from)
	k.normal = [2][3]float64{[3]float64(from[3:]), [3]float64(from[6:])}
	k.cosine = inner(&k.normal[0], &k.normal[1])
}

// IsCrease reports whether what [Space.Store] has written is a crease.
func IsCrease(stored []float64) bool { return math.IsInf(stored[10], 1) }

// perpendicular is a unit vector at right angles to a unit vector.
func perpendicular(n *[3]float64) (u [3]float64) {
	least := 0
	for j := range n {
		if math.Abs(n[j]) < math.Abs(n[least]) {
			least = j
		}
	}
	u[least] = 1
	u = cross(*n, u)
	norm := 1 / math.Sqrt(inner(&u, &u))
	for j := range u {
		u[j] *= norm
	}
	return u
}
