package losses_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

func ExampleL2() {
	r := []float64{3, 4, 0, -2} // two rows of two entries
	values, grad := make([]float64, 2), make([]float64, 4)
	if err := losses.L2().Evaluate(values, grad, r, 2); err != nil {
		panic(err)
	}
	fmt.Printf("%.1f %.1f\n", values, grad)
	// Output: [5.0 2.0] [0.6 0.8 0.0 -1.0]
}

func ExampleLp() {
	_, err := losses.Lp(0.5)
	fmt.Println(err)

	l, err := losses.Lp(3)
	_, bounded := l.(framework.Majorizer)
	fmt.Println(l.Name(), err, bounded)
	// Output:
	// losses: lp: p = 0.5: want p >= 1: invalid input
	// lp <nil> false
}

func ExampleMahalanobis() {
	_, err := losses.Mahalanobis(mat.NewDense(2, 2, []float64{1, 0.5, 0.4, 1}))
	fmt.Println(err)
	// Output: losses: mahalanobis: row 1, column 0 is 0.4 but its mirror is 0.5: not symmetric: invalid input
}

func ExampleByName() {
	_, err := losses.ByName("huber", losses.Params{})
	fmt.Println(err)
	l, err := losses.ByName("huber", losses.Params{Delta: new(1.345)})
	fmt.Println(l.Name(), err)
	// Output:
	// losses: loss huber needs delta (norm at which the loss turns linear, above 0): invalid input
	// huber <nil>
}

func ExampleDefaultDelta() {
	norms := []float64{0.9, 1.1, 1.0, 250}
	fmt.Printf("%.2f\n", losses.DefaultDelta("huber", norms))
	// Output: 2.09
}

func ExampleRegister() {
	// The loss of Charbonnier is the smoothed l2 loss.
	err := losses.Register(losses.Description{
		Name:       "charbonnier",
		Formula:    "sqrt(|r|^2 + eps^2) - eps",
		Parameters: []losses.Parameter{{Name: "eps", Meaning: "length, above 0"}},
	}, func(p losses.Params) (framework.Loss, error) {
		eps := p.Extra["eps"]
		if !(eps > 0) {
			return nil, fmt.Errorf("charbonnier: eps = %v: want a positive number", eps)
		}
		return losses.L2().(framework.Smoother).Smooth(eps), nil
	})
	if err != nil {
		panic(err)
	}
	l, err := losses.ByName("charbonnier", losses.Params{Extra: map[string]float64{"eps": 1}})
	if err != nil {
		panic(err)
	}
	values := make([]float64, 1)
	fmt.Println(l.Evaluate(values, nil, []float64{math.Sqrt(3)}, 1))
	fmt.Printf("%.3f\n", values)
	// Output:
	// <nil>
	// [1.000]
}
