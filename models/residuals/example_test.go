package residuals_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/manifolds"
	"github.com/scqm/scqm/models/residuals"
	"github.com/scqm/scqm/models/rows"
)

// about returns the rotation by an angle about axis z.
func about(angle float64) []float64 {
	sin, cos := math.Sincos(angle)
	return []float64{cos, -sin, 0, sin, cos, 0, 0, 0, 1}
}

// Seven measurements of a rotation by 0.5, and three that are anything: their median is
// the rotation.
func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	m := manifolds.NewRotations(3)
	x := rows.Data{N: 10, D: 9, X: make([]float64, 90)}
	for i := range x.N {
		copy(x.Row(i), about(0.5))
		if i >= 7 {
			m.Rand(x.Row(i), rng)
		}
	}
	f, err := residuals.NewDistances(m, x)
	if err != nil {
		log.Fatal(err)
	}
	start := framework.Point{about(0)}
	for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2()} {
		fit, err := residuals.Fit(context.Background(), f, start, residuals.Config{Loss: loss})
		if err != nil {
			log.Fatal(err)
		}
		off, err := m.Distance(fit.Point[0], about(0.5))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-10s %v, %.3f from the truth\n", loss.Name(), fit.Run.Status, off)
	}
	// Output:
	// squared_l2 converged, 0.299 from the truth
	// l2         converged, 0.000 from the truth
}

// The geometric mean of two covariance matrices has a closed form, which for diagonal
// ones is that of the entries.
func ExampleNewDistances() {
	x := rows.Data{N: 2, D: 4, X: []float64{4, 0, 0, 1, 1, 0, 0, 9}}
	f, err := residuals.NewDistances(manifolds.NewSPD(2), x)
	if err != nil {
		log.Fatal(err)
	}
	start, err := f.Start()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := residuals.Fit(context.Background(), f, start, residuals.Config{Loss: losses.SquaredL2()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v: [%.4f %.4f %.4f]\n", fit.Run.Status, fit.Point[0][0], math.Abs(fit.Point[0][1]), fit.Point[0][3])
	// Output:
	// converged: [2.0000 0.0000 3.0000]
}

// Four points of the sphere around the north pole, and one near the south pole: mean and
// median, which goes less far.
func ExampleFit() {
	x := rows.Data{N: 5, D: 3, X: []float64{0.6, 0, 0.8, -0.6, 0, 0.8, 0, 0.6, 0.8, 0, -0.6, 0.8, 0.28, 0, -0.96}}
	f, err := residuals.NewDistances(manifolds.Sphere(3), x)
	if err != nil {
		log.Fatal(err)
	}
	start, err := f.Start()
	if err != nil {
		log.Fatal(err)
	}
	for _, loss := range []framework.Loss{losses.SquaredL2(), losses.L2()} {
		fit, err := residuals.Fit(context.Background(), f, start, residuals.Config{Loss: loss})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-10s %v, %.2f radians from the pole\n", loss.Name(), fit.Run.Status, math.Acos(fit.Point[0][2]))
	}
	// Output:
	// squared_l2 converged, 0.61 radians from the pole
	// l2         converged, 0.45 radians from the pole
}
