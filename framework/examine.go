package framework

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Examination looks past the test of first order: small gradients are found at
// saddles, on plateaus and where rows are assigned to the wrong place too. When
// it takes place depends on the path only, never on the tolerance, so that a
// run to a larger tolerance is the beginning of one to a smaller tolerance.

const (
	// firstExamined and examinedEvery define the stationarities at which a run is examined: at the first check at
	// which it is at most 1e-4, then at most 1e-6, 1e-8 and so on. A run is also examined when the solver makes no
	// further progress.
	firstExamined, examinedEvery = 1e-4, 1e-2
	// minGain is the least relative decrease of the cost for which a relocation is worth more iterations. probeGain
	// is the least relative decrease that a probe reports.
	minGain, probeGain = 1e-5, 1e-8
	// restDecrease is a decrease of the cost in an iteration, relative to the cost at the start. Above it a run
	// continues whatever its gradient, unless the stationarity is at most noGradient.
	restDecrease, noGradient = 1e-8, 1e-8
	// worthRestart is a number of iterations. A probe is worth a restart if the solver, which starts again, would
	// need this many to gain as much.
	worthRestart = 100
	// maxExamined bounds the number of thresholds.
	maxExamined = 8
)

// finding is the result of an examination.
type finding int

const (
	nothing   finding = iota
	lower             // a lower cost that is not worth a restart
	elsewhere         // a lower cost, from which the solver has restarted
)

// thresholds returns how many of the stationarities at which runs are examined are at least s.
func thresholds(s float64) int {
	// The factor keeps powers of ten on the right side of the rounding.
	k := math.Floor(math.Log(firstExamined/s*(1+1e-9))/-math.Log(examinedEvery)) + 1
	return int(min(max(k, 0), maxExamined))
}

// conclude applies the first-order test and, if due, the examination. decrease is that of the last iteration; ended
// reports that the solver makes no further progress.
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
	if level := thresholds(slices.Max(r.stationarity) / r.unit); ended || level > r.examined {
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

// rests reports whether the run may be at its end. A small gradient is not sufficient while an iteration still lowers
// the cost by much, as in a long valley, unless the gradient is almost zero. If the solver reports its gradient, only
// the gradient counts: the cost may have any added constant.
func (r *run) rests(decrease float64) bool {
	if _, graded := r.gradientNorm(); graded {
		return true
	}
	size := math.Abs(r.startCost())
	if !r.certified() {
		size = math.Abs(r.startCost() - r.best)
	}
	return r.options.FirstOrder || decrease <= restDecrease*size || slices.Max(r.stationarity) <= noGradient*r.unit
}

// examine looks for a lower cost that the solver cannot reach by descent, and restarts from there.
func (r *run) examine(decrease float64, ended bool) (finding, error) {
	if r.options.FirstOrder {
		return nothing, nil
	}
	if moved, err := r.relocate(); moved || err != nil {
		return elsewhere, err
	}
	if !(slices.Max(r.stationarity) <= firstExamined*r.unit) && (r.certified() || !ended) { // a run may begin at a saddle
		return nothing, nil
	}
	if ended {
		decrease = 0
	}
	return r.probe(math.Max(probeGain*math.Abs(r.best), worthRestart*decrease))
}

// relocateEvery is the least number of passes between two relocations while they find lower costs: about as many as
// descent needs to adapt. The interval is also at least the number of passes of the last relocation, so that
// relocations are at most half of the work.
const relocateEvery = 20

// relocate restarts from a point of lower cost that an explorer finds.
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

// relocateAgain relocates some time after a relocation that found a lower cost. Rows move one after another, so
// waiting until the solver is near a minimum, which is then left again, would waste time.
func (r *run) relocateAgain() (bool, error) {
	if r.relocateDue == 0 || r.evaluator.counts.Passes < r.relocateDue {
		return false, nil
	}
	return r.relocate()
}

// probe restarts from a point that is lower by more than gain, if there is one along the directions of lowest
// curvature. It reports one that is lower by less.
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

// restart restarts from x if its cost is lower than the best by more than gain.
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

// examinedLast reports whether no lower cost was found from a point within the tolerance, for a run that ended for
// another reason.
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

// stands reports whether neither the problem nor the solver refutes a point.
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
