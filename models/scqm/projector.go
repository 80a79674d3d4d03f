package scqm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

const (
	// maxNewton bounds the Newton steps of one row at one smoothing length.
	maxNewton = 40
	// firstEps and lastEps are the smoothing lengths a projection begins and
	// ends with, in units of the row's largest residual.
	firstEps, lastEps = 1e-1, 1e-9
)

// projector finds the latent coordinates of rows under one loss. Each
// goroutine has its own.
type projector struct {
	f    *sheet
	loss framework.Loss
	foot *foot
	w    *worker
}

func newProjector(f *sheet, loss framework.Loss) *projector {
	return &projector{f: f, loss: loss, foot: newFoot(f), w: newWorker(f, 1)}
}

// project writes the coordinates of all rows of x into tau. Where the loss is
// not radial and a row has several nearest points in the Euclidean norm, it is
// refined from each of these, and the lowest loss wins. Errors count rows from
// first.
func (p *projector) project(ctx context.Context, tau []float64, x Data, first int) error {
	_, radial := p.loss.(framework.Radial)
	for i := range x.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		count := p.foot.find(x.Row(i))
		out := tau[i*p.f.d : (i+1)*p.f.d]
		copy(out, p.foot.minima[0])
		if !radial {
			if err := p.refineRow(ctx, out, x.Row(i), count); err != nil {
				return err
			}
		}
		if !(framework.Point{out}).Finite() {
			return fmt.Errorf("scqm: row %d is too far from the sheet to be projected: %w", first+i, ErrInput)
		}
	}
	return nil
}

// refineRow minimises the loss from each of the first count nearest points in
// the Euclidean norm.
func (p *projector) refineRow(ctx context.Context, out, x []float64, count int) error {
	best := math.Inf(1)
	tau := make([]float64, p.f.d)
	row := Data{N: 1, D: p.f.D, X: x}
	for k := range count {
		copy(tau, p.foot.minima[k])
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
func (p *projector) continuation(ctx context.Context, tau []float64, x Data) (float64, error) {
	e := rowEvaluation{sheet: p.f, loss: p.loss, data: x, tau: tau}
	n := newtonRow{projector: p, ctx: ctx, e: e}
	start, err := n.value(tau)
	if err != nil {
		return 0, err
	}
	first := append([]float64(nil), tau...)
	smoother, ok := p.loss.(framework.Smoother)
	if size := floats.Norm(p.w.r[:p.f.D], math.Inf(1)); ok && size > 0 {
		for eps := firstEps; eps >= lastEps; eps /= 10 {
			n.e.loss = smoother.Smooth(eps * size)
			if err := n.minimise(tau); err != nil {
				return 0, err
			}
		}
		n.e.loss = p.loss
	} else if err := n.minimise(tau); err != nil {
		return 0, err
	}
	end, err := n.value(tau)
	if err == nil && !(end <= start) {
		copy(tau, first)
		return start, nil
	}
	return end, err
}

// newtonRow is damped Newton for the latent coordinates of one row.
type newtonRow struct {
	*projector
	ctx context.Context
	e   rowEvaluation
}

// value returns the loss at tau.
func (n *newtonRow) value(tau []float64) (float64, error) {
	var cost [1]float64
	n.e.tau = tau
	err := n.e.run(n.ctx, n.w, rowResults{costs: cost[:]}, nil, 0, 1)
	return cost[0], err
}

// minimise runs from tau, in place.
func (n *newtonRow) minimise(tau []float64) error {
	d := n.f.d
	g, h, step := make([]float64, d), make([]float64, d*d), make([]float64, d)
	for range maxNewton {
		var cost [1]float64
		n.e.tau = tau
		if err := n.e.run(n.ctx, n.w, rowResults{costs: cost[:], grad: g, hess: h}, nil, 0, 1); err != nil {
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
func (n *newtonRow) descend(tau, step []float64, value, slope float64) (bool, error) {
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
