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

// Points of a plane in space and four anywhere: the plane of least distances is the
// plane, and the norms of the residuals name the four.
func ExampleNewSubspace() {
	rng := rand.New(rand.NewPCG(1, 2))
	x := rows.Data{N: 20, D: 3, X: make([]float64, 60)}
	for i := range x.N {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		copy(x.Row(i), []float64{a, b, a + b}) // normal to (1, 1, -1)
		if i%5 == 0 {
			x.Row(i)[2] = 3 * rng.NormFloat64()
		}
	}
	f, err := residuals.NewSubspace(x, 2)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := residuals.Fit(context.Background(), f, f.Start(), residuals.Config{Loss: losses.L2()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(fit.Run.Status, ", outliers:")
	for i, far := range fit.Norms {
		if far > 1e-6 {
			fmt.Printf(" %d", i)
		}
	}
	// Output:
	// converged, outliers: 0 5 10 15
}

// Four cameras in a ring, every relative rotation measured, and one of the six wrong by
// 2 radians: under l2 the others fit to the last digit.
func ExampleNewRotationGraph() {
	truth := []float64{0, 0.3, 0.9, 1.4}
	var measured []residuals.RelativeRotation
	for i := range truth {
		for j := range i {
			angle := truth[i] - truth[j]
			if i == 3 && j == 0 {
				angle += 2
			}
			measured = append(measured, residuals.RelativeRotation{From: j, To: i, R: about(angle)})
		}
	}
	f, err := residuals.NewRotationGraph(len(truth), measured, residuals.Geodesic)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := residuals.Fit(context.Background(), f, f.Start(), residuals.Config{Loss: losses.L2()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Run.Status)
	for i, angle := range fit.Norms {
		fmt.Printf("%d to %d: off by %.4f\n", measured[i].From, measured[i].To, angle)
	}
	// Output:
	// converged
	// 0 to 1: off by 0.0000
	// 0 to 2: off by 0.0000
	// 1 to 2: off by 0.0000
	// 0 to 3: off by 2.0000
	// 1 to 3: off by 0.0000
	// 2 to 3: off by 0.0000
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

// forgetful is the loss s^2 r^2/(r^2 + s^2) of Geman and McClure.
type forgetful struct{ s float64 }

func (forgetful) Name() string { return "forgetful" }

func (l forgetful) Evaluate(values, grad, r []float64, _ int) error {
	for i, v := range r { // rows have one entry
		w := l.s * l.s / (v*v + l.s*l.s)
		if values != nil {
			values[i] = v * v * w
		}
		if grad != nil {
			grad[i] = 2 * v * w * w
		}
	}
	return nil
}

// A camera turns by 0.2 about its upright axis and moves along its horizontal one. Of 30
// points that it sees before and after, every fifth is mistaken for another.
func ExampleNewEssential() {
	rng := rand.New(rand.NewPCG(1, 2))
	sin, cos := math.Sincos(0.2)
	a, b := rows.Data{N: 30, D: 2}, rows.Data{N: 30, D: 2}
	for i := range a.N {
		x, y, z := rng.NormFloat64(), rng.NormFloat64(), 3+2*rng.Float64()
		a.X = append(a.X, x/z, y/z)
		x, z = cos*x+sin*z+1, cos*z-sin*x
		b.X = append(b.X, x/z, y/z)
		if i%5 == 0 {
			b.X[2*i+1] += rng.NormFloat64()
		}
	}
	f, err := residuals.NewEssential(a, b)
	if err != nil {
		log.Fatal(err)
	}
	start, err := f.Start()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := residuals.Fit(context.Background(), f, start, residuals.Config{Loss: forgetful{1e-3}})
	if err != nil {
		log.Fatal(err)
	}
	r, t := fit.Point[0], fit.Point[1]
	fmt.Printf("%v: turned by %.4f, moved along [%.4f %.4f %.4f]\nmistaken:", fit.Run.Status, math.Atan2(r[2], r[0]), t[0], math.Abs(t[1]), math.Abs(t[2]))
	for i, far := range fit.Norms {
		if far > 1e-3 {
			fmt.Printf(" %d", i)
		}
	}
	// Output:
	// converged: turned by 0.2000, moved along [1.0000 0.0000 0.0000]
	// mistaken: 0 5 10 15 20 25
}
