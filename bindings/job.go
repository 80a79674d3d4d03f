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

// The values that [Wait] returns.
const (
	// Running means that nothing happened within the given time.
	Running int64 = iota
	// Done means that the job has ended without an error.
	Done
	// Asked says that the job waits for an answer from Python.
	Asked
	// Evaluated means that the evaluation begun by [StartCost] is complete.
	Evaluated
)

// The indices of the state that [Wait] writes, an array of float64. The entries from
// QuestionAt on describe the question, if there is one.
const (
	IterationAt  = iota // completed iterations of a fit
	CostAt              // the cost there; for denoising, the completed fraction of the work
	SecondsAt           // seconds since the start of the fit; at the end, for the whole job
	QuestionAt          // QuestionLoss, QuestionWeights, QuestionHessian, QuestionMinimum or QuestionSum
	RowsAt              // rows of the question's arrays
	ColumnsAt           // columns of the question's arrays
	ValuesAt            // 1 if values are requested
	GradientsAt         // 1 if gradients are requested
	LoggedAt            // the number of records that Logged will return
	stateEntries        // length of the state
)

// processors is the default number of threads for the work.
var processors = affordable(runtime.GOMAXPROCS(0))

// Go gets one processor more than work uses. The waiting thread, which handles signals,
// is then not blocked by work: Go preempts a goroutine only after 10 ms, and much later
// on a busy machine.
func init() {
	runtime.GOMAXPROCS(processors + 1)
	startThreads(processors + spareThreads)
	memory.Restrain(othersBytes, reusedHeap)
}

// threads returns the number of threads for a setting, of which 0 means all processors.
func threads(setting int) int {
	if setting < 1 {
		return processors
	}
	return setting
}

// work is the function that a job runs.
type work func(*job) (*outcome, error)

// outcome is the result of a job: a report, arrays, bytes, and a value for later jobs.
type outcome struct {
	report any
	arrays map[string][]float64
	bytes  []byte
	kept   any
}

// job is a computation that runs across several calls from Python.
type job struct {
	ctx       context.Context
	cancel    context.CancelFunc
	done      chan struct{} // closed when the job has ended
	asks      chan *ask
	coalescer *gather.Gatherer[askKind]
	answers   chan struct{} // receives a value when an evaluation is complete

	// atEnd holds functions that are called when the work has ended.
	atEnd []func() error
	log   logged

	result *outcome      // set before done is closed
	err    error         // set before done is closed
	took   time.Duration // set before done is closed

	progress atomic.Pointer[framework.Record]

	mu      sync.Mutex // serialises the calls from Python
	asked   *ask       // the question that Python is answering
	minimum *minimum   // the run of a solver written in Python, while it lasts
}

// jobs maps the numbers of jobs to jobs.
var jobs = struct {
	sync.Mutex
	byNumber map[int64]*job
}{byNumber: map[int64]*job{}}

// begin starts a job under a number that Python has chosen. Brief work is done before begin returns,
// because waking two threads takes longer than a small fit. Work may be brief only if it ends within
// some milliseconds, as no signal is handled meanwhile, and if it asks Python nothing.
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

// run runs do and stores its result and its error in the job.
func (j *job) run(act string, do work) {
	defer close(j.done)
	defer j.cleanUp()
	begin := time.Now()
	defer func() { j.took = time.Since(begin) }()
	j.result, j.err = guarded(act, func() (*outcome, error) { return do(j) })
}

// cleanUp calls the functions in atEnd. Their first error becomes the error of the job,
// unless it has one already.
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

// withJob calls body with the job that has the given number. Calls for the same job run one at a time.
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

// outcome returns the result of a job that has ended without an error.
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

// onOutcome calls body with the outcome of a job that has ended without an error.
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

// Wait waits for news of a job for at most the given number of milliseconds. It returns
// Running, Done, Asked or Evaluated, or the error of a failed job. It writes the state,
// 9 numbers in the order of the constants, to the destination state unless that is 0.
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
	case <-j.done: // no timer is needed
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

// describe writes the state of the job to the slice.
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

// Cancel asks a job to end soon. Wait reports when it has ended. Cancel returns 1.
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

// Release cancels a job. If the job has ended or does not exist, Release removes it and
// returns 1; the caller may then free the memory that the job used. Otherwise it
// returns 0 and the job stays.
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
