package plugins_test

import (
	"fmt"
	"log"
	"math"

	"github.com/scqm/scqm/framework/frameworktest"
	"github.com/scqm/scqm/plugins"
)

// logistic is a loss of the norm of a row, c^2 log cosh(|r|/c), by a function of u = |r|^2.
type logistic struct {
	C float64 `json:"c" above:"0" doc:"norm at which the loss turns linear"`
}

func (logistic) Name() string { return "logistic" }

func (l logistic) Rho(u float64) (rho, d1, d2 float64) {
	t := math.Sqrt(u) / l.C
	rho = l.C * l.C * (t + math.Log1p(math.Exp(-2*t)) - math.Ln2)
	if t < 1e-3 { // series, where differences cancel
		return l.C * l.C * t * t / 2 * (1 - t*t/6), 0.5 - t*t/6, -1 / (6 * l.C * l.C)
	}
	tanh := math.Tanh(t)
	return rho, tanh / (2 * t), ((1-tanh*tanh)*t - tanh) / (4 * l.C * l.C * t * t * t)
}

// The whole main function of a plugin is plugins.Serve(plugins.Radial(&logistic{C: 1})).
// The loss can be tried without a process around it.
func ExampleRadial() {
	loss := plugins.Radial(&logistic{C: 1})
	values := make([]float64, 2)
	if err := loss.Evaluate(values, nil, []float64{0.6, 0.8, 30, 40}, 2); err != nil {
		log.Fatal(err)
	}
	report := frameworktest.CheckLoss(loss, frameworktest.LossOptions{})
	fmt.Printf("%.4f for a norm of 1, %.4f for 50, broken laws: %v\n", values[0], values[1], report.Broken())
	// Output:
	// 0.4338 for a norm of 1, 49.3069 for 50, broken laws: []
}
