// Package problemtest holds the losses, rows and points for the tests of
// models/scqm and of its internal packages.
package problemtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Named returns a loss for rows of length D.
func Named(t testing.TB, name string, D int) framework.Loss {
	t.Helper()
	base, power, powered := strings.Cut(name, " ")
	params := map[string]losses.Params{
		"huber": {Delta: new(1.3)}, "tukey": {Delta: new(5.0)}, "welsch": {Delta: new(2.0)}, "quantile": {P: new(0.3)},
	}[base]
	if powered {
		params.P = new(0.0)
		if _, err := fmt.Sscan(power, params.P); err != nil {
			t.Fatal(err)
		}
	}
	if base == "mahalanobis" {
		m := mat.NewDense(D, D, nil)
		for i := range D {
			for j := range D {
				m.Set(i, j, math.Pow(0.5, math.Abs(float64(i-j))))
			}
			m.Set(i, i, 1+float64(i)/float64(D))
		}
		params.Precision = m
	}
	loss, err := losses.ByName(base, params)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// AllLosses are the names that Named accepts.
var AllLosses = []string{"l1", "l2", "squared_l2", "huber", "mahalanobis", "lp 1.25", "lp 1.3", "lp 1.5", "lp 3", "lp 4", "welsch", "quantile"}

// Gaussians returns n standard normal numbers.
func Gaussians(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// BlackBox hides all capabilities of a loss but its values and gradients.
type BlackBox struct{ framework.Loss }

// WeightedRows returns random rows with weights, some of them zero.
func WeightedRows(D int) rows.Data {
	const n = 40 // in two shards
	data := rows.Data{N: n, D: D, X: Gaussians(1, n*D), Weights: make([]float64, n)}
	for i := range data.Weights {
		data.Weights[i] = float64(i%4) / 2
	}
	return data
}

// Place sets a penalty and returns a random point of the objective.
func Place(t testing.TB, o *objective.Objective) framework.Point {
	t.Helper()
	o.Lambda = 0.7
	x := framework.NewPoint(o.Blocks())
	rng := rand.New(rand.NewPCG(3, 3))
	for k, b := range o.Blocks() {
		if !b.Rand(x[k], rng) {
			t.Fatalf("block %s has no random points", b.Name)
		}
	}
	floats.Scale(0.4, x[objective.BlockTheta])
	return x
}
