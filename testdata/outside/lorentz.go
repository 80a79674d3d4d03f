package outside

import (
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// Lorentz is the loss log(1 + |r|^2) of rows: outliers weigh less and less.
type Lorentz struct{}

func init() {
	err := losses.Register(losses.Description{Name: "lorentz", Summary: "many gross outliers", Formula: "log(1 + |r|^2)", Noise: "Cauchy"},
		func(losses.Params) (framework.Loss, error) { return Lorentz{}, nil })
	if err != nil {
		panic(err)
	}
}

// Name is "lorentz".
func (Lorentz) Name() string { return "lorentz" }

// Evaluate implements framework.Loss.
func (Lorentz) Evaluate(values, grad, r []float64, dim int) error {
	for i := range len(r) / dim {
		row := r[i*dim : (i+1)*dim]
		// 1 + |r|^2 = 1 + s^2 |r/s|^2 without overflow.
		norm := 0.0
		for _, v := range row {
			norm = math.Hypot(norm, v)
		}
		if values != nil {
			if norm > 1e8 {
				values[i] = 2 * math.Log(norm)
			} else {
				values[i] = math.Log1p(norm * norm)
			}
		}
		if grad != nil {
			for k, v := range row {
				grad[i*dim+k] = slope(v, norm)
			}
		}
	}
	return nil
}

// slope is 2 v / (1 + norm^2).
func slope(v, norm float64) float64 {
	if norm > 1e8 {
		return 2 * (v / norm) / norm
	}
	return 2 * v / (1 + norm*norm)
}

// Rho implements framework.Radial.
func (Lorentz) Rho(rho, d1, d2, u []float64) {
	for i, v := range u {
		if rho != nil {
			rho[i] = math.Log1p(v)
		}
		if d1 != nil {
			d1[i] = 1 / (1 + v)
		}
		if d2 != nil {
			d2[i] = -1 / (1 + v) / (1 + v)
		}
	}
}

// Weights implements framework.Majorizer: log is concave.
func (Lorentz) Weights(w, r []float64, dim int) error {
	for i := range w {
		norm := 0.0
		for _, v := range r[i*dim : (i+1)*dim] {
			norm = math.Hypot(norm, v)
		}
		w[i] = slope(1, norm)
	}
	return nil
}
