package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/denoise/internal/auto"
	"github.com/scqm/scqm/models/denoise/internal/chart"
	"github.com/scqm/scqm/models/denoise/internal/core"
)

// SelectDimension is a method that chooses the dimension d of the surface, from 1 to 4 and below D. It minimises the
// risk of local quadratic regression, as [Select] estimates it, over all numbers of neighbours. All d share one noise
// level, estimated by the charts of the largest d. If d is too small, part of the surface remains in the residuals;
// if d is too large, part of the noise remains in the rows.
type SelectDimension struct {
	// Of is [Auto] or a method that [Select] supports; its Latent is ignored.
	Of Method
}

// mostDimensions is the largest candidate for d.
const mostDimensions = 4

// Name returns the name of the method.
func (m SelectDimension) Name() string { return m.Of.Name() }

// Size returns the default number of neighbours for a curve.
func (m SelectDimension) Size(n, D int) (int, error) {
	of, err := withLatent(m.Of, 1)
	if err != nil {
		return 0, err
	}
	return of.Size(n, D)
}

// Prepare chooses the dimension and prepares the method.
func (m SelectDimension) Prepare(ctx context.Context, c *Cloud, o Options) (Fitted, error) {
	of, err := m.Choose(ctx, c, o)
	if err != nil {
		return nil, err
	}
	return of.Prepare(ctx, c, o)
}

// Choose returns the method with the dimension of least risk.
func (m SelectDimension) Choose(ctx context.Context, c *Cloud, o Options) (Method, error) {
	quiet := Options{Threads: o.Threads}
	d, err := leastRiskDimension(ctx, c, quiet)
	if err != nil {
		return nil, err
	}
	of, err := withLatent(m.Of, d)
	if err != nil {
		return nil, err
	}
	return core.Settle(ctx, of, c, o)
}

// leastRiskDimension returns the dimension of least risk, the smallest one in a tie.
func leastRiskDimension(ctx context.Context, c *Cloud, o Options) (int, error) {
	n := len(c.Used)
	most := min(mostDimensions, c.D-1)
	for most > 0 {
		if _, err := (Auto{Latent: most}).Size(n, c.D); err == nil {
			break
		}
		most--
	}
	if most < 1 {
		return 0, core.Short("%d rows of length %d are too few to choose the dimension of the surface by", n, c.D)
	}
	if most == 1 {
		return 1, nil
	}
	charts, err := auto.NewProbed(ctx, Auto{Latent: most}, c, o)
	if err != nil {
		return 0, err
	}
	best, least := 1, math.Inf(1)
	for d := 1; d <= most; d++ {
		for i, k := range candidates(classic.MLS{Latent: d}, c) {
			if k < 2*chart.Quadratics(d) || i%2 == 1 {
				continue // charts that follow every row; steps of 2.25 are enough
			}
			risk, err := charts.RiskOf(classic.MLS{Latent: d, Neighbors: k}, 300)
			if err != nil {
				return 0, err
			}
			if risk < least {
				best, least = d, risk
			}
		}
	}
	return best, nil
}

func withLatent(m Method, d int) (Method, error) {
	switch m := m.(type) {
	case Select:
		of, err := withLatent(m.Of, d)
		return Select{of}, err
	case Auto:
		m.Latent = d
		return m, nil
	case core.Sized:
		return m.Sized(d, 0), nil
	}
	return nil, fmt.Errorf("denoise: the dimension of the method %s cannot be chosen: %w", m.Name(), ErrInput)
}

// InUnits returns the method for rows divided by a unit. It returns false if the method cannot be rescaled.
func (m SelectDimension) InUnits(unit float64) (Method, bool) {
	of, ok := core.MethodIn(m.Of, unit)
	m.Of = of
	return m, ok
}

// Latent returns the dimension of the surface, 0 for methods that have none.
func (d *Denoiser) Latent() int { return core.LatentOf(d.prepared.Method) }

// Grid is the position of the chosen number of neighbours among the candidates.
type Grid int

// These values are the possible positions of the number of neighbours.
const (
	// NotChosen: the user gave the number.
	NotChosen Grid = iota
	// Within: larger and smaller numbers were tried.
	Within
	// Smallest: no smaller number was tried; where rows are dense or noise is low,
	// fewer might do.
	Smallest
	// Largest: no larger number was tried. More might be better: denoise fewer rows at a time, or set the number,
	// to see.
	Largest
)

// String returns the word for reports: "", "within", "smallest" or "largest".
func (g Grid) String() string { return [...]string{"", "within", "smallest", "largest"}[g] }

// Grid returns the position of the number of neighbours among the candidates of [Auto]; if chosen is true, also of
// other methods, chosen by [Select].
func (d *Denoiser) Grid(chosen bool) Grid {
	var list []int
	k := d.prepared.Size
	switch m := d.prepared.Method.(type) {
	case Auto:
		if f, ok := d.prepared.Fitted.(interface{ Sizes() (int, []int) }); ok && m.Neighbors == 0 {
			k, list = f.Sizes()
		}
	case core.Sized:
		if !chosen {
			return NotChosen
		}
		list = candidates(m, d.prepared.Cloud)
	}
	switch {
	case len(list) == 0:
		return NotChosen
	case k >= list[len(list)-1]:
		return Largest
	case k <= list[0]:
		return Smallest
	}
	return Within
}
