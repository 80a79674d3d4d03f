package scqm

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/solvers"
)

// gentleSolver returns what fits a loss with kinks where sheets bend gently: two stages of rounding are
// enough for the finish. Pairs of steps lead elsewhere in 3 of 1,000 fits by losses with a gradient, and gain no time
// there.
func gentleSolver(loss framework.Loss, D int) framework.Solver {
	early := solvers.Continuation{
		Inner: smallSolver, Finish: true, Early: true, Last: 0.3, FirstTolerance: gentleDecrease, LastTolerance: gentleDecrease,
	}
	if jumps, err := objective.Jumps(loss, D, 1); err == nil && !jumps {
		early.Inner = solvers.Newton{Straight: true, Implicit: true}
	}
	return early
}

// manyMinima reports whether gentle sheets have many minima too, as under losses by entry whose derivatives
// jump: the search for lower ones finds some in one of twelve fits.
func manyMinima(loss framework.Loss, D int) bool {
	jumps, err := objective.Jumps(loss, D, 1)
	return err == nil && jumps && framework.StructureOf(loss) == framework.StructureSeparable
}

// gentleDecrease is the relative decrease at which the stages before an early finish end.
const gentleDecrease = 1e-4

// gentleRidge is the least ridge at which losses with kinks are fitted so. Below, most sheets of noisy rows bend more.
const gentleRidge = 1

// gentleExtent is the curvature times extent below which sheets have no folds.
const gentleExtent = 1

// gentleIterations bounds the iterations with those of trials; beyond, Learn does it.
const gentleIterations = 1000

// gentle fits by a loss with kinks until the first-order residual is within the tolerance, without
// the search for lower points near by that [Learn] has ([solvers.PrimalDual], [framework.Solve]) but where the finish
// crawls, or manyMinima says so. It returns nil where that does not come about, or the sheet does not bend so gently that this search
// finds next to nothing.
func (w *smallFits) gentle(c Config, x Data) (*Fit, error) {
	for _, f := range w.fitters {
		tolerance := cmp.Or(c.Options.Tolerance, framework.DefaultTolerance)
		before := f.evaluator.Counts().Evaluations
		f.problem.SetData(x)
		f.evaluator.SetMultipliers(nil) // those of another set
		if err := f.begin(); err != nil {
			return nil, errorUnlessSmall(err)
		}
		if !f.seed.spans() {
			return nil, nil
		}
		run := &framework.Result{Stationarity: make([]float64, objective.NumBlocks)}
		kkt, folded, err := f.followKinks(run, x, tolerance)
		if err != nil || folded {
			return nil, errorUnlessSmall(err)
		}
		if kkt == nil {
			continue
		}
		at, _ := f.state.Iterate()
		m := f.problem.model(at)
		extent := m.CurvatureExtent(m.Tau, x.Weights)
		if extent > gentleExtent {
			return nil, nil
		}
		if more, err := f.problem.leaves(at, extent); err != nil || more {
			return nil, err
		}
		run.Solver = f.solver.Name()
		if s := f.state.(framework.Succeeded).Successor(); s != "" {
			run.Solver = strings.Join([]string{run.Solver, s}, ", then ")
		}
		run.Counts.Evaluations = f.evaluator.Counts().Evaluations - before
		return w.converged(c, f, run, kkt, m, extent), nil
	}
	return nil, nil
}

// followKinks takes steps until the first-order residual is within the tolerance. It returns nil where it
// does not come to that, and reports whether a stage ended at a sheet that does not bend gently.
func (f *Fitter) followKinks(run *framework.Result, x Data, tolerance float64) (kkt *KKT, folded bool, err error) {
	s := f.state.(*solvers.ContinuationState)
	for run.Iterations < gentleIterations {
		stage := s.Stage
		_, before := s.Iterate()
		err := f.solver.Step(f.evaluator, s)
		stuck := errors.Is(err, framework.ErrNoProgress)
		if err != nil && !stuck {
			return nil, false, err
		}
		run.Iterations++
		if s.Stage > stage {
			m := f.problem.model(s.X)
			if m.CurvatureExtent(m.Tau, x.Weights) > gentleExtent {
				return nil, true, nil
			}
		}
		at, after := s.Iterate()
		if !stuck && (s.Pending() || before-after > smallDecrease*math.Abs(before)) {
			continue
		}
		k, err := f.problem.FirstOrder(run.Stationarity, at)
		if err != nil {
			return nil, false, err
		}
		if slices.Max(run.Stationarity) <= tolerance {
			return (*KKT)(&k), false, nil
		}
		if stuck {
			break
		}
	}
	return nil, false, nil
}
