// Command scqm-loss-tukey serves Tukey's biweight, a redescending loss: rows whose
// residual norm exceeds c have no influence on the fit.
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
	return plugins.Document{Version: "1.0", NonConvex: true, Concave: true,
		Summary: "least squares that forget outlying samples",
		Formula: "c^2/6 (1 - (1 - min(|r|/c, 1)^2)^3)"}
}

// Rho returns the loss of a row with squared norm u, and its first two derivatives.
func (l tukey) Rho(u float64) (rho, d1, d2 float64) {
	c2 := l.C * l.C
	t := math.Max(1-u/c2, 0)
	return c2 / 6 * (1 - t*t*t), t * t / 2, -t / c2
}

func main() { plugins.Serve(plugins.Radial(&tukey{C: 4.685})) }
