package denoise_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/rows"
)

// Noisy points of a circle are moved onto it, and so is a new one.
func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	x := rows.Data{N: 300, D: 2, X: make([]float64, 600)}
	for i := range x.N {
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		x.X[2*i], x.X[2*i+1] = cos+0.05*rng.NormFloat64(), sin+0.05*rng.NormFloat64()
	}
	ctx := context.Background()
	d, err := denoise.Fit(ctx, denoise.Auto{Latent: 1}, x, denoise.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, points := range []rows.Data{x, {N: 1, D: 2, X: []float64{0.9, 0}}} {
		r, err := d.Denoise(ctx, points, denoise.Options{})
		if err != nil {
			log.Fatal(err)
		}
		before, after := 0.0, 0.0
		for i := range points.N {
			before += math.Abs(math.Hypot(points.X[2*i], points.X[2*i+1])-1) / float64(points.N)
			after += math.Abs(math.Hypot(r.X[2*i], r.X[2*i+1])-1) / float64(points.N)
		}
		fmt.Printf("%d points: %.2f from the circle before, %.2f after\n", points.N, before, after)
	}
	// Output:
	// 300 points: 0.04 from the circle before, 0.01 after
	// 1 points: 0.10 from the circle before, 0.02 after
}
