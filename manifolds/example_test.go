package manifolds_test

import (
	"fmt"

	"github.com/scqm/scqm/manifolds"
)

// A step along a tangent vector of the Stiefel manifold, and back.
func ExampleStiefel() {
	m := manifolds.NewStiefel(3, 2)
	x := []float64{
		1, 0,
		0, 1,
		0, 0,
	}
	v := []float64{
		0, 0,
		0, 0,
		0.75, 0,
	}
	y := make([]float64, m.Size())
	if err := m.Retract(y, x, v); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f violates X'X = I by less than 1e-15: %t\n", y, m.Violation(y) < 1e-15)
	w := make([]float64, m.Size())
	if err := m.InverseRetract(w, x, y); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", w)
	// Output:
	// [0.80 0.00 0.00 1.00 0.60 0.00] violates X'X = I by less than 1e-15: true
	// [0.00 0.00 0.00 0.00 0.75 0.00]
}

// Errors say where and why.
func ExampleSphere() {
	m := manifolds.Sphere(2)
	y := make([]float64, 2)
	fmt.Println(m.Retract(y, []float64{1, 0}, []float64{0, 1}), y[0] == y[1])
	fmt.Println(m.InverseRetract(y, []float64{1, 0}, []float64{-1, 0}))
	// Output:
	// <nil> true
	// manifolds: sphere 2: inverse retraction: y is not within the hemisphere around x: x'y = -1
}
