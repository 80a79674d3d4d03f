package nearest

import (
	"context"
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// firstEps and lastEps are the first and last smoothing length of a projection, in units of the row's largest
	// residual.
	firstEps, lastEps = 1e-1, 1e-9
	// LastStep is the length of a Newton step, relative to tau, after which a row is projected to full precision:
	// Newton's method converges quadratically.
	LastStep = 1e-7
)

// Projector finds the latent coordinates of rows under one loss: for each row, the minimum over tau in R^d of
// loss(f(tau) - x). For radial losses it is a [Projection], with 2Dm operations and Newton steps in R^m. For other
// losses [General] continues from the projection by smoothing, with one loss of D entries and its derivatives per
// step, and returns the lowest minimum from several starts. For the sum of absolute residuals, descents along edges
// (leastAbsolute) find the minima; for d = 1 the nearest point is exact. Use a Projector from one goroutine.
type Projector struct {
	// Missing has the loss and the prior for rows with missing entries.
	Missing Missing

	f          *sheet.Sheet
	loss       framework.Loss
	projection *Projection
	w          *Worker
	newton     *General
	batch      *Batch         // in the Euclidean norm; nil if neither the loss nor its descent needs it
	squares    []float64      // squared residuals of the rows last projected by batch
	absolute   *leastAbsolute // nil if the loss is not l1
	tau        []float64      // d
	refined    minima         // of the loss
	observed   *Observed      // made at first use
	partial    *Projector     // for rows with missing entries; made at first use
}

// Missing has the loss and the prior for rows with missing entries. The loss ignores these entries.
type Missing struct {
	Loss  framework.Loss
	Prior Prior
}

func NewProjector(f *sheet.Sheet, loss framework.Loss) *Projector {
	p := &Projector{
		f: f, loss: loss, projection: NewLossProjection(f, loss), w: NewWorker(f, 1), newton: NewGeneral(1, f.Latent),
		absolute: newLeastAbsolute(f, loss), tau: make([]float64, f.Latent),
	}
	switch _, radial := loss.(framework.Radial); {
	case p.absolute != nil:
		p.batch = NewBatch(f, FewDigits) // goes on from there
	case radial && p.projection.metric == nil:
		p.batch = NewBatch(f, LastStep)
	}

	return p
}

// Reload recomputes what depends on the sheet. Call it after a change of the sheet.
func (p *Projector) Reload() {
	if p.projection.metric != nil {
		p.projection.Reload()
	}
}

// Project writes the coordinates of all rows of x into tau. If the loss is not radial and a row has several nearest
// points in the Euclidean norm, it minimises the loss from each of them and returns the lowest minimum. In errors, row
// numbers count from first.
func (p *Projector) Project(ctx context.Context, tau []float64, x rows.Data, first int) error {
	if p.batch != nil {
		p.batch.Reload()
	}
	for i := range x.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.batch != nil && i%p.batch.most == 0 {
			to := min(i+p.batch.most, x.N)
			p.squares = p.batch.ProjectRows(tau[i*p.f.Latent:to*p.f.Latent], x.X[i*x.D:to*x.D], to-i)
		}
		out := tau[i*p.f.Latent : (i+1)*p.f.Latent]
		switch {
		case x.Missing && rows.Incomplete(x.Row(i)):
			if err := p.projectPartial(ctx, out, x.Row(i)); err != nil {
				return err
			}
		case p.absolute != nil:
			p.leastAbsolute(out, x.Row(i), p.projected(i))
		case p.batch != nil && p.projected(i):
		case p.distance():
			p.projection.Load(x.Row(i))
			p.projection.Find(out)
		default:
			p.projection.Load(x.Row(i))
			list, err := p.refine(ctx, rows.Data{N: 1, D: x.D, X: x.Row(i)}, p.projection.All())
			if err != nil {
				return err
			}
			copy(out, list[0].tau)
		}
		if !(framework.Point{out}).Finite() {
			return tooFar(first + i)
		}
	}
	return nil
}

// distance reports whether the loss is a function of the norm or a quadratic form r'Mr.
func (p *Projector) distance() bool {
	_, radial := p.loss.(framework.Radial)
	return radial || p.projection.metric != nil
}

// projected reports whether the batch projected the row with this index among all rows.
func (p *Projector) projected(row int) bool {
	u := p.squares[row%p.batch.most]
	return u != Refused && !math.IsNaN(u)
}

func tooFar(row int) error {
	return fmt.Errorf("scqm: row %d is too far from the sheet to be projected: %w", row, rows.ErrInput)
}

// leastAbsolute finds the nearest point in the l1 norm. It starts from out if projected reports that out is the
// Euclidean projection. For d > 1 it also descends from every start of [Projection.eachStart].
func (p *Projector) leastAbsolute(out, x []float64, projected bool) {
	s, f := p.absolute, p.projection
	f.Load(x)
	if !projected {
		f.Find(out)
	}
	s.begin(out, x)
	if p.f.Latent > 1 && p.f.S > 0 {
		f.eachStart(s.from)
	}
	copy(out, s.tau)
}

// projectPartial projects a row with missing entries.
func (p *Projector) projectPartial(ctx context.Context, out, x []float64) error {
	if p.partial == nil {
		p.partial = NewProjector(p.f, p.Missing.Loss)
		p.partial.Missing, p.partial.observed = p.Missing, NewObserved(p.f)
	}
	o := p.partial.observed
	if SquaresEntries(p.Missing.Loss) {
		o.set(x, p.Missing.Prior)
		o.Find(out)
		return nil
	}
	o.set(x, nil) // as the unit of the prior is another
	list, err := p.partial.refine(ctx, rows.Data{N: 1, D: p.f.D, X: x, Missing: true}, o.All())
	if err == nil {
		copy(out, list[0].tau)
	}
	return err
}

// refine returns the minima of the loss of a row reached from the nearest points in the Euclidean norm, the best
// first.
func (p *Projector) refine(ctx context.Context, x rows.Data, starts []minimum) ([]minimum, error) {
	if p.distance() {
		return starts, nil
	}
	p.refined.reset()
	for _, start := range starts {
		copy(p.tau, start.tau)
		value, err := p.continuation(ctx, p.tau, x)
		if err != nil {
			return nil, err
		}
		p.refined.enter(p.tau, value)
	}
	if len(p.refined.list) == 0 { // none is finite
		return starts, nil
	}
	return p.refined.best(len(starts)), nil
}

// continuation minimises the loss of one row from tau, in place. It smooths a loss with kinks over decreasing
// lengths, each warm-started from the last. It returns the unsmoothed loss.
func (p *Projector) continuation(ctx context.Context, tau []float64, x rows.Data) (float64, error) {
	start, err := p.value(ctx, p.loss, tau, x)
	if err != nil {
		return 0, err
	}
	first := append([]float64(nil), tau...)
	smoother, ok := p.loss.(framework.Smoother)
	if size := rows.MaxNorm(p.w.R[:p.f.D]); ok && size > 0 {
		for eps := firstEps; eps >= lastEps; eps /= 10 {
			precision := FewDigits // of a warm start
			if eps/10 < lastEps {
				precision = LastStep
			}
			if err := p.minimize(ctx, smoother.Smooth(eps*size), tau, x, precision); err != nil {
				return 0, err
			}
		}
	} else if err := p.minimize(ctx, p.loss, tau, x, LastStep); err != nil {
		return 0, err
	}
	end, err := p.value(ctx, p.loss, tau, x)
	if err == nil && !(end <= start) {
		copy(tau, first)
		return start, nil
	}
	return end, err
}

// value returns the loss of a row at tau.
func (p *Projector) value(ctx context.Context, loss framework.Loss, tau []float64, x rows.Data) (float64, error) {
	var cost [1]float64
	e := RowEvaluation{Sheet: p.f, Loss: loss, Data: x, Tau: tau, Prior: p.Missing.Prior}
	err := e.Run(ctx, p.w, RowResults{Costs: cost[:]}, nil, 0, 1)
	return cost[0], err
}

// minimize moves tau of a row to the local minimum. It ends at a step of the given relative precision.
func (p *Projector) minimize(ctx context.Context, loss framework.Loss, tau []float64, x rows.Data, precision float64) error {
	p.newton.Precision = precision
	e := RowEvaluation{Sheet: p.f, Loss: loss, Data: x, Prior: p.Missing.Prior}
	_, err := p.newton.Minimize(tau, func(to RowResults, tau []float64, list []int) error {
		e.Tau = tau
		return e.Run(ctx, p.w, to, list, 0, len(list))
	})
	return err
}
