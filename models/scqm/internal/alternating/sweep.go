package alternating

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// Sweeper lowers an objective over Tau and then over c, Q and Theta: see [Sweeper.Sweep].
type Sweeper struct {
	o       *objective.Objective
	fewGaps bool // see mostFilled

	// The fields below are made by the first sweep over the data.
	version uint64 // of the data
	frame   *frame
	data    rows.Data // whitened
	unit    float64   // h: root mean squared distance from the mean
	x, next framework.Point
	work    func(id, shard int)
	errs    []error
	shards  []*Moments
	total   *Moments
	outer   *Outer
	rows    []*rowSweep // per worker
}

// mostFilled is the largest fraction of missing entries for which sweeps are used. The more entries are missing, the
// slower sweeps converge.
const mostFilled = 0.05

func New(o *objective.Objective) *Sweeper {
	x := o.Data()
	return &Sweeper{o: o, fewGaps: float64(x.Observed()) >= (1-mostFilled)*float64(x.N*x.D)}
}

// OuterBlocks returns the blocks c, Q and Theta if the loss has sweeps: if it is a function of |r|^2 with known
// quadratic majorizers, r'Mr with diagonal M, or the sum of squares with few missing entries. Otherwise it returns nil.
func (p *Sweeper) OuterBlocks() []int {
	l := p.o.Loss()
	_, quadratic := l.(*nearest.DiagonalForm)
	if !quadratic && !CanSweep(l) && !(p.fewGaps && nearest.SquaresEntries(l)) {
		return nil
	}
	return []int{objective.BlockC, objective.BlockQ, objective.BlockTheta}
}

// CanSweep reports whether a loss is rho(|r|^2) with concave rho. These are the radial losses with majorizers: each row
// then has one weight 2 rho'.
func CanSweep(l framework.Loss) bool {
	if _, ok := l.(framework.Radial); !ok {
		return false
	}
	_, ok := l.(framework.Majorizer)
	return ok
}

// Sweep improves Tau and finds the next c, Q and Theta in one pass over the rows, for losses rho(|r|^2) with
// concave rho and for r'Mr with diagonal M.
//
// By Q'Q = I every tau_i minimises |a - tau|^2 + |b - Theta' phi(tau)|^2 with [a; b] = Q'(x_i - c), a problem without
// D. The tangent of rho at the new residuals bounds the cost by a weighted sum of squares. Its weights are w_i = v_i
// rho'(|r_i|^2), with v_i the weight of the row. The next c, Q and Theta lower this bound; see [Outer]. In the
// weights, residuals count as at least 1e-8 times the length scale of the data: if rows are interpolated under a loss
// with a kink, the cost can rise by as much. A sweep takes 2nDm operations for the projections and those of
// [Moments].
//
// A loss r'Mr, M = R'R, is the squared norm of whitened rows. There the frame RQ is not orthonormal, and with
// A = Q'MQ and y = A^-1 Q'M(x - c)
//
//	r'Mr = |R(x - c)|^2 - y'Ay + (z - y)'A(z - y),
//
// of which only the last term depends on tau.
func (p *Sweeper) Sweep(next, x framework.Point) (float64, error) {
	o := p.o
	if p.frame == nil || p.version != o.Version() {
		if err := p.prepare(); err != nil {
			return 0, err
		}
	}
	p.frame.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	p.frame.reload()
	p.x, p.next = x, next
	par.Do(o.Threads(), len(p.shards), p.work)
	clear(p.total.Sums)
	for i, s := range p.shards {
		if p.errs[i] != nil {
			return 0, p.errs[i]
		}
		floats.Add(p.total.Sums, s.Sums)
	}
	cost := p.total.cost() + o.Penalty(nil, x[objective.BlockTheta])
	p.outer.Solve(next, p.total, o.Regularizer)
	return cost, nil
}

// prepare allocates the memory of sweeps over the data of the objective, and whitens the rows.
func (p *Sweeper) prepare() error {
	o := p.o
	p.data = *o.Data()
	m, ok := newMetric(o.Loss())
	if !ok {
		return fmt.Errorf("scqm: loss %s: its matrix is not positive definite to working precision: %w", o.Loss().Name(), rows.ErrInput)
	}
	if m != nil {
		p.data.X = append([]float64(nil), p.data.X...)
		m.Whiten(p.data.X)
	}
	if p.data.Missing {
		p.data.X = slices.Clone(p.data.X)
		for k, v := range p.data.X {
			if v != v {
				p.data.X[k] = 0 // until the first sweep fills it
			}
		}
	}
	f, shards := o.NewSheet(), par.Shards(p.data.N)
	p.version, p.frame, p.unit = o.Version(), newFrame(f, m), rows.LengthScale(*o.Data())
	p.shards, p.errs, p.total = make([]*Moments, shards), make([]error, shards), NewMoments(f)
	for i := range p.shards {
		p.shards[i] = NewMoments(f)
	}
	p.outer, p.rows, p.work = newOuter(f, m, p.unit), make([]*rowSweep, o.Threads()), p.shard
	return nil
}

// shard sweeps over one shard of the rows.
func (p *Sweeper) shard(id, shard int) {
	if p.rows[id] == nil {
		p.rows[id] = newRowSweep(p.frame, min(nearest.BatchRows(p.frame.Sheet, p.data.N), SweepRows), p.unit)
		p.rows[id].batch = nearest.NewBatch(p.frame.Sheet, sweepPrecision)
	}
	r, m := p.rows[id], p.shards[shard]
	r.loss = squares{}
	if l, radial := p.o.Loss().(framework.Radial); radial { // see Smooth
		r.loss = l
	}
	if p.data.Missing {
		if r.gaps == nil {
			r.gaps = &gaps{given: p.o.Data(), newton: nearest.NewObserved(p.frame.Sheet)}
		}
		r.gaps.prior = p.o.Prior
	}
	r.batch.Reload()
	clear(m.Sums)
	lo, hi := par.Bounds(p.data.N, shard)
	for from := lo; from < hi; from += r.rows {
		if p.errs[shard] = p.o.Context().Err(); p.errs[shard] != nil {
			return
		}
		to := min(from+r.rows, hi)
		tau := p.next[objective.BlockTau][from*p.frame.Latent : to*p.frame.Latent]
		copy(tau, p.x[objective.BlockTau][from*p.frame.Latent:])
		r.add(m, &p.data, tau, from, to)
	}
}

// squares is |r|^2, the loss of whitened rows.
type squares struct{}

func (squares) Rho(rho, d1, _, u []float64) {
	copy(rho, u)
	for i := range d1 {
		d1[i] = 1
	}
}
