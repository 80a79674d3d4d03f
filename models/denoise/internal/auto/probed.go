package auto

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

const (
	// perturbation is the length of that of the rows, in units of the noise. Feet
	// jump where neighbours change, and no derivative at a point sees that: steps
	// of this size do (J. Ye, JASA 93 (1998), takes half of the noise).
	perturbation = 0.3
)

// Probed judges methods by the noise that a pilot finds, and by what they make of rows that are moved by the same length in random directions.
type Probed struct {
	*cloudCharts
	eps   float64
	z     []float64 // n x D: signs
	moved *core.Cloud
}

// NewProbed finds the noise of a cloud.
func NewProbed(ctx context.Context, m Auto, c *core.Cloud, o core.Options) (*Probed, error) {
	p, err := newPreparation(m, len(c.Used), c.D)
	if err != nil {
		return nil, err
	}
	p.charts = newCloudCharts(ctx, p.settings, c, o)
	if err := p.pilot(); err != nil {
		return nil, err
	}
	p.charts.setting = p.setting
	out := &Probed{cloudCharts: p.charts, eps: perturbation * p.setting.Scale, z: make([]float64, len(c.X))}
	moved, rng := slices.Clone(c.X), rand.NewPCG(core.PerturbationSeed, 0)
	for j := range moved {
		out.z[j] = core.RandomSign(rng.Uint64())
		moved[j] += out.eps * out.z[j]
	}
	out.moved = &core.Cloud{Data: c.Data, Index: lookup.NewIndex(moved, c.D, c.Used), Used: c.Used}
	out.moved.X = moved
	return out, nil
}

// divergence is what signs say about that of row i, whose foot moves from f to fp.
func (p *Probed) divergence(i int, f, fp []float64) float64 {
	D := p.cloud.D
	var sum float64
	for j, z := range p.z[i*D : (i+1)*D] {
		sum += z * (fp[j] - f[j])
	}
	return min(max(sum/p.eps, -2*float64(D)), 3*float64(D))
}

// RiskOf estimates the mean risk of a method on some of the rows.
func (p *Probed) RiskOf(of core.Method, most int) (float64, error) {
	list := p.cloud.Some(most)
	f, err := core.DenoiseSome(p.ctx, of, p.cloud, list, p.o)
	if err != nil {
		return 0, err
	}
	c, D := p.cloud, p.cloud.D
	fp, err := core.DenoiseSome(p.ctx, of, p.moved, list, p.o)
	if err != nil {
		return 0, err
	}
	counted := p.counted(list)
	var sum float64
	for k, i := range list {
		if !counted(i) {
			continue
		}
		far := rows.Distance(c.Row(i), f.X[k*D:(k+1)*D])
		divergence := p.divergence(i, f.X[k*D:(k+1)*D], fp.X[k*D:(k+1)*D])
		sum += p.setting.riskOf(far*far, divergence-float64(p.method.Latent), p.q)
	}
	return sum / float64(len(list)), nil
}

// counted tells which rows of a list have a part in the risk: not those that the pilot finds far from any
// surface, as the smallest neighbourhoods follow them best. If that is more than a third, all have: then it is the
// charts of the pilot that are far.
func (p *Probed) counted(list []int) func(i int) bool {
	near := func(i int) bool { return p.places.trust == nil || p.places.trust[i] > 0 }
	left := 0
	for _, i := range list {
		if near(i) {
			left++
		}
	}
	if 3*left < 2*len(list) {
		return func(int) bool { return true }
	}
	return near
}
