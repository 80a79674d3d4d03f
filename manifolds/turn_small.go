package manifolds

import "math"

// expPlane replaces the skew-symmetric 2 x 2 matrix a by its exponential.
func expPlane(a []float64) {
	sin, cos := math.Sincos(a[2])
	a[0], a[1], a[2], a[3] = cos, -sin, sin, cos
}

// logPlane is the inverse of expPlane. It reports whether a is a rotation.
func logPlane(a []float64) bool {
	if !(math.Abs(a[0]*a[3]-a[1]*a[2]-1) < looseRotation) {
		return false
	}
	angle := math.Atan2(a[2]-a[1], a[0]+a[3])
	a[0], a[1], a[2], a[3] = 0, -angle, angle, 0
	return true
}

// looseRotation is the largest deviation of a determinant from 1 for which a matrix counts
// as a rotation.
const looseRotation = 1e-3

// expSpace replaces the skew-symmetric 3 x 3 matrix K by its exponential, with
// t^2 = |K|^2/2,
//
//	I + sin(t)/t K + 2 sin^2(t/2)/t^2 K^2,
//
// the formula of Rodrigues in a form that small angles do not harm.
func expSpace(k []float64) {
	x, y, z := k[7], k[2], k[3]
	angle := math.Hypot(math.Hypot(x, y), z)
	half := math.Sin(angle / 2)
	s, c := 1.0, 0.5
	if angle > 0 {
		s, c = math.Sin(angle)/angle, 2*(half/angle)*(half/angle)
	}
	k[0], k[1], k[2] = 1-c*(y*y+z*z), c*x*y-s*z, c*x*z+s*y
	k[3], k[4], k[5] = c*x*y+s*z, 1-c*(x*x+z*z), c*y*z-s*x
	k[6], k[7], k[8] = c*x*z-s*y, c*y*z+s*x, 1-c*(x*x+y*y)
}

// logSpace is the inverse of expSpace, with an angle of at most pi. It computes the
// quaternion from its largest component, which is accurate at every angle. It returns
// false if m is not a rotation.
//
// Source: S. W. Shepperd, Quaternion from rotation matrix, J. Guidance and Control
// 1 (1978) 223-224.
func logSpace(m []float64) bool {
	det := m[0]*(m[4]*m[8]-m[5]*m[7]) - m[1]*(m[3]*m[8]-m[5]*m[6]) + m[2]*(m[3]*m[7]-m[4]*m[6])
	if !(math.Abs(det-1) < looseRotation) {
		return false
	}
	// Four times the products of w, x, y, z with the largest of them.
	var w, x, y, z float64
	trace := m[0] + m[4] + m[8]
	switch {
	case trace >= m[0] && trace >= m[4] && trace >= m[8]:
		w, x, y, z = 1+trace, m[7]-m[5], m[2]-m[6], m[3]-m[1]
	case m[0] >= m[4] && m[0] >= m[8]:
		w, x, y, z = m[7]-m[5], 1+m[0]-m[4]-m[8], m[1]+m[3], m[2]+m[6]
	case m[4] >= m[8]:
		w, x, y, z = m[2]-m[6], m[1]+m[3], 1+m[4]-m[0]-m[8], m[5]+m[7]
	default:
		w, x, y, z = m[3]-m[1], m[2]+m[6], m[5]+m[7], 1+m[8]-m[0]-m[4]
	}
	if w < 0 {
		w, x, y, z = -w, -x, -y, -z
	}
	length := math.Hypot(math.Hypot(x, y), z)
	scale := 0.0
	if length > 0 {
		scale = 2 * math.Atan2(length, w) / length
	}
	x, y, z = scale*x, scale*y, scale*z
	m[0], m[1], m[2] = 0, -z, y
	m[3], m[4], m[5] = z, 0, -x
	m[6], m[7], m[8] = -y, x, 0
	return true
}
