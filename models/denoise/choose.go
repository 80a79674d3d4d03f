package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// Select is a method that chooses its number of neighbours, from 8 to 300, by minimising the risk as [Auto] estimates
// it: by the residuals and the divergence, from fits to the rows and to perturbed rows. Tukey's loss bounds large
// residuals. Of is [LPCA], [MLS], [SPH], [MFIT], [QMF], [SCQM], or [KDE] with local widths; its Neighbors are
// ignored. Other methods stay unchanged.
type Select struct{ Of Method }

// Name returns the name of the method.
func (m Select) Name() string { return m.Of.Name() }

// Size returns the default number of neighbours.
func (m Select) Size(n, D int) (int, error) { return m.Of.Size(n, D) }

// Prepare chooses the number of neighbours and prepares the method.
func (m Select) Prepare(ctx context.Context, c *Cloud, o Options) (Fitted, error) {
	of, err := m.Choose(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return of.Prepare(ctx, c, o)
}

// Choose returns the method with the number of neighbours of least risk.
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
	charts, err := auto.NewProbed(ctx, Auto{Latent: free.Dimension()}, c, quiet)
	if err != nil {
		return nil, fmt.Errorf("denoise: %s: choosing the number of neighbours takes the noise that auto estimates; give a number: %w", of.Name(), err)
	}
	sizes := candidates(free, c)
	best, least := 0, math.Inf(1)
	for k, size := range sizes {
		risk, err := charts.RiskOf(of.(core.Sized).Sized(0, size), 1000)
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
	return core.Settle(ctx, free.Sized(0, best), c, quiet) // chooses a loss for this number
}

// candidates lists the numbers of neighbours that a method can use.
func candidates(m core.Sized, c *Cloud) []int {
	n := len(c.Used)
	var list []int
	for k := 8.0; k <= min(0.75*float64(n), auto.MaxNeighbors); k *= 1.5 {
		if _, err := m.Sized(0, int(k)).Size(n, c.D); err == nil {
			list = append(list, int(k))
		}
	}
	return list
}

// InUnits returns the method for rows divided by a unit. It returns false if the method cannot be rescaled.
func (m Select) InUnits(unit float64) (Method, bool) {
	of, ok := core.MethodIn(m.Of, unit)
	m.Of = of
	return m, ok
}

// Dimension returns the dimension of the surface of the method.
func (m Select) Dimension() int { return core.LatentOf(m.Of) }

// Keeps counts the numbers that Prepare stores to choose the number of neighbours.
func (m Select) Keeps(f *core.Footprint) { f.Fits, f.Kept = true, f.N*f.D }
