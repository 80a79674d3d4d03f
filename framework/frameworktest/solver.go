package frameworktest

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/internal/trial"
)

// SolverOptions define the cases on which a solver is checked.
type SolverOptions struct {
	// Cases are problems in addition to those of [SolverCases].
	Cases []SolverCase
	// Options are the limits of the runs that must find the known answer.
	Options framework.Options
	// Without lists laws that are not tested: [StoredState], [Panic].
	Without []string
}

// Laws that do not apply to solvers in other languages.
const (
	StoredState = "stored state"
	Panic       = "panic"
)

// CheckSolver tests the laws of framework.Solver on every case. The solver finds the known answer, reports its ending
// correctly, and repeats itself bit for bit. A constant added to the cost does not matter. If its states report their
// gradients (graded), it ends at the first iterate within the tolerance. It keeps within its budget, ends when it is
// cancelled, and keeps the best point if the cost stops being finite or the problem panics. It continues from a
// stored state bit for bit, with as much work. Its iterates on a manifold with a metric are those on an isometric one
// without. If it reports that it cannot serve a case (selective), it refuses the case before any evaluation; it must
// serve at least one.
func CheckSolver(s framework.Solver, o SolverOptions) *Report {
	r := &Report{Subject: s.Name()}
	served := 0
	for _, c := range append(SolverCases(), o.Cases...) {
		k := &solverCheck{s: s, c: c, o: o.Options}
		if lacks := k.lacks(); lacks != "" {
			r.try("refusal of "+c.Name, k.refusal)
			continue
		}
		served++
		for _, law := range []struct {
			name  string
			trial func() error
		}{
			{"known answer", k.knownAnswer},
			{"start unchanged", k.startUnchanged},
			{"deterministic", k.deterministic},
			{"added constant", k.addedConstant},
			{"first within tolerance", k.firstWithin},
			{"evaluation budget", k.budget},
			{"cancellation", k.cancellation},
			{"non-finite cost", k.nonFinite},
			{Panic, k.panics},
			{StoredState, k.storedState},
		} {
			if !slices.Contains(o.Without, law.name) {
				r.try(law.name+" on "+c.Name, law.trial)
			}
		}
	}
	metric := &solverCheck{s: s, c: SolverCase{New: func() framework.Problem { return logDistances{n: 5} }}, o: o.Options}
	if metric.lacks() == "" {
		r.try("isometry", metric.isometry)
	}
	r.add("serves", served > 0, "%d of the cases", served)
	return r
}

// TestSolver reports every broken law to t.
func TestSolver(t TB, s framework.Solver, o SolverOptions) {
	t.Helper()
	CheckSolver(s, o).test(t)
}

// solverCheck is a solver on one case.
type solverCheck struct {
	s framework.Solver
	c SolverCase
	o framework.Options
}

func (k *solverCheck) solve(ctx context.Context, p framework.Problem, o framework.Options) (*framework.Result, error) {
	return framework.Solve(ctx, p, k.c.Start, k.s, o)
}

func (k *solverCheck) knownAnswer() error {
	res, err := k.solve(context.Background(), k.c.New(), k.o)
	if err != nil {
		return err
	}
	if !(res.Cost <= k.c.Best+k.c.Tolerance) {
		return fmt.Errorf("ends at %v, want %v within %g (%v: %s)", res.Cost, k.c.Best, k.c.Tolerance, res.Status, res.Message)
	}
	return k.truthful(res)
}

// truthful verifies what the result reports about its point.
func (k *solverCheck) truthful(res *framework.Result) error {
	p := k.c.New()
	blocks := p.Blocks()
	grad := framework.NewPoint(blocks)
	cost, err := p.Evaluate(grad, res.Point)
	if err != nil {
		return err
	}
	if cost != res.Cost {
		return fmt.Errorf("reports a cost of %v at a point where it is %v", res.Cost, cost)
	}
	norms := make([]float64, len(blocks))
	for j, b := range blocks {
		b.Gradient(grad[j], res.Point[j], grad[j])
		norms[j] = b.Norm(res.Point[j], grad[j])
	}
	if m, ok := framework.As[framework.Certifier](p); ok {
		if err := m.Stationarity(norms, res.Point); err != nil {
			return err
		}
	}
	norm := slices.Max(norms)
	if (res.Status == framework.Converged) != (norm <= res.Tolerance) {
		return fmt.Errorf("says %v where the stationarity is %g and the tolerance %g", res.Status, norm, res.Tolerance)
	}
	return nil
}

func (k *solverCheck) startUnchanged() error {
	before := k.c.Start.Clone()
	if _, err := k.solve(context.Background(), k.c.New(), framework.Options{MaxIterations: 3}); err != nil {
		return err
	}
	if !before.Equal(k.c.Start) {
		return errors.New("changes the point it starts from")
	}
	return nil
}

func (k *solverCheck) deterministic() error {
	first, err := k.solve(context.Background(), k.c.New(), k.o)
	if err != nil {
		return err
	}
	second, err := k.solve(context.Background(), k.c.New(), k.o)
	if err != nil {
		return err
	}
	if first.Cost != second.Cost || !first.Point.Equal(second.Point) {
		return errors.New("a second run ends at other bits")
	}
	return nil
}

// probe counts the evaluations of a run and can modify their costs.
type probe struct {
	calls   int
	on      int     // the call that triggers do
	do      func()  // nil: nothing
	nanFrom int     // the first call whose cost is NaN, as are all later ones; 0: none
	by      float64 // added to every cost
}

// of returns a context whose runs are probed.
func (p *probe) of(ctx context.Context) context.Context {
	return trial.With(ctx, &trial.Trial{
		Before: func() {
			p.calls++
			if p.do != nil && p.calls == p.on {
				p.do()
			}
		},
		Cost: func(cost float64) float64 {
			if p.nanFrom > 0 && p.calls >= p.nanFrom {
				return math.NaN()
			}
			return cost + p.by
		},
	})
}

// budget counts the actual evaluations.
func (k *solverCheck) budget() error {
	for _, limit := range []int{1, 2, 7, 20} {
		p := &probe{}
		o := framework.Options{MaxEvaluations: limit, CheckEvery: 1 << 30, MinRelativeDecrease: -1, MaxIterations: 50}
		res, err := k.solve(p.of(context.Background()), k.c.New(), o)
		if err != nil {
			return err
		}
		const certificate = 5 // gradient and a cost beside the start, gradient at the last iterate, cost and gradient at the returned point
		if p.calls > limit+certificate {
			return fmt.Errorf("makes %d evaluations with a budget of %d", p.calls, limit)
		}
		ended := res.Status == framework.MaxEvaluations || res.Status == framework.Converged
		if !ended && p.calls > limit {
			return fmt.Errorf("says %v after a budget of %d evaluations", res.Status, limit)
		}
	}
	return nil
}

func (k *solverCheck) cancellation() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := &probe{on: 5, do: cancel}
	start, err := k.c.New().Evaluate(nil, k.c.Start)
	if err != nil {
		return err
	}
	res, err := k.solve(p.of(ctx), k.c.New(), framework.Options{MinRelativeDecrease: -1, Tolerance: -1})
	if err != nil {
		return err
	}
	if res.Status != framework.Cancelled || p.calls > 5 {
		return fmt.Errorf("says %v and makes %d evaluations after it is cancelled in the fifth", res.Status, p.calls)
	}
	if !(res.Cost <= start) {
		return fmt.Errorf("ends at %v, above the start %v", res.Cost, start)
	}
	return nil
}

// nonFinite checks a solver whose cost is NaN from the third evaluation on. It must fail with ErrNonFinite, and
// return a finite point.
func (k *solverCheck) nonFinite() error {
	p := &probe{nanFrom: 3}
	res, err := k.solve(p.of(context.Background()), k.c.New(), framework.Options{MaxEvaluations: 200})
	if res == nil {
		return fmt.Errorf("keeps no result: %w", err)
	}
	if !errors.Is(err, framework.ErrNonFinite) || res.Status != framework.Failed {
		return fmt.Errorf("says %v and %v where the cost is NaN for ever", res.Status, err)
	}
	if !res.Point.Finite() || math.IsNaN(res.Cost) || math.IsInf(res.Cost, 0) {
		return errors.New("returns a point or a cost that is not finite")
	}
	return nil
}

func (k *solverCheck) panics() error {
	p := &probe{on: 4, do: func() { panic("deliberate") }}
	res, err := k.solve(p.of(context.Background()), k.c.New(), framework.Options{MinRelativeDecrease: -1, Tolerance: -1})
	if !errors.Is(err, framework.ErrPanic) || res == nil || res.Status != framework.Failed {
		return fmt.Errorf("a panic of the problem ends in %v", err)
	}
	return nil
}

// storedState continues from a state and from a copy of it that was encoded and decoded by gob.
func (k *solverCheck) storedState() error {
	e := framework.NewEvaluator(context.Background(), k.c.New())
	state, err := k.s.Init(e, k.c.Start.Clone())
	if err != nil {
		return err
	}
	if err := k.steps(e, state, 3); err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(state); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	restored := reflect.New(reflect.TypeOf(state).Elem()).Interface().(framework.State)
	if err := gob.NewDecoder(&buf).Decode(restored); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	before := e.Counts().Passes
	if err := k.steps(e, state, 3); err != nil {
		return err
	}
	fresh := framework.NewEvaluator(context.Background(), k.c.New())
	if v, ok := restored.(resumable); ok {
		if err := v.Resume(fresh); err != nil {
			return fmt.Errorf("revive: %w", err)
		}
	}
	revived := fresh.Counts().Passes
	if err := k.steps(fresh, restored, 3); err != nil {
		return err
	}
	work, again := e.Counts().Passes-before, fresh.Counts().Passes-revived
	if math.Abs(work-again) > 1e-6*work {
		return fmt.Errorf("a restored run takes %v passes, the original %v", again, work)
	}
	x, fx := state.Iterate()
	y, fy := restored.Iterate()
	if fx != fy || !x.Equal(y) {
		return fmt.Errorf("a restored run reaches %v, the original %v", fy, fx)
	}
	return nil
}

func (k *solverCheck) steps(e *framework.Evaluator, s framework.State, n int) error {
	for range n {
		if err := k.s.Step(e, s); err != nil && !errors.Is(err, framework.ErrNoProgress) {
			return err
		}
	}
	return nil
}
