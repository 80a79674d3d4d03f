package manifolds_test

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
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
	// Output:
	// [0.80 0.00 0.00 1.00 0.60 0.00] violates X'X = I by less than 1e-15: true
}

// Errors say where and why.
func ExampleSphere() {
	m := manifolds.Sphere(2)
	y := make([]float64, 2)
	fmt.Println(m.Retract(y, []float64{1, 0}, []float64{0, 1}), y[0] == y[1])
	fmt.Println(m.Retract(y, []float64{1, 0}, []float64{-1, 0}))
	// Output:
	// <nil> true
	// manifolds: sphere 2: retraction: the zero vector has no direction
}

// The distance of two planes of space is the angle between them, whatever bases
// they are given by.
func ExampleGrassmann() {
	m := manifolds.NewGrassmann(3, 2)
	x := []float64{
		1, 0,
		0, 1,
		0, 0,
	}
	y := []float64{
		0, 0.8,
		1, 0,
		0, 0.6,
	}
	d, err := m.Distance(x, y)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f is the angle of cosine %.2f\n", d, math.Cos(d))
	// Output:
	// 0.6435 is the angle of cosine 0.80
}

// A rigid motion half way to another.
func ExampleNewProduct() {
	poses := manifolds.NewProduct(
		framework.Block{Name: "R", Manifold: manifolds.NewRotations(3)},
		framework.Block{Name: "t", Manifold: manifolds.Euclidean(3)})
	x := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}
	y := []float64{0, -1, 0, 1, 0, 0, 0, 0, 1, 2, 4, 6}

	geodesics := poses.(interface {
		framework.Exper
		framework.Logarithm
	})
	v := make([]float64, poses.Size())
	if err := geodesics.Log(v, x, y); err != nil {
		fmt.Println(err)
		return
	}
	for i := range v {
		v[i] /= 2
	}
	if err := geodesics.Exp(v, x, v); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n%.0f\n", poses.Part(v, "R"), poses.Part(v, "t"))
	// Output:
	// [0.707 -0.707 0.000 0.707 0.707 0.000 0.000 0.000 1.000]
	// [1 2 3]
}

// Matrices of fixed rank are products of factors; the gradient of a cost f(W) of
// the matrix comes from two thin products.
func ExampleFixedRank() {
	m := manifolds.NewFixedRank(3, 2, 1)
	x := make([]float64, m.Size())
	u, s, v := m.Parts(x)
	copy(u, []float64{1, 0, 0})
	copy(s, []float64{2})
	copy(v, []float64{0, 1})

	// f(W) = W_01: G has a 1 there, so that GV = (1, 0, 0)' and G'U = (0, 1)'.
	g := make([]float64, m.Size())
	m.Factored(g, x, []float64{1, 0, 0}, []float64{0, 1})
	m.Gradient(g, x, g)
	if err := m.Retract(x, x, g); err != nil {
		fmt.Println(err)
		return
	}
	w := make([]float64, 6)
	m.Matrix(w, x)
	fmt.Printf("%.0f\n", w)
	// Output:
	// [0 3 0 0 0 0]
}
