// Command scqm-loss-tukey serves Tukey's biweight, a loss that redescends:
// rows farther off than c have no influence on the fit at all.
//
// Source: A. E. Beaton and J. W. Tukey, The fitting of power series, meaning
// polynomials, illustrated on band-spectroscopic data, Technometrics 16 (1974).
package main

import (
	"math"

	"github.com/scqm/scqm/plugins"
)

type tukey struct {
	C float64 `json:"c" above:"0" doc:"norm from which a row has no influence, in the unit of the data"`
}

func (tukey) Name() string { return "tukey" }

func (tukey) Document() plugins.Document {
	return plugins.Document{Version: "1.0", NonConvex: true, Summary: "least squares that forget outlying samples",
		Formula: "c^2/6 (1 - (1 - min(|r|/c, 1)^2)^3)"}
}

// Rho is the loss of rows with squared norms u, and its derivatives.
func (l tukey) Rho(rho, d1, d2, u []float64) {
	for i, v := range u {
		t := math.Max(1-v/(l.C*l.C), 0)
		set(rho, i, l.C*l.C/6*(1-t*t*t)+0*v) // NaN where the row is not finite
		set(d1, i, t*t/2)
		set(d2, i, -t/(l.C*l.C))
	}
}

// Weights are those of iteratively reweighted least squares.
func (l tukey) Weights(w, r []float64, dim int) error { return l.rows(nil, nil, w, r, dim) }

func (l tukey) Evaluate(values, grad, r []float64, dim int) error {
	return l.rows(values, grad, nil, r, dim)
}

func (l tukey) rows(values, grad, weights, r []float64, dim int) error {
	for i := range len(r) / dim {
		u := 0.0
		for _, v := range r[i*dim : (i+1)*dim] {
			u += v * v
		}
		var rho, d1 [1]float64
		l.Rho(rho[:], d1[:], nil, []float64{u})
		set(values, i, rho[0])
		set(weights, i, 2*d1[0])
		for k := i * dim; grad != nil && k < (i+1)*dim; k++ {
			grad[k] = 2 * d1[0] * r[k]
		}
	}
	return nil
}

// set writes a result that is asked for.
func set(dst []float64, i int, v float64) {
	if dst != nil {
		dst[i] = v
	}
}

func main() { plugins.Serve(&tukey{C: 4.685}) }
