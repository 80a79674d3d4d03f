package nearest

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// maxNewton bounds the Newton steps of one row at one smoothing length.
	maxNewton = 40
	// firstEps and lastEps are the smoothing lengths a projection begins and
	// ends with, in units of the row's largest residual.
	firstEps, lastEps = 1e-1, 1e-9
)

// Projector finds the latent coordinates of rows under one loss. Each
// goroutine has its own.
type Projector struct {
	f         *sheet.Sheet
	loss      framework.Loss
	footpoint *Footpoint
	w         *Worker
}

func NewProjector(f *sheet.Sheet, loss framework.Loss) *Projector {
	return &Projector{f: f, loss: loss, footpoint: NewFootpoint(f), w: NewWorker(f, 1)}
}

// Project writes the coordinates of all rows of x into tau. Where the loss is
// not radial and a row has several nearest points in the Euclidean norm, it is
// refined from each of these, and the lowest loss wins. Errors count rows from
// first.
func (p *Projector) Project(ctx context.Context, tau []float64, x rows.Data, first int) error {
	_, radial := p.loss.(framework.Radial)
	for i := range x.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		count := p.footpoint.find(x.Row(i))
		out := tau[i*p.f.Latent : (i+1)*p.f.Latent]
		copy(out, p.footpoint.minima[0])
		if !radial {
			if err := p.refineRow(ctx, out, x.Row(i), count); err != nil {
				return err
			}
		}
		if !(framework.Point{out}).Finite() {
			return fmt.Errorf("scqm: row %d is too far from the sheet to be projected: %w", first+i, rows.ErrInput)
		}
	}
	return nil
}

// refineRow minimises the loss from each of the first count nearest points in
// the Euclidean norm.
func (p *Projector) refineRow(ctx context.Context, out, x []float64, count int) error {
	best := math.Inf(1)
	tau := make([]float64, p.f.Latent)
	row := rows.Data{N: 1, D: p.f.D, X: x}
	for k := range count {
		copy(tau, p.footpoint.minima[k])
		value, err := p.continuation(ctx, tau, row)
		if err != nil {
			return err
		}
		if value < best {
			best = value
			copy(out, tau)
		}
	}
	return nil
}

// continuation minimises the loss of one row from tau, in place. A loss with
// kinks is smoothed less and less, each length starting where the last ended.
// The value returned is that of the loss itself.
func (p *Projector) continuation(ctx context.Context, tau []float64, x rows.Data) (float64, error) {
	e := RowEvaluation{Sheet: p.f, Loss: p.loss, Data: x, Tau: tau}
	n := rowNewton{Projector: p, ctx: ctx, e: e}
	start, err := n.value(tau)
	if err != nil {
		return 0, err
	}
	first := append([]float64(nil), tau...)
	smoother, ok := p.loss.(framework.Smoother)
	if size := floats.Norm(p.w.R[:p.f.D], math.Inf(1)); ok && size > 0 {
		for eps := firstEps; eps >= lastEps; eps /= 10 {
			n.e.Loss = smoother.Smooth(eps * size)
			if err := n.minimize(tau); err != nil {
				return 0, err
			}
		}
		n.e.Loss = p.loss
	} else if err := n.minimize(tau); err != nil {
		return 0, err
	}
	end, err := n.value(tau)
	if err == nil && !(end <= start) {
		copy(tau, first)
		return start, nil
	}
	return end, err
}

// rowNewton is damped Newton for the latent coordinates of one row.
type rowNewton struct {
	*Projector
	ctx context.Context
	e   RowEvaluation
}

// value returns the loss at tau.
func (n *rowNewton) value(tau []float64) (float64, error) {
	var cost [1]float64
	n.e.Tau = tau
	err := n.e.Run(n.ctx, n.w, RowResults{Costs: cost[:]}, nil, 0, 1)
	return cost[0], err
}

// minimize runs from tau, in place.
func (n *rowNewton) minimize(tau []float64) error {
	d := n.f.Latent
	g, h, step := make([]float64, d), make([]float64, d*d), make([]float64, d)
	for range maxNewton {
		var cost [1]float64
		n.e.Tau = tau
		if err := n.e.Run(n.ctx, n.w, RowResults{Costs: cost[:], Grad: g, Hess: h}, nil, 0, 1); err != nil {
			return err
		}
		dense.NewtonStep(step, h, g)
		moved, err := n.descend(tau, step, cost[0], floats.Dot(g, step))
		if err != nil {
			return err
		}
		if !moved || floats.Norm(step, 2) <= 1e-14*floats.Norm(tau, 2) {
			return nil
		}
	}
	return nil
}

// descend shortens the step until the loss falls enough; it reports whether tau
// moved.
func (n *rowNewton) descend(tau, step []float64, value, slope float64) (bool, error) {
	trial := make([]float64, len(tau))
	t := 1.0
	for range 40 {
		floats.AddScaledTo(trial, tau, t, step)
		next, err := n.value(trial)
		if err != nil {
			return false, err
		}
		if next <= value+armijo*t*slope && next < value {
			copy(tau, trial)
			return true, nil
		}
		t /= 2
	}
	return false, nil
}
