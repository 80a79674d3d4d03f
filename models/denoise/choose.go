package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// chooser is a method that takes some of its settings from the rows.
type chooser interface {
	// choose returns the method with these settings.
	choose(ctx context.Context, c *Cloud, o Options) (Method, error)
}

// settle returns a method whose settings do not depend on the rows any more.
func settle(ctx context.Context, m Method, c *Cloud, o Options) (Method, error) {
	if s, ok := m.(chooser); ok {
		return s.choose(ctx, c, o)
	}
	return m, nil
}

// sized is a method whose number of neighbours is free.
type sized interface {
	Method
	latent() int
	withNeighbors(k int) Method
}

func (m LPCA) latent() int { return m.Latent }
func (m SPH) latent() int  { return m.Latent }
func (m MFIT) latent() int { return m.Latent }
func (m MLS) latent() int  { return m.Latent }
func (m QMF) latent() int  { return m.Latent }
func (m SCQM) latent() int { return m.Latent }
func (m KDE) latent() int  { return m.Latent }

func (m LPCA) withNeighbors(k int) Method { m.Neighbors = k; return m }
func (m SPH) withNeighbors(k int) Method  { m.Neighbors = k; return m }
func (m MFIT) withNeighbors(k int) Method { m.Neighbors = k; return m }
func (m MLS) withNeighbors(k int) Method  { m.Neighbors = k; return m }
func (m QMF) withNeighbors(k int) Method  { m.Neighbors = k; return m }
func (m SCQM) withNeighbors(k int) Method { m.Neighbors = k; return m }
func (m KDE) withNeighbors(k int) Method  { m.Neighbors = k; return m }

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
	of, err := m.choose(ctx, c, o)
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
	// residualRows bounds those whose residuals a loss is made for.
	residualRows = 300
)

func (m Select) choose(ctx context.Context, c *Cloud, o Options) (Method, error) {
	of, err := settle(ctx, m.Of, c, o)
	if err != nil {
		return nil, err
	}
	free, ok := m.Of.(sized)
	if k, kernels := of.(KDE); !ok || kernels && !k.Local {
		return of, nil
	}
	quiet := o
	quiet.Progress = nil
	charts, err := newProbedPilot(ctx, Auto{Latent: free.latent()}, c, quiet)
	if err != nil {
		return nil, fmt.Errorf("denoise: %s: choosing the number of neighbours takes the noise that auto estimates; give a number: %w", of.Name(), err)
	}
	sizes := candidates(free, c)
	best, least := 0, math.Inf(1)
	for k, size := range sizes {
		risk, err := charts.riskOf(of.(sized).withNeighbors(size), chosenRows)
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
	return settle(ctx, free.withNeighbors(best), c, quiet) // a loss for that many
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
func candidates(m sized, c *Cloud) []int {
	n := len(c.used)
	var list []int
	for k := float64(minNeighbors); k <= min(0.75*float64(n), maxNeighbors); k *= growth {
		if _, err := m.withNeighbors(int(k)).Size(n, c.D); err == nil {
			list = append(list, int(k))
		}
	}
	return list
}

// riskOf estimates the mean risk of a method on some of the rows.
func (p *cloudCharts) riskOf(of Method, most int) (float64, error) {
	list := p.cloud.some(most)
	f, err := denoiseSome(p.ctx, of, p.cloud, list, p.o)
	if err != nil {
		return 0, err
	}
	c, D := p.cloud, p.cloud.D
	divergence := make([]float64, len(list))
	for m := range p.probes {
		pr := &p.probes[m]
		moved := &Cloud{Data: c.Data, index: lookup.NewIndex(pr.x, D, c.used), used: c.used}
		moved.X = pr.x
		fp, err := denoiseSome(p.ctx, of, moved, list, p.o)
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

// denoiseSome denoises the rows of a list of a cloud by all of them.
func denoiseSome(ctx context.Context, m Method, c *Cloud, list []int, o Options) (*Result, error) {
	d, err := newDenoiser(ctx, m, c, o)
	if err != nil {
		return nil, err
	}
	rows := rows.Data{D: c.D, N: len(list)}
	for _, i := range list {
		rows.X = append(rows.X, c.Row(i)...)
	}
	return d.Denoise(ctx, rows, Options{Threads: o.Threads})
}

// trial is the method with the loss whose residuals the loss is made for.
func (m SCQM) trial() SCQM {
	m.Loss, m.LossFor = losses.L2(), nil
	return m
}

// choose makes the loss.
func (m SCQM) choose(ctx context.Context, c *Cloud, o Options) (Method, error) {
	if m.LossFor == nil {
		return m, nil
	}
	o.Progress = nil
	r, err := denoiseSome(ctx, m.trial(), c, c.some(residualRows), o)
	if err != nil {
		return nil, err
	}
	var norms []float64
	for _, row := range r.Rows {
		if !row.Unchanged {
			norms = append(norms, row.Residual)
		}
	}
	m.Loss, err = m.LossFor(norms)
	m.LossFor = nil
	return m, err
}

func (m Select) inUnits(unit float64) (Method, bool) {
	of, ok := methodIn(m.Of, unit)
	m.Of = of
	return m, ok
}
