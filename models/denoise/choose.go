package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/core"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// Select is a method with the number of neighbours, from 8 to 300, for which
// its risk is least as [Auto] estimates it: by the residuals and the divergence,
// for which the method is fitted to the rows and to perturbed ones. Large
// residuals count no more than Tukey's loss lets them. Of is [LPCA], [MLS],
// [SPH], [MFIT], [QMF], [SCQM], or [KDE] with local widths; its Neighbors do not
// matter. Other methods stay as they are.
type Select struct{ Of Method }

// Name returns the name of the method.
func (m Select) Name() string { return m.Of.Name() }

// Size returns the number of neighbours by default.
func (m Select) Size(n, D int) (int, error) { return m.Of.Size(n, D) }

// Prepare makes the choice and prepares the method.
func (m Select) Prepare(ctx context.Context, c *Cloud, o Options) (Fitted, error) {
	of, err := m.Choose(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return of.Prepare(ctx, c, o)
}

const (
	// minNeighbors is the first number of neighbours to choose from;
	// maxNeighbors and growth of auto give the others.
	minNeighbors = 8
	// chosenRows bounds the rows on which numbers of neighbours are compared.
	chosenRows = 1000
)

// Choose implements the interface of methods that ask the rows.
func (m Select) Choose(ctx context.Context, c *Cloud, o Options) (Method, error) {
	of, err := core.Settle(ctx, m.Of, c, o)
	if err != nil {
		return nil, err
	}
	free, ok := m.Of.(core.Sized)
	if k, kernels := of.(classic.KDE); !ok || kernels && !k.Local {
		return of, nil
	}
	quiet := o
	quiet.Progress = nil
	charts, err := newProbedPilot(ctx, Auto{Latent: free.Dimension()}, c, quiet)
	if err != nil {
		return nil, fmt.Errorf("denoise: %s: choosing the number of neighbours takes the noise that auto estimates; give a number: %w", of.Name(), err)
	}
	sizes := candidates(free, c)
	best, least := 0, math.Inf(1)
	for k, size := range sizes {
		risk, err := charts.riskOf(of.(core.Sized).Sized(0, size), chosenRows)
		if err != nil {
			return nil, err
		}
		if risk < least {
			best, least = size, risk
		}
		if o.Progress != nil {
			o.Progress(float64(k+1) / float64(len(sizes)))
		}
	}
	if best == 0 {
		return of, nil
	}
	return core.Settle(ctx, free.Sized(0, best), c, quiet) // a loss for that many
}

// newProbedPilot is a pilot by which methods are judged: with probes, also where what it knows of charts of its own leaves these out.
func newProbedPilot(ctx context.Context, m Auto, c *Cloud, o Options) (*cloudCharts, error) {
	p, charts, err := newPilot(ctx, m, c, o)
	if err == nil && len(charts.probes) == 0 {
		err = charts.perturb(p.probes, p.eps)
	}
	return charts, err
}

// candidates lists the numbers of neighbours that suit a method.
func candidates(m core.Sized, c *Cloud) []int {
	n := len(c.Used)
	var list []int
	for k := float64(minNeighbors); k <= min(0.75*float64(n), maxNeighbors); k *= growth {
		if _, err := m.Sized(0, int(k)).Size(n, c.D); err == nil {
			list = append(list, int(k))
		}
	}
	return list
}

// riskOf estimates the mean risk of a method on some of the rows.
func (p *cloudCharts) riskOf(of Method, most int) (float64, error) {
	list := p.cloud.Some(most)
	f, err := core.DenoiseSome(p.ctx, of, p.cloud, list, p.o)
	if err != nil {
		return 0, err
	}
	c, D := p.cloud, p.cloud.D
	divergence := make([]float64, len(list))
	for m := range p.probes {
		pr := &p.probes[m]
		moved := &Cloud{Data: c.Data, Index: lookup.NewIndex(pr.x, D, c.Used), Used: c.Used}
		moved.X = pr.x
		fp, err := core.DenoiseSome(p.ctx, of, moved, list, p.o)
		if err != nil {
			return 0, err
		}
		for k, i := range list {
			divergence[k] += p.divergence(pr, i, f.X[k*D:(k+1)*D], fp.X[k*D:(k+1)*D]) / float64(len(p.probes))
		}
	}
	counted := p.counted(list)
	var sum float64
	for k, i := range list {
		if !counted(i) {
			continue
		}
		far := rows.Distance(c.Row(i), f.X[k*D:(k+1)*D])
		sum += p.setting.riskOf(far*far, divergence[k]-float64(p.method.Latent), p.q)
	}
	return sum / float64(len(list)), nil
}

// counted tells which rows of a list have a part in the risk: not those that the pilot finds far from any
// surface, as the smallest neighbourhoods follow them best. If that is more than a third, all have: then it is the
// charts of the pilot that are far.
func (p *cloudCharts) counted(list []int) func(i int) bool {
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

// InUnits implements the interface of methods with units.
func (m Select) InUnits(unit float64) (Method, bool) {
	of, ok := core.MethodIn(m.Of, unit)
	m.Of = of
	return m, ok
}

// Dimension is that of the method.
func (m Select) Dimension() int { return core.LatentOf(m.Of) }
