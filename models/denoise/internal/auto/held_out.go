package auto

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/principal"
	"github.com/scqm/scqm/models/rows"
)

// addedNoise is the noise added to rows whose charts are judged by rows that these have not
// seen, in units of the noise.
const addedNoise = 0.5

// heldNoise makes two copies of rows whose noise is independent, one to
// denoise and one to judge by: with a normal z of the noise s, x + a z and x - z/a. The
// squared distance of a function of the first from the second is its error, but for
// the variance of the second, whatever the function does with the first: charts
// in many dimensions follow their rows by way of places that followed them before, which
// no divergence at fixed charts sees. The z of a row follow from its number.
//
// Source: N. Oliveira, J. Lei, R. Tibshirani, Unbiased risk estimation in the normal
// means problem via coupled bootstrap techniques, arXiv:2111.09447.
type heldNoise float64

// seen writes x + a z of row x of a number into dst.
func (s heldNoise) seen(dst, x []float64, number int) { s.add(dst, x, number, addedNoise) }

// judge writes x - z/a.
func (s heldNoise) judge(dst, x []float64, number int) { s.add(dst, x, number, -1/addedNoise) }

func (s heldNoise) add(dst, x []float64, number int, factor float64) {
	rng := rand.New(rand.NewPCG(core.PerturbationSeed, uint64(number)))
	for j, v := range x {
		z := float64(s) * rng.NormFloat64()
		dst[j] = v + factor*z
	}
}

// holdOut takes the linear model where charts that seemed better are not, on rows held out.
func (p *preparation) holdOut() error {
	if p.method.linear == nil || p.method.plane == nil || p.flat != nil { // a linear model is judged along the axes of a plane
		return nil
	}
	gain, holds, err := p.linearHolds()
	if err == nil && holds {
		p.takeLinear(p.method.linear.Overall - gain)
	}
	return err
}

// linearHolds reports whether charts of the setting chosen are no better than the linear
// model by more than chance, by rows held out, and how much better they are in mean
// square.
func (p *preparation) linearHolds() (gain float64, holds bool, err error) {
	m, chosen := p.method, p.setting
	m.Neighbors, m.linear = chosen.neighbors, nil // which is the rival
	again, err := newPreparation(m, p.n, p.D)
	if err != nil {
		return 0, false, err
	}
	held, err := p.charts.holdOut(again.settings, heldNoise(p.method.linear.Noise))
	if err != nil {
		return 0, false, err
	}
	again.charts = held.cloudCharts
	if err := again.pilot(); err != nil {
		return 0, false, err
	}
	if err := again.choose(); err != nil {
		return 0, false, err
	}
	s := again.setting
	s.Ridge, s.Rounds = chosen.Ridge, chosen.Rounds
	if err := again.advance(s); err != nil {
		return 0, false, err
	}
	difference, err := held.judge(s, m.plane.Gain)
	if err != nil {
		return 0, false, err
	}
	mean, deviation := stat.MeanStdDev(difference, nil)
	chance := likely * deviation / math.Sqrt(float64(len(difference)))
	// Charts have to be better than the model of all rows for certain, and not by less, beyond chance, than that of the nearest
	// rows is: these were judged by the rows themselves, as charts were, whose risk was found to be lower.
	return mean, mean <= chance || mean+chance < asGood*(p.method.linear.Overall-p.method.linear.Risk), nil
}

// heldCloud is a cloud in memory with noise added.
type heldCloud struct {
	*cloudCharts
	noise heldNoise
	came  rows.Data
}

// holdOut makes charts of the same rows with noise added.
func (p *cloudCharts) holdOut(s settings, noise heldNoise) (*heldCloud, error) {
	h := &heldCloud{noise: noise, came: p.cloud.Select(p.cloud.Used)}
	seen := rows.Data{N: h.came.N, D: h.came.D, X: make([]float64, len(h.came.X)), Weights: h.came.Weights}
	for i := range seen.N {
		noise.seen(seen.Row(i), h.came.Row(i), i)
	}
	c, err := core.CloudOf(seen)
	if err != nil {
		return nil, err
	}
	quiet := p.o
	quiet.Progress = nil
	h.cloudCharts = newCloudCharts(p.ctx, s, c, quiet)
	return h, nil
}

// judge returns, for each row of the selection, how much nearer the foot by charts of a setting is
// to the copy that these have not seen than the row with its coordinates shrunk by gain, in squares.
func (h *heldCloud) judge(s setting, gain []float64) ([]float64, error) {
	some, D := h.cloud.Some(MostPlaces), h.cloud.D
	by := make([]float64, len(some)*D)
	for k, i := range some {
		h.noise.judge(by[k*D:(k+1)*D], h.came.Row(i), i)
	}
	h.setting = s
	h.countCharts()
	difference := make([]float64, len(some))
	err := h.each(some, func(w *worker, k, i int) {
		x := h.cloud.Row(i)
		var about core.Row
		foot := make([]float64, D)
		itself := core.Neighborhood{Centre: x, Index: []int{i}, Distance: []float64{0}}
		if w.Place(&itself, &about) != nil || w.Project(foot, x) != nil {
			copy(foot, x)
		}
		for a, v := range by[k*D : (k+1)*D] {
			on := gain[a] * x[a]
			difference[k] += (v-on)*(v-on) - (v-foot[a])*(v-foot[a])
		}
	})
	return difference, err
}

// Flat is what Auto prepares where a linear model is better.
type Flat struct {
	principal.Shrunk
	Why string
}

// takeLinear takes the linear model in place of charts of an estimated mean squared error.
func (p *preparation) takeLinear(charts float64) {
	m := p.method
	p.flat = &Flat{principal.Shrunk{Plane: m.plane}, m.linear.Why(m.Latent, "", charts)}
}

// asGood is the part of the risk of charts above which a linear model is no better: the two are
// estimated in ways that differ by a few per cent.
const asGood = 0.95

// linearBetter reports whether the linear model has less risk than the charts that were chosen, and
// how much these have on the rows of the selection, by the noise of that model.
func (c *choice) linearBetter() (charts float64, better bool) {
	p, r := c.p, c.rungs[c.best]
	linear, s := p.method.linear, c.s
	s.Scale = linear.Noise
	counted := 0.0
	for j, counts := range c.counted {
		if counts {
			charts += s.riskOf(r.square[j], s.divergence(p.q, r.own[j], r.size[j]), p.q)
			counted++
		}
	}
	// The part along the surface, what is no error but noise, and what is off the axes.
	charts = charts/max(counted, 1) + s.Scale*s.Scale*(2*float64(p.method.Latent)-float64(p.D)) + linear.Off
	return charts, counted > 0 && linear.Risk < asGood*charts
}
