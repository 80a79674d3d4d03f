package residuals

import (
	"math"

	"github.com/scqm/scqm/manifolds"
)

// space is the group of rotations of R^3, 3 x 3 matrices, row-major.
var space = manifolds.NewRotations(3)

var identity = []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}

// rotationVector writes the axis of the rotation M times its angle, from 0 to pi. work
// has 9 entries.
func rotationVector(dst, m, work []float64) error {
	if err := space.Log(work, identity, m); err != nil {
		return err
	}
	axial(dst, work)
	return nil
}

// axial writes the vector a of which a cross is the skew part of the matrix w.
func axial(a, w []float64) {
	a[0], a[1], a[2] = (w[7]-w[5])/2, (w[2]-w[6])/2, (w[3]-w[1])/2
}

// addCross adds half of Z (a cross) to dst: the transpose of axial after Z'.
func addCross(dst, z, a []float64) {
	for i := range 3 {
		row := z[3*i : 3*i+3]
		dst[3*i] += (row[1]*a[2] - row[2]*a[1]) / 2
		dst[3*i+1] += (row[2]*a[0] - row[0]*a[2]) / 2
		dst[3*i+2] += (row[0]*a[1] - row[1]*a[0]) / 2
	}
}

// turnSlope replaces u by the derivative of the rotation vector r of M along M (u
// cross),
//
//	(I + sign/2 (r cross) + c (r cross)^2) u,  c = (1 - t/2 cot(t/2)) / t^2,  t = |r|,
//
// with sign 1, or by the transpose of it with sign -1.
//
// Source: J. Sola, J. Deray, D. Atchuthan, A micro Lie theory for state estimation in
// robotics, arXiv 1812.01537, equation 144.
func turnSlope(u, r []float64, sign float64) {
	t := math.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2])
	c := 1./12 + t*t/720*(1+t*t/42*(1+t*t/40))
	if t > 0.1 {
		c = (1 - t/2/math.Tan(t/2)) / t / t
	}
	once := cross(r, u)
	twice := cross(r, once[:])
	for k := range u {
		u[k] += sign/2*once[k] + c*twice[k]
	}
}

func cross(a, b []float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// transposedProduct writes A'B for 3 x 3 matrices into dst, which is neither.
func transposedProduct(dst, a, b []float64) {
	for i := range 3 {
		for j := range 3 {
			dst[3*i+j] = a[i]*b[j] + a[3+i]*b[3+j] + a[6+i]*b[6+j]
		}
	}
}
