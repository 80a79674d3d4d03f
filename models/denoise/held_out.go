package denoise

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/rows"
)

// addedNoise is the noise added to rows whose charts are judged by rows that these have not
// seen, in units of the noise.
const addedNoise = 0.5

// heldOut are two copies of the rows of a cloud whose noise is independent, one to
// denoise and one to judge by: with a normal z of the noise s, x + a z and x - z/a. The
// squared distance of a function of the first from the second is its error, but for
// the variance of the second, whatever the function does with the first: charts
// in many dimensions follow their rows by way of places that followed them before, which
// no divergence at fixed charts sees.
//
// Source: N. Oliveira, J. Lei, R. Tibshirani, Unbiased risk estimation in the normal
// means problem via coupled bootstrap techniques, arXiv:2111.09447.
type heldOut struct {
	seen  rows.Data
	judge []float64 // n x D
}

func newHeldOut(c *Cloud, noise float64) heldOut {
	x := c.Select(c.used)
	h := heldOut{seen: rows.Data{N: x.N, D: x.D, X: make([]float64, len(x.X)), Weights: x.Weights}, judge: make([]float64, len(x.X))}
	rng := rand.New(rand.NewPCG(perturbationSeed, 1))
	for k, v := range x.X {
		z := noise * rng.NormFloat64()
		h.seen.X[k], h.judge[k] = v+addedNoise*z, v-z/addedNoise
	}
	return h
}

// holdOut takes the linear model where charts that seemed better are not, on rows held out.
func (p *autoPrepare) holdOut(ctx context.Context, c *Cloud, o Options) error {
	if p.method.linear == nil || p.flat != nil {
		return nil
	}
	gain, holds, err := p.linearHolds(ctx, c, o)
	if err == nil && holds {
		p.takeLinear(p.method.linear.risk - gain)
	}
	return err
}

// linearHolds tells whether charts of the setting chosen are no better than the linear
// model by more than chance, by rows held out, and how much better they are in mean
// square.
func (p *autoPrepare) linearHolds(ctx context.Context, c *Cloud, o Options) (gain float64, holds bool, err error) {
	m, flat := p.method, p.method.plane
	h := newHeldOut(c, m.linear.noise)
	m.Neighbors = p.setting.neighbors
	o.Progress = nil
	seen, err := newCloud(h.seen)
	if err != nil {
		return 0, false, err
	}
	again, charts, err := newPilot(ctx, m, seen, o)
	if err != nil {
		return 0, false, err
	}
	s := again.setting
	s.pilot, s.neighbors, s.ridge, s.rounds, s.least = false, p.setting.neighbors, p.setting.ridge, p.setting.rounds, p.setting.least
	if err := again.advance(s); err != nil {
		return 0, false, err
	}
	charts.setting = again.setting
	some := seen.some(selectionRows)
	difference := make([]float64, len(some))
	err = charts.each(some, func(w *autoWorker, k, i int) {
		x, judge := seen.Row(i), h.judge[i*c.D:(i+1)*c.D]
		var about Row
		foot := make([]float64, c.D)
		itself := Neighborhood{Centre: x, Index: []int{i}, Distance: []float64{0}}
		if w.Place(&itself, &about) != nil || w.Project(foot, x) != nil {
			copy(foot, x)
		}
		for a, v := range judge {
			on := flat.gain[a] * x[a]
			difference[k] += (v-on)*(v-on) - (v-foot[a])*(v-foot[a])
		}
	})
	if err != nil {
		return 0, false, err
	}
	mean, deviation := stat.MeanStdDev(difference, nil)
	// Charts have to be better than the model of all rows for certain, and by as much as
	// that of the nearest rows is.
	sure := mean > likely*deviation/math.Sqrt(float64(len(difference)))
	return mean, !sure || mean < asGood*(m.linear.overall-m.linear.risk), nil
}
