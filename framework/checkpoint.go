package framework

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"
)

// Checkpoint configures how a run is stored, so that another run can continue it bit for bit. The solver must have a
// method NewState, see [Solver].
type Checkpoint struct {
	// Every is the least time between two stores; 0 stands for 10 s, a negative number stores after every iteration.
	// A run that ends normally is stored, too.
	Every time.Duration
	// Fingerprint identifies the problem and its settings. A stored run with another fingerprint is rejected.
	Fingerprint string
	// Program identifies the program, on whose build the last bits of a run depend. A stored run of another program
	// is rejected. "" stands for the version of Go and the SHA-256 of the executable file. Set a name of your own if
	// a run may continue under another build with slightly different numbers.
	Program string
	// Store must store the output of write completely or not at all; nil stores nothing. An error fails the run.
	Store func(write func(io.Writer) error) error
	// Stored is a stored run to continue; nil starts a new one. The reader must end where the run ends. A SHA-256
	// detects damage, which is an error. Errors include the name of the reader if it has one, like *os.File.
	Stored io.Reader
}

// program returns the program identifier that is stored with runs.
func (c *Checkpoint) program() string {
	if c.Program != "" {
		return c.Program
	}
	return thisProgram()
}

// storedRun is a run between two iterations.
type storedRun struct {
	Program     string
	Solver      string
	Fingerprint string
	Iteration   int
	Slow        int
	Examined    int
	RelocateDue float64
	Counts      Counts
	Part        float64 // fraction of evaluations in Counts
	NonFinite   int
	Elapsed     time.Duration
	History     []Record
	Best        float64
	BestPoint   Point
	Gradients   gradients
	StateOf     string // type of the state
	State       []byte
	Problem     []byte // of a Stateful problem
	Ended       ending
	Successors  []string
	Unit, Span  float64
	Mistake     string
}

// ending records that a run stopped by itself, and its limits. Under the same limits it does not continue.
type ending struct {
	Status               Status
	Tolerance, Relative  float64
	Patience, CheckEvery int
}

// ending describes a run that stops with a status. The zero value describes a run that may continue under new limits.
func (r *run) ending(status Status, done bool) ending {
	if !done || r.options.Stop != nil || status != Converged && status != Stalled {
		return ending{}
	}
	o := r.options
	return ending{status, o.Tolerance, o.MinRelativeDecrease, o.Patience, o.CheckEvery}
}

// store writes the run as the options specify, if it is time or if it has ended.
func (r *run) store(status Status, now bool) error {
	c := r.options.Checkpoint
	if c == nil || c.Store == nil || r.stored && r.storedAt == r.iteration {
		return nil
	}
	every := c.Every
	if every == 0 {
		every = DefaultCheckpointEvery
	}
	if !now && time.Since(r.storedTime) < every {
		return nil
	}
	ended := r.ending(status, now)
	if err := c.Store(func(w io.Writer) error { return r.write(w, ended) }); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	r.stored, r.storedAt, r.storedTime = true, r.iteration, time.Now()
	return nil
}

// write encodes the run.
func (r *run) write(w io.Writer, ended ending) error {
	var state bytes.Buffer
	if err := gob.NewEncoder(&state).Encode(r.state); err != nil {
		return err
	}
	var learned []byte
	if p, ok := As[stateful](r.evaluator.problem); ok {
		var err error
		if learned, err = p.MarshalState(); err != nil {
			return fmt.Errorf("state of the problem: %w", err)
		}
	}
	c := r.options.Checkpoint
	run := storedRun{
		Program: c.program(), Solver: r.solver.Name(), Fingerprint: c.Fingerprint,
		Iteration: r.iteration, Slow: r.slow, Examined: r.examined, RelocateDue: r.relocateDue,
		Counts: r.evaluator.counts, Part: r.evaluator.counts.part,
		NonFinite: r.evaluator.nonFinite, Elapsed: r.elapsed(), History: r.history,
		Best: r.best, BestPoint: r.bestPoint, Gradients: gradients{r.lowest, r.bestGradient, r.leastGradient}, StateOf: fmt.Sprintf("%T", r.state), State: state.Bytes(), Problem: learned, Ended: ended, Successors: r.successors,
		Unit: r.unit, Span: r.span, Mistake: r.mistake,
	}
	return writeFrame(w, func(w io.Writer) error { return gob.NewEncoder(w).Encode(run) })
}

// resume restores the stored run of the options and reports whether there was one.
func (r *run) resume() (bool, error) {
	c := r.options.Checkpoint
	if c == nil {
		return false, nil
	}
	restores, ok := r.solver.(restorer)
	if !ok {
		return false, fmt.Errorf("%w: runs of solver %s cannot be stored", ErrInvalid, r.solver.Name())
	}
	r.storedTime = time.Now()
	if c.Stored == nil {
		return false, nil
	}
	if err := r.restoreRun(restores, c.Stored); err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrInvalid, nameOf(c.Stored), err)
	}
	return true, nil
}

// nameOf returns the name of the stored run for errors.
func nameOf(stored io.Reader) string {
	if file, ok := stored.(interface{ Name() string }); ok {
		return file.Name() + ": stored run"
	}
	return "stored run"
}

func (r *run) restoreRun(solver restorer, stored io.Reader) error {
	payload, err := readFrame(stored)
	if err != nil {
		return err
	}
	var s storedRun
	if err := decode(payload, &s); err != nil {
		return err
	}
	if err := r.accept(&s); err != nil {
		return err
	}
	state := solver.NewState()
	if want := fmt.Sprintf("%T", state); s.StateOf != want {
		return fmt.Errorf("has the state %s; solver %s has %s", s.StateOf, s.Solver, want)
	}
	if err := decode(s.State, state); err != nil {
		return err
	}
	if err := guard(func() error { x, _ := state.Iterate(); return r.shaped(x) }); err != nil {
		return err
	}
	if v, ok := state.(resumable); ok {
		if err := guard(func() error { return v.Resume(r.evaluator) }); err != nil {
			return err
		}
	}
	if p, ok := As[stateful](r.evaluator.problem); ok { // after what Resume computes
		if err := guard(func() error { return p.UnmarshalState(s.Problem) }); err != nil {
			return fmt.Errorf("state of the problem: %w", err)
		}
	}
	r.take(&s, state) // the counts too, which Resume may have raised
	return nil
}

// accept rejects a run of another program, solver or problem.
func (r *run) accept(s *storedRun) error {
	switch program := r.options.Checkpoint.program(); {
	case s.Program != program:
		return fmt.Errorf("is of another build of the program (%s) than this (%s), which would go on to other numbers; "+
			"go on with that build, or remove it and start anew", s.Program, program)
	case s.Solver != r.solver.Name():
		return fmt.Errorf("is of solver %s, not %s", s.Solver, r.solver.Name())
	case s.Fingerprint != r.options.Checkpoint.Fingerprint:
		return errors.New("is of other data or settings")
	}
	return r.shaped(s.BestPoint)
}

// shaped rejects a point that has not the sizes of the problem's blocks.
func (r *run) shaped(x Point) error {
	blocks := r.evaluator.blocks
	if len(x) != len(blocks) {
		return fmt.Errorf("has %d blocks, the problem %d", len(x), len(blocks))
	}
	for k, b := range blocks {
		if len(x[k]) != b.Size() {
			return fmt.Errorf("has %d entries in block %s, want %d", len(x[k]), b.Name, b.Size())
		}
	}
	return nil
}

func (r *run) take(s *storedRun, state State) {
	r.state, r.iteration, r.slow, r.examined, r.relocateDue = state, s.Iteration, s.Slow, s.Examined, s.RelocateDue
	r.evaluator.counts, r.evaluator.nonFinite = s.Counts, s.NonFinite
	r.evaluator.counts.part = s.Part
	r.history, r.best, r.bestPoint = s.History, s.Best, s.BestPoint
	r.lowest, r.bestGradient, r.leastGradient = s.Gradients.Lowest, s.Gradients.Best, s.Gradients.Least
	r.before, r.successors = s.Elapsed, s.Successors
	r.unit, r.span, r.mistake = s.Unit, s.Span, s.Mistake
	r.stored, r.storedAt, r.ended = true, s.Iteration, s.Ended
}

// decode reads one gob value. It recovers from panics of gob on invalid input.
func decode(b []byte, into any) error {
	return guard(func() error { return gob.NewDecoder(bytes.NewReader(b)).Decode(into) })
}
