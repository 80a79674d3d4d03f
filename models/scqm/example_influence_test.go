package scqm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm"
)

// A parabola with a little scatter and one row off it: that row drives the fit.
func ExampleModel_Influence() {
	x := scqm.Data{N: 41, D: 2}
	for i := range x.N {
		t := float64(i-20) / 20
		x.X = append(x.X, t, t*t+0.02*float64(i%3-1))
	}
	x.X[2*10+1] += 0.5
	ctx := context.Background()
	fit, err := scqm.Learn(ctx, x, scqm.Config{Latent: 1, Loss: losses.SquaredL2()})
	if err != nil {
		log.Fatal(err)
	}
	influence, err := fit.Model.Influence(ctx, x, 0)
	if err != nil {
		log.Fatal(err)
	}
	first := 0
	for i, r := range influence.Rows {
		if r.Move > influence.Rows[first].Move {
			first = i
		}
	}
	r := influence.Rows[first]
	fmt.Println(fit.Model.Meta.Status)
	fmt.Printf("row %d is %.2f away from the curve and moves it by %.3f\n", first, r.Residual, r.Move)
	// Output:
	// converged
	// row 10 is 0.29 away from the curve and moves it by 0.014
}
