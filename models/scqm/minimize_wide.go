package scqm

import (
	"context"
	"fmt"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/internal/memory"
	"github.com/scqm/scqm/models/scqm/internal/columns"
	"github.com/scqm/scqm/solvers"
)

const (
	// maxBorder bounds the unknowns of Theta and tau that [columns] leaves, whose matrix is dense.
	maxBorder = 1500
	// maxBordered bounds the numbers of that border by all unknowns of columns: half a GiB.
	maxBordered = 1 << 26
)

// endsByColumns reports whether a solver whose second derivatives would be too large has a way to the end of the fit all the
// same: under l1, by [columns], after the solver that would run otherwise.
func (p *Problem) endsByColumns(solver framework.Solver) bool {
	if a, ok := solver.(solvers.Continuation); ok {
		solver = a.Inner
	}
	_, newton := solver.(solvers.Newton)
	_, fits := p.ArrowheadShape()
	s, x := p.Shape(), p.Data()
	border := s.Q*s.S + x.N*s.Latent
	return newton && !fits && s.S > 0 && p.PlainLoss().Name() == "l1" && x.Weights == nil && !x.Missing &&
		border <= maxBorder && border <= maxBordered/(s.D*(s.M+1))
}

// chooseSolver returns what runs where the solver given, nil for that which suits the problem, is asked for, and refuses what cannot.
// Where [columns] follows that is another one than Newton's method, and the memory is held.
func (p *Problem) chooseSolver(solver framework.Solver) (framework.Solver, *memory.Reservation, error) {
	p.byColumns = solver != nil && p.endsByColumns(solver)
	if solver == nil || p.byColumns {
		solver = solvers.Auto(p)
	}
	if err := p.servedBy(solver); err != nil || !p.byColumns {
		return solver, nil, err
	}
	s, x := p.Shape(), *p.Data()
	held, err := newFootprint(x, p.Loss(), s.Latent, s.S, p.Threads()).reserve("fit", x, float64(columns.Numbers(x.N, x.D, s.Latent, s.S)))
	return solver, held, err
}

// thenNewton is what the solver of a run is called by where columns were eliminated after it.
const thenNewton = ", then newton"

// noteColumns adds to the notes what followed the solver.
func (p *Problem) noteColumns(notes []string, solver framework.Solver, run *framework.Result) []string {
	if !p.byColumns || !strings.HasSuffix(run.Solver, thenNewton) {
		return notes
	}
	return append(notes, "newton went on from the end of "+solver.Name()+", with the columns eliminated")
}

// endByColumns goes on from the end of a run. What it finds is kept where the cost is lower; the run is converged where
// multipliers show that.
func (p *Problem) endByColumns(ctx context.Context, run *framework.Result, o framework.Options) error {
	s, x := p.Shape(), p.Data()
	from := columns.Sheet{C: run.Point[BlockC], Q: run.Point[BlockQ], Theta: run.Point[BlockTheta], Tau: run.Point[BlockTau]}
	f := columns.NewFinish(columns.New(x.X, x.N, s.D, s.Latent, s.S, p.Lambda), from)
	tol := o.Tolerance
	if tol == 0 {
		tol = framework.DefaultTolerance
	}
	f.Run(tol, func() bool { return ctx.Err() != nil || o.OutOfTime() })
	run.Iterations += f.Iterations
	run.Solver += thenNewton
	if !(f.Cost < run.Cost) {
		p.nameEnd(run, o, tol)
		return nil
	}
	run.Point, run.Cost = framework.Point{f.Sheet.C, f.Sheet.Q, f.Sheet.Theta, f.Sheet.Tau}, f.Cost
	if ctx.Err() != nil {
		return nil // which is told of the run when it is judged
	}
	dual := make([]float64, len(f.Multipliers))
	dense.Transpose(dual, f.Multipliers, s.D, x.N)
	p.SetMultipliers(dual)
	var err error
	if run.Cost, err = p.Evaluate(nil, run.Point); err != nil {
		return err
	}
	if err := p.Stationarity(run.Stationarity, run.Point); err != nil {
		return err
	}
	p.nameEnd(run, o, tol)
	return nil
}

// nameEnd says how a run has ended.
func (p *Problem) nameEnd(run *framework.Result, o framework.Options, tol float64) {
	worst := 0
	for k, v := range run.Stationarity {
		if v > run.Stationarity[worst] {
			worst = k
		}
	}
	residual := fmt.Sprintf("%.2g in block %s", run.Stationarity[worst], p.Blocks()[worst].Name)
	switch {
	case run.Stationarity[worst] <= tol:
		run.Status = framework.Converged
		run.Message = fmt.Sprintf("first-order stationary: residual %s, within the tolerance %.2g", residual, tol)
	case o.OutOfTime():
		run.Status = framework.TimeLimit
		run.Message = fmt.Sprintf("stopped at the time limit of %v, with columns eliminated; first-order residual %s", o.TimeLimit, residual)
	default:
		run.Status = framework.Stalled
		run.Message = fmt.Sprintf("columns eliminated, the first-order residual is %s, above the tolerance %.2g", residual, tol)
	}
}
