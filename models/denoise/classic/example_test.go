package classic_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/rows"
)

// Moving least squares take points with noise back to a circle.
func Example() {
	rng := rand.New(rand.NewPCG(1, 1))
	x := rows.Data{N: 300, D: 2}
	for i := range x.N {
		t := 2 * math.Pi * float64(i) / float64(x.N)
		x.X = append(x.X, math.Cos(t)+.03*rng.NormFloat64(), math.Sin(t)+.03*rng.NormFloat64())
	}
	d, err := denoise.Fit(context.Background(), classic.MLS{Latent: 1, Neighbors: 40}, x, denoise.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := d.Denoise(context.Background(), x, denoise.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var square float64
	for i := range x.N {
		off := math.Hypot(r.X[2*i], r.X[2*i+1]) - 1
		square += off * off / float64(x.N)
	}
	fmt.Printf("%.2f from the circle\n", math.Sqrt(square))
	// Output: 0.01 from the circle
}
