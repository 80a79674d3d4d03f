package arrowhead

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

const (
	// MaxOuter and maxArrowEntries bound the memory of second derivatives: the order of the outer matrix, and the
	// entries of the coupling of outer and inner blocks. Beyond these bounds Newton's method is unsuitable.
	MaxOuter   = 500
	MaxEntries = 1 << 25
)

// Hessian computes second derivatives of an objective in the frame of the sheet.
//
// With W = [Q Qc] orthonormal and square, e_i = W'r_i is the residual in the
// frame. Outer blocks move along
//
//	c + W gamma,   polar(Q + W [Omega; K]),   Theta + dTheta,
//
// Omega skew-symmetric and K any (D-m) x m matrix, and with the features
// h = [1; z; phi] of a row its residual changes by
//
//	de = gamma + [Omega; K] z + [0; dTheta' phi]
//
// to first order. Each coordinate v_p thus adds multiples of features to rows of e, as its list of terms defines, and
//
//	de/dv_p = sum over terms of sign h_f unit_row.
//
// With g = W' grad loss, H = W' (hess loss) W and E = de/dtau, whose first m
// rows are dz/dtau, the derivatives are sums over rows and terms of
//
//	OuterGrad_p  sign g_row h_f
//	A_pp'        sign sign' H_row,row' h_f h_f'
//	B_p          sign ((HE)_row h_f + g_row dh_f/dtau)
//	C            E'HE + sum_k g_(d+k) 2 A_k
//
// A also has the second-order term of the move: -g_Q' (D'D) z for D = [Omega; K], from the polar retraction Q + D - Q
// D'D / 2, and g' D [0; dTheta' phi]. Both are linear in the moments sum_i g_i h_i'.
type Hessian struct {
	o *objective.Objective
	*Chart

	pairs       []momentPair // of terms, made when needed
	workers     []*worker
	sums        []*sums // per shard
	total       *sums
	errs        []error
	innerPasses []float64 // per shard, of inner steps
	constant    []float64 // D x D: W'(hess loss)W where it is the same for all rows
	products    []float64 // F x D: of the moments of a separable loss and one vector of the frame

	rowsOnly, distinct bool // see NewDistinct

	rowLoss                // in use
	assembly assembleShard // the work in progress
	innerJob innerShard
}

// New returns a Hessian without its arrays. The first assembly allocates them.
func New(o *objective.Objective) *Hessian { return &Hessian{o: o} }

// NewDistinct is New in the coordinates of NewChart with slides false, all of which change the sheet. If rowsOnly is
// true it omits A.
func NewDistinct(o *objective.Objective, rowsOnly bool) *Hessian {
	return &Hessian{o: o, distinct: true, rowsOnly: rowsOnly}
}

// Rows returns features, residuals and weighted gradients of the last assembly, the latter two in the frame. It
// requires at most BatchRows rows and one goroutine.
func (a *Hessian) Rows() (h, e, g []float64) {
	w := a.worker(0)
	return w.h, w.e, w.g
}

// ArrowheadShape implements [latent.ArrowheadHessian]: rows of Tau are inner. It returns false if the matrices would
// be too large.
func (a *Hessian) ArrowheadShape() (latent.ArrowheadShape, bool) {
	f, n := a.o.Shape(), a.o.Data().N
	s := latent.ArrowheadShape{Block: objective.BlockTau, Outer: OuterDim(f, a.slides()), Rows: n, Dim: f.Latent}
	fits := s.Outer <= MaxOuter && s.Outer*f.Latent <= MaxEntries/n
	return s, fits
}

// slides reports whether shifts and rotations of a flat sheet within itself change the cost. This is so if rows with
// missing entries have a prior.
func (a *Hessian) slides() bool { return a.o.Data().Missing }

// AssembleHessian writes the first and second derivatives at x. They are exact for losses with second derivatives. It
// counts as one pass.
func (a *Hessian) AssembleHessian(dst *latent.Arrowhead, x framework.Point) (cost, passes float64, err error) {
	a.prepare(x)
	a.Frame.Complete()
	a.prepareLoss()
	if a.structure == rowloss.StructureSeparable {
		a.growDiagonal()
	}
	a.assembly = assembleShard{dst: dst, tau: x[objective.BlockTau]}
	if err := a.eachShard(&a.assembly); err != nil {
		return 0, 0, err
	}
	t := a.total
	t.reset()
	for _, s := range a.sums {
		t.add(s)
	}
	if !a.rowsOnly {
		a.finish(dst, t, t.gh)
		a.addPenalty(dst, x[objective.BlockTheta])
	}
	return t.cost + a.o.Penalty(nil, x[objective.BlockTheta]), 1, nil
}

// prepare loads the sheet at x and the loss, which Smooth may have changed.
func (a *Hessian) prepare(x framework.Point) {
	if a.Chart == nil {
		a.allocate()
	}
	a.rowLoss = rowLossOf(a.o.Loss())
	a.rowLoss.missing = a.o.Data().Missing
	a.F.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
}

func (a *Hessian) allocate() {
	f, n := a.o.NewSheet(), a.o.Data().N
	a.Chart = NewChart(f, !a.distinct && (f.S > 0 || a.slides()))
	a.workers = make([]*worker, a.o.Threads())
	shards := par.Shards(n)
	a.sums, a.errs, a.innerPasses = make([]*sums, shards), make([]error, shards), make([]float64, shards)
	for i := range a.sums {
		a.sums[i] = newSums(a.Chart, !a.rowsOnly)
	}
	a.total = newSums(a.Chart, !a.rowsOnly)
	a.constant = make([]float64, f.D*f.D)
}

// shardWork is work on the rows lo to hi of a problem.
type shardWork interface {
	run(a *Hessian, w *worker, shard, lo, hi int) error
}

// eachShard runs work on all rows, in parallel. With one thread it calls work for one shard after the other, which
// needs no closure.
func (a *Hessian) eachShard(work shardWork) error {
	if a.o.Threads() == 1 || len(a.errs) == 1 {
		for i := range a.errs {
			a.oneShard(work, 0, i)
		}
	} else {
		par.Do(a.o.Threads(), len(a.errs), func(id, i int) { a.oneShard(work, id, i) })
	}
	return cmp.Or(a.errs...)
}

func (a *Hessian) oneShard(work shardWork, id, shard int) {
	lo, hi := par.Bounds(a.o.Data().N, shard)
	if a.errs[shard] = a.o.Context().Err(); a.errs[shard] == nil {
		a.errs[shard] = work.run(a, a.worker(id), shard, lo, hi)
	}
}

// worker returns the buffers of worker id. It allocates them at the first call.
func (a *Hessian) worker(id int) *worker {
	if a.workers[id] == nil {
		a.workers[id] = newWorker(a.Chart, a.o.Data().N)
	}
	return a.workers[id]
}

// finish converts the sums over rows to the outer derivatives. bent are the moments that multiply second derivatives
// of the moves.
func (a *Hessian) finish(dst *latent.Arrowhead, t *sums, bent []float64) {
	copy(dst.A, t.a)
	a.addMoments(dst.A, t.hh)
	if len(t.diagonal) > 0 {
		a.addDiagonalMoments(dst.A, t.diagonal)
	}
	for p := range a.P {
		var g float64
		for _, u := range a.TermsOf(p) {
			g += u.Sign * t.gh[u.Row*a.Nf+u.Feature]
		}
		dst.OuterGrad[p] = g
	}
	a.addMove(dst.A, bent)
	for i := range a.P {
		for j := range i {
			dst.A[i*a.P+j] = dst.A[j*a.P+i]
		}
	}
}

// addPenalty adds the derivatives of the penalty.
func (a *Hessian) addPenalty(dst *latent.Arrowhead, theta []float64) {
	f, n := a.F, dst.Outer
	from := n - f.Q*f.S
	a.o.AddPenaltyProduct(f.Shape, dst.OuterGrad[from:], theta)
	a.o.AddPenaltyHessian(f.Shape, dst.A, n, from)
}

// RetractOuter moves c, Q and Theta along tangent coordinates, Q with the polar
// retraction.
func (a *Hessian) RetractOuter(dst, x framework.Point, v []float64) error {
	a.prepare(x)
	f, fr := a.F, a.Frame
	fr.Complete()
	copy(dst[objective.BlockC], f.C)
	for i := range a.qFrom {
		floats.AddScaled(dst[objective.BlockC], v[i], fr.Axis(a.TermsOf(i)[0].Row))
	}
	copy(fr.moved, f.QT)
	thetaFrom := a.P - f.Q*f.S
	for i := a.qFrom; i < thetaFrom; i++ {
		for _, u := range a.TermsOf(i) {
			k := u.Feature - 1
			floats.AddScaled(fr.moved[k*f.D:(k+1)*f.D], u.Sign*v[i], fr.Axis(u.Row))
		}
	}
	if !fr.polar.Orthonormalize(fr.moved, f.D) {
		return fmt.Errorf("scqm: the move of Q is not finite: %w", framework.ErrNonFinite)
	}
	dense.Transpose(dst[objective.BlockQ], fr.moved, f.M, f.D)
	floats.AddTo(dst[objective.BlockTheta], f.Theta, v[thetaFrom:])
	return nil
}
