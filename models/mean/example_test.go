package mean_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/mean"
	"github.com/scqm/scqm/models/rows"
)

// Four rows around (1, 1) and one far away: the geometric median hardly notices,
// and leaving the far row out moves it no more than another.
func Example() {
	x := rows.Data{N: 5, D: 2, X: []float64{0, 0, 2, 0, 0, 2, 2, 2, 1, 101}}
	ctx := context.Background()
	average, err := mean.Of(ctx, x, mean.Config{Loss: losses.SquaredL2()})
	if err != nil {
		log.Fatal(err)
	}
	median, err := mean.Of(ctx, x, mean.Config{Loss: losses.L2()})
	if err != nil {
		log.Fatal(err)
	}
	s, err := median.Sensitivity(ctx, x, 0)
	if err != nil {
		log.Fatal(err)
	}
	influence, err := s.Influence()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean %.2f, geometric median %.2f\n", average.C, median.C)
	fmt.Printf("without row 0 it moves by %.2f, without row 4 by %.2f\n", influence[:2], influence[8:])
	// Output:
	// mean [1.00 21.00], geometric median [1.00 1.62]
	// without row 0 it moves by [0.52 0.44], without row 4 by [0.00 -0.52]
}
