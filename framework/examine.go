package framework

import (
	"errors"
	"fmt"
	"math"
)

// Examination looks past the test of first order: small gradients are found at
// saddles, on plateaus and where rows are assigned to the wrong place too. When
// it takes place depends on the path only, never on the tolerance, so that a
// run to a larger tolerance is the beginning of one to a smaller tolerance.

const (
	// firstExamined and examinedEvery are the stationarities at which a run is
	// examined: at the first check that finds no more than 1e-4, then no more
	// than 1e-6, 1e-8 and so on. It is also where the solver gets no further.
	firstExamined, examinedEvery = 1e-4, 1e-2
	// minGain and probeGain are the relative decreases of the cost from which on a
	// relocation is worth more iterations, and a probe finds anything.
	minGain, probeGain = 1e-5, 1e-8
	// restDecrease is the decrease of the cost in an iteration, relative to the
	// cost at the start, above which a run goes on whatever its gradient, unless
	// the stationarity is at most noGradient.
	restDecrease, noGradient = 1e-8, 1e-8
	// worthRestart is the number of iterations that a solver, which begins anew,
	// would need to gain as much.
	worthRestart = 100
	// maxExamined bounds the number of thresholds.
	maxExamined = 8
)

// finding is what an examination finds.
type finding int

const (
	nothing   finding = iota
	lower             // a lower cost, for which it is not worth to begin anew
	elsewhere         // a lower cost, from which the solver has begun anew
)

// thresholds returns how many of the stationarities at which runs are examined
// are no less than s.
func thresholds(s float64) int {
	// The factor keeps powers of ten on the right side of the rounding.
	k := math.Floor(math.Log(firstExamined/s*(1+1e-9))/-math.Log(examinedEvery)) + 1
	return int(min(max(k, 0), maxExamined))
}

// conclude applies the test of first order and, where that is due, the
// examination. decrease is that of the last iteration, ended
// says that the solver gets no further.
func (r *run) conclude(decrease float64, ended bool) (Status, bool, error) {
	converged, err := r.certify()
	switch {
	case errors.Is(err, errStop):
		return r.evaluator.stopped, true, nil
	case err != nil:
		return Failed, true, err
	}
	if !ended && !r.rests(decrease) {
		return 0, false, nil
	}
	if level := thresholds(worst(r.stationarity) / r.unit); ended || level > r.examined {
		found, err := r.examine(decrease, ended)
		switch {
		case errors.Is(err, errStop):
			return r.evaluator.stopped, true, nil
		case err != nil:
			return Failed, true, err
		case found == elsewhere:
			r.examined = 0
			return 0, false, nil
		case found == lower:
			return 0, false, nil // which the solver finds as soon by itself
		}
		r.examined = max(r.examined, level)
		if ended {
			r.examined = maxExamined
		}
	}
	if !converged {
		return Stalled, ended, nil
	}
	// A point that is refuted ends the run too: the solver goes nowhere better.
	x, _ := r.state.Iterate()
	stands, err := r.stands(x)
	if err != nil {
		return Failed, true, err
	}
	return pick(stands, Converged, Stalled), true, nil
}

// rests reports whether the run may be at its end: a small gradient does not say
// so while an iteration lowers the cost by much, as in a long valley, unless it is
// next to none. Where the solver tells its gradient, that alone counts: the cost may
// have any constant added to it.
func (r *run) rests(decrease float64) bool {
	if _, graded := r.gradientNorm(); graded {
		return true
	}
	size := math.Abs(r.startCost())
	if !r.certified() {
		size = math.Abs(r.startCost() - r.best)
	}
	return r.options.FirstOrder || decrease <= restDecrease*size || worst(r.stationarity) <= noGradient*r.unit
}

// examine looks for a lower cost beyond the reach of the solver, and begins
// anew from there.
func (r *run) examine(decrease float64, ended bool) (finding, error) {
	if r.options.FirstOrder {
		return nothing, nil
	}
	if moved, err := r.relocate(); moved || err != nil {
		return elsewhere, err
	}
	if !(worst(r.stationarity) <= firstExamined*r.unit) && (r.certified() || !ended) { // a run may begin at a saddle
		return nothing, nil
	}
	if ended {
		decrease = 0
	}
	return r.probe(math.Max(probeGain*math.Abs(r.best), worthRestart*decrease))
}

// relocateEvery is the least number of passes between two relocations while they find lower
// costs: about as many as descent needs to follow. There are as many at least as the last one
// took, so that relocations are at most half of the work.
const relocateEvery = 20

// relocate begins anew from a better place that an explorer finds.
func (r *run) relocate() (bool, error) {
	p, ok := As[explorer](r.evaluator.problem)
	if r.relocateDue = 0; !ok {
		return false, nil
	}
	x, before := r.bestPoint.Clone(), r.evaluator.counts.Passes
	moved, err := p.Relocate(r.evaluator, x)
	if !moved || err != nil {
		return false, err
	}
	work := r.evaluator.counts.Passes - before
	moved, err = r.restart(x, minGain*math.Abs(r.best))
	if moved {
		r.relocateDue = r.evaluator.counts.Passes + max(relocateEvery, work)
	}
	return moved, err
}

// relocateAgain relocates some time after the last relocation, where that found a lower
// cost: rows follow each other, and it is not worth while to wait until the
// solver is near a minimum that is left again.
func (r *run) relocateAgain() (bool, error) {
	if r.relocateDue == 0 || r.evaluator.counts.Passes < r.relocateDue {
		return false, nil
	}
	return r.relocate()
}

// probe begins anew from a point that is lower by more than gain, if there is one
// along the lowest curvatures, and tells of one that is lower by less.
func (r *run) probe(gain float64) (finding, error) {
	p, ok := As[explorer](r.evaluator.problem)
	if !ok {
		return nothing, nil
	}
	x := r.bestPoint.Clone()
	found, err := p.Probe(r.evaluator, x)
	switch {
	case err != nil || !(found > probeGain*math.Abs(r.best)):
		return nothing, err
	case !(found > gain):
		return lower, nil
	}
	moved, err := r.restart(x, gain)
	return pick(moved, elsewhere, nothing), err
}

// restart begins anew from x if its cost is lower than the best by more than
// gain.
func (r *run) restart(x Point, gain float64) (bool, error) {
	state, err := r.solver.Init(r.evaluator, x)
	if err != nil {
		return false, err
	}
	if _, cost := state.Iterate(); !(cost < r.best-gain) {
		return false, nil
	}
	r.state, r.slow, r.inStep = state, 0, false
	r.keepBest()
	return true, nil
}

// examinedLast reports whether nothing lower was found beyond a point within the
// tolerance where a run ended for another reason.
func (r *run) examinedLast(res *Result) (bool, error) {
	if n := len(r.history); n > 1 && res.Status == MaxIterations {
		r.stationarity = res.Stationarity
		if !r.rests((r.history[n-2].Cost - r.history[n-1].Cost) * r.by) {
			return false, nil
		}
	}
	if r.examined >= thresholds(r.tolerance()/r.unit) {
		return true, nil
	}
	if res.Status != MaxIterations {
		return false, nil
	}
	res.Point = res.Point.Clone() // which stays, whatever is found
	found, err := r.examine(0, true)
	if errors.Is(err, errStop) {
		return false, nil
	}
	return found == nothing, err
}

// stands reports whether neither the problem nor the solver has anything against a
// point.
func (r *run) stands(x Point) (bool, error) {
	r.refutation = ""
	problem, _ := As[refuter](r.evaluator.problem)
	state, _ := r.state.(refuter)
	for _, p := range []refuter{problem, state} {
		if p == nil {
			continue
		}
		r.evaluator.lastValid = false
		reason, err := p.Refute(x)
		if err != nil {
			return false, fmt.Errorf("refutation: %w", err)
		}
		if reason != "" {
			r.refutation = reason
			return false, nil
		}
	}
	return true, nil
}

func worst(stationarity []float64) float64 {
	w := 0.0
	for _, s := range stationarity {
		if !(s <= w) {
			w = s
		}
	}
	return w
}
