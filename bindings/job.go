package bindings

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/gather"
	"github.com/scqm/scqm/internal/memory"
)

// What [Wait] returns.
const (
	// Running says that nothing happened in the time given.
	Running int64 = iota
	// Done says that the job has ended well.
	Done
	// Asked says that the job waits for an answer from Python.
	Asked
	// Evaluated says that the evaluation begun by [StartCost] is over.
	Evaluated
)

// The entries of the state that [Wait] writes, all of them float64. Those from
// QuestionAt on are those of the question, where there is one.
const (
	IterationAt  = iota // completed iterations of a fit
	CostAt              // the cost there; of denoising, the part that is done, from 0 to 1
	SecondsAt           // time since the start of the fit; at the end, of the whole job
	QuestionAt          // QuestionLoss, QuestionWeights, QuestionHessian, QuestionMinimum or QuestionSum
	RowsAt              // rows of the question's arrays
	ColumnsAt           // and columns
	ValuesAt            // 1 where values are asked for
	GradientsAt         // 1 where gradients are asked for
	LoggedAt            // the number of records that Logged will return
	stateEntries        // length of the state
)

// processors is the number that work is spread over by default.
var processors = affordable(runtime.GOMAXPROCS(0))

// Go gets one processor more than work uses, so that work does not block the
// waiting thread, which handles signals: Go preempts a goroutine only after 10
// milliseconds, and on a busy machine much later.
func init() {
	runtime.GOMAXPROCS(processors + 1)
	startThreads(processors + spareThreads)
	memory.Restrain(othersBytes, reusedHeap)
}

// threads resolves a setting, 0 for all processors.
func threads(setting int) int {
	if setting < 1 {
		return processors
	}
	return setting
}

// work is what a job does.
type work func(*job) (*outcome, error)

// outcome is what a job has made: a report, arrays and bytes, and what other jobs use.
type outcome struct {
	report any
	arrays map[string][]float64
	bytes  []byte
	kept   any
}

// job is work that goes on between calls.
type job struct {
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed at the end
	asks      chan *ask
	coalescer *gather.Gatherer[askKind]
	answers   chan struct{} // an evaluation is over

	// atEnd is what the work leaves to be done when it has ended.
	atEnd []func() error
	log   logged

	result *outcome      // set before done is closed
	err    error         // likewise
	took   time.Duration // likewise

	progress atomic.Pointer[framework.Record]

	mu      sync.Mutex // serialises the calls from Python
	asked   *ask       // the question that Python works on
	minimum *minimum   // the run of a solver written in Python, while it lasts
}

// jobs holds the jobs by number.
var jobs = struct {
	sync.Mutex
	byNumber map[int64]*job
}{byNumber: map[int64]*job{}}

// begin starts a job under a number that Python has chosen. Brief work is done before it
// returns: waking two threads takes longer than a small fit. Brief is what surely ends within some
// milliseconds, since no signal is handled in between, and does not ask Python.
func begin(number int64, act string, brief bool, do work) (int64, error) {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{
		ctx: ctx, cancel: cancel, done: make(chan struct{}),
		asks: make(chan *ask), answers: make(chan struct{}, 1),
	}
	j.coalescer = j.newCoalescer()
	if err := enlist(number, j); err != nil {
		cancel()
		return 0, err
	}
	if brief {
		j.run(act, do)
	} else {
		go j.run(act, do)
	}
	return 1, nil
}

// run does the work of the job.
func (j *job) run(act string, do work) {
	defer close(j.done)
	defer j.cleanUp()
	begin := time.Now()
	defer func() { j.took = time.Since(begin) }()
	j.result, j.err = guarded(act, func() (*outcome, error) { return do(j) })
}

// cleanUp ends what the work has started; an error is the job's where it has no
// other.
func (j *job) cleanUp() {
	for _, end := range j.atEnd {
		if _, err := guarded("clean up", func() (any, error) { return nil, end() }); err != nil && j.err == nil {
			j.err = err
		}
	}
}

func enlist(number int64, j *job) error {
	jobs.Lock()
	defer jobs.Unlock()
	if _, taken := jobs.byNumber[number]; taken {
		return fmt.Errorf("job %d: number is taken: %w", number, errJob)
	}
	jobs.byNumber[number] = j
	return nil
}

func find(number int64) (*job, error) {
	jobs.Lock()
	defer jobs.Unlock()
	j, ok := jobs.byNumber[number]
	if !ok {
		return nil, fmt.Errorf("job %d: %w", number, errJob)
	}
	return j, nil
}

// withJob runs the body of a function on a job, one at a time for each job.
func withJob[T any](act string, number int64, body func(*job) (T, error)) (T, error) {
	return guarded(act, func() (T, error) {
		j, err := find(number)
		if err != nil {
			var none T
			return none, err
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		return body(j)
	})
}

// outcome is what a job has made that has ended well.
func (j *job) outcome() (*outcome, error) {
	select {
	case <-j.done:
	default:
		return nil, fmt.Errorf("job is not done: %w", errJob)
	}
	if j.err != nil || j.result == nil {
		return nil, fmt.Errorf("job has made nothing: %w", errJob)
	}
	return j.result, nil
}

// onOutcome runs the body of a function on what a job has made that has ended well.
func onOutcome[T any](act string, number int64, body func(*outcome) (T, error)) (T, error) {
	return withJob(act, number, func(j *job) (T, error) {
		o, err := j.outcome()
		if err != nil {
			var none T
			return none, err
		}
		return body(o)
	})
}

// Wait waits for news of a job, at most so many milliseconds, and returns
// Running, Done, Asked or Evaluated; the error of a job that failed. It writes
// the state, 9 numbers as the constants say, to the destination state where
// that is not 0.
func Wait(number, milliseconds int64, state uint64) (int64, error) {
	return withJob("wait", number, func(j *job) (int64, error) {
		to, err := optionalView("state", state, stateEntries)
		if err != nil {
			return Running, err
		}
		news, err := j.wait(time.Duration(milliseconds) * time.Millisecond)
		j.describe(to)
		return news, err
	})
}

func (j *job) wait(patience time.Duration) (int64, error) {
	if j.asked != nil {
		return Asked, nil
	}
	select {
	case <-j.done: // without a timer
		return Done, j.err
	default:
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-j.done:
		return Done, j.err
	case a := <-j.asks:
		if a.minimum != nil {
			j.minimum = a.minimum
		}
		j.asked = a
		return Asked, nil
	case <-j.answers:
		return Evaluated, nil
	case <-late.C:
		return Running, nil
	}
}

// describe writes the state of the job.
func (j *job) describe(to []float64) {
	if to == nil {
		return
	}
	clear(to)
	to[LoggedAt] = j.log.count()
	if p := j.progress.Load(); p != nil {
		to[IterationAt], to[CostAt], to[SecondsAt] = float64(p.Iteration), p.Cost, p.Elapsed.Seconds()
	}
	select {
	case <-j.done:
		to[SecondsAt] = j.took.Seconds()
	default:
	}
	if a := j.asked; a != nil {
		to[QuestionAt], to[RowsAt], to[ColumnsAt] = float64(a.question), float64(a.rows), float64(a.columns)
		to[ValuesAt], to[GradientsAt] = truth(a.values != nil), truth(a.grad != nil)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Cancel asks a job to end soon; Wait tells when it has. It returns 1.
func Cancel(number int64) (int64, error) {
	return guarded("cancel", func() (int64, error) {
		j, err := find(number)
		if err != nil {
			return 0, err
		}
		j.cancel()
		return 1, nil
	})
}

// Release cancels and forgets a job and returns 1 where it has ended or was
// never started: what it reads and writes may then be freed. It returns 0, and
// forgets nothing, as long as the job is still running.
func Release(number int64) (int64, error) {
	return guarded("release", func() (int64, error) {
		j, err := find(number)
		if err != nil {
			return 1, nil
		}
		j.cancel()
		select {
		case <-j.done:
		default:
			return 0, nil
		}
		jobs.Lock()
		defer jobs.Unlock()
		delete(jobs.byNumber, number)
		return 1, nil
	})
}
