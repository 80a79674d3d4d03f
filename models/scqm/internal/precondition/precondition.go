package precondition

import (
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/par"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// preconditioner is the block diagonal of the Gauss-Newton matrix of the cost,
// with the Hessian of the loss replaced by weights W_i (see [objective.LossWeights]). With
// y_i = [1; z_i] and E_i the Jacobian of z at tau_i,
//
//	row j of [c Q]   sum_i W_i,jj y_i y_i'            (1+m) x (1+m)
//	Theta            sum_i phi_i phi_i' (x) V'W_iV    qs x qs, plus the penalty
//	tau_i            E_i'Q'W_iQ E_i                   d x d
//
// Its inverse is the initial matrix of L-BFGS. If Theta has many entries, V'W_iV is replaced by the mean of its
// diagonal. Otherwise Tau may be coupled with the others: see [coupling].
type preconditioner struct {
	weights objective.LossWeights

	products int       // (1+m)(2+m)/2, the entries of yy' on and below the diagonal
	frame    []float64 // D lanes of the Cholesky factors of the sums of them
	theta    []float64 // the factor for Theta: of qs x qs or of q x q
	whole    bool      // Theta's system is qs x qs
	tau      []float64 // n factors d x d
	parts    []*thetaSums

	coupling *coupling // nil where rows are short
	coupled  bool      // near enough to a minimum for it

	lanes  []float64 // (1+m) x D
	column []float64 // q
}

// BlockJacobi preconditions an objective by the inverse of a [preconditioner].
type BlockJacobi struct {
	o             *objective.Objective
	f             *sheet.Sheet // made by the first BuildPreconditioner
	approximation *preconditioner
}

func New(o *objective.Objective) *BlockJacobi { return &BlockJacobi{o: o} }

func newPreconditioner(o *objective.Objective, f *sheet.Sheet) *preconditioner {
	h := &preconditioner{
		weights: objective.NewLossWeights(o), products: (1 + f.M) * (2 + f.M) / 2,
		tau: make([]float64, o.Data().N*f.Latent*f.Latent), column: make([]float64, f.Q),
	}
	h.frame, h.lanes = make([]float64, f.D*h.products), make([]float64, (1+f.M)*f.D)
	h.whole = f.Q*f.S <= objective.MaxCoupled
	size := f.Q
	if h.whole {
		size = f.Q * f.S
	}
	h.theta = make([]float64, size*size)
	h.parts = make([]*thetaSums, par.Shards(o.Data().N))
	for i := range h.parts {
		h.parts[i] = newThetaSums(f, size)
	}
	if h.whole && Couples(f.Shape) {
		h.coupling = newCoupling(o)
		for _, t := range h.parts {
			t.coupling = newCouplingSums(f, h.coupling.size)
		}
	}
	return h
}

// BuildPreconditioner prepares, at x, the inverse of an approximation of the Hessian, with the IRLS weights as the
// Hessian of the loss. It consists of the diagonal blocks, which are coupled if rows are long and the decrement at x
// is small.
func (p *BlockJacobi) BuildPreconditioner(x framework.Point) (float64, error) {
	o := p.o
	if p.f == nil {
		p.f = o.NewSheet()
		p.approximation = newPreconditioner(o, p.f)
	}
	f, h, passes := p.f, p.approximation, 0.0
	if !o.Keeps(x) {
		if err := o.KeepResiduals(x); err != nil {
			return 0, err
		}
		passes++
	}
	f.Load(x[objective.BlockC], x[objective.BlockQ], x[objective.BlockTheta])
	if err := h.weights.Compute(o); err != nil {
		return passes, fmt.Errorf("scqm: loss %s: weights: %w", o.Loss().Name(), err)
	}
	h.sumFrame(o, f, x[objective.BlockTau])
	h.sumRows(o, f, x[objective.BlockTau])
	if h.coupling != nil {
		var err error
		if h.coupled, err = h.coupling.near(o, x, h, f); err != nil {
			return passes, err
		}
		passes++
	}
	return passes + h.passes(f), o.Context().Err()
}

// passes is the cost of a build in passes of 2nDm operations.
func (h *preconditioner) passes(f *sheet.Sheet) float64 {
	m := float64(f.M)
	return 1/m + float64(h.products)/m + (m+1)/2
}

// Precondition writes the approximate inverse Hessian times v into dst.
func (p *BlockJacobi) Precondition(dst, v framework.Point) {
	h, f := p.approximation, p.f
	for k := range dst {
		copy(dst[k], v[k])
	}
	if h.coupled {
		h.coupling.solve(p.o, h, f, dst)
		return
	}
	h.solveFrame(f, dst[objective.BlockC], dst[objective.BlockQ])
	h.solveTheta(f, dst[objective.BlockTheta])
	dd := f.Latent * f.Latent
	par.Do(p.o.Threads(), len(h.parts), func(_, shard int) {
		lo, hi := par.Bounds(p.o.Data().N, shard)
		for i := lo; i < hi; i++ {
			dense.SolveCholesky(dst[objective.BlockTau][i*f.Latent:(i+1)*f.Latent], h.tau[i*dd:(i+1)*dd], f.Latent)
		}
	})
}

// solveFrame solves the systems of the rows of [c Q].
func (h *preconditioner) solveFrame(f *sheet.Sheet, c, q []float64) {
	copy(h.lanes, c)
	dense.Transpose(h.lanes[f.D:], q, f.D, f.M)
	dense.SolveCholeskyLanes(h.lanes, h.frame, 1+f.M, f.D)
	copy(c, h.lanes)
	dense.Transpose(q, h.lanes[f.D:], f.M, f.D)
}

// solveTheta solves the system of Theta, column by column where it does not
// couple them.
func (h *preconditioner) solveTheta(f *sheet.Sheet, theta []float64) {
	if h.whole {
		dense.SolveCholesky(theta, h.theta, len(theta))
		return
	}
	for k := range f.S {
		for a := range h.column {
			h.column[a] = theta[a*f.S+k]
		}
		dense.SolveCholesky(h.column, h.theta, f.Q)
		for a, v := range h.column {
			theta[a*f.S+k] = v
		}
	}
}
