package bindings

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// streamSettings are the settings of [StartStream].
type streamSettings struct {
	fitSettings
	// Checkpoint is the path of a file in which the fit is stored after every
	// iteration, and from which it goes on where there is one; "" is none.
	Checkpoint string `json:"checkpoint"`
	// Delta says that the default of the loss is wanted, and no fit.
	Delta bool `json:"only_delta"`
}

// StartStream begins to fit a model to rows x columns numbers that Python can sum
// over, with the precision matrix of the loss at precision (0: none). For every
// read of the rows the job asks QuestionSum: [FetchRequest] gives the request,
// [StartSum] answers it for some of the rows, here or elsewhere, [AnswerPart] takes
// such an answer, and [AnswerSum] says that it was the last one. It returns 1.
func StartStream(number int64, settings string, rows, columns int64, precision uint64) (int64, error) {
	return guarded("fit", func() (int64, error) {
		var s streamSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		if _, err := product("shape", rows, columns); err != nil {
			return 0, err
		}
		e := &pythonEngine{rows: int(rows), columns: int(columns)}
		return start(number, "fit", func(j *job) (any, error) {
			e.job = j
			if s.Delta {
				return s.delta(j, e)
			}
			return s.learn(j, e, precision)
		})
	})
}

// StreamDelta returns what a job with only_delta has found.
func StreamDelta(number int64) (float64, error) {
	return withJob("delta", number, resultOf[float64])
}

func (s streamSettings) delta(j *job, e *pythonEngine) (float64, error) {
	c, err := s.config(j)
	if err != nil {
		return 0, err
	}
	return scqm.DefaultDeltaFrom(j.ctx, e, c, s.Loss.Name)
}

func (s streamSettings) learn(j *job, e *pythonEngine, precision uint64) (*scqm.Fit, error) {
	c, err := s.config(j)
	if err != nil {
		return nil, err
	}
	if c.Loss, err = s.Loss.build(j, precision); err != nil {
		return nil, err
	}
	if s.Checkpoint != "" {
		if s.Parameters.Inits > 1 {
			return nil, fmt.Errorf("a checkpoint holds the fit from one start, not of n_init=%d: %w", s.Parameters.Inits, framework.ErrInvalid)
		}
		file, err := scqm.OpenCheckpoint(s.Checkpoint)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		c.Options.Checkpoint = file.Checkpoint(-1)
		c.Options.Checkpoint.Program = "scqm " + scqm.Version + " for Python, " + runtime.Version()
	}
	fit, err := scqm.LearnFrom(j.ctx, e, c)
	if err != nil {
		return nil, err
	}
	if fit.Run.Status == framework.Cancelled {
		return nil, j.ctx.Err()
	}
	return fit, nil
}

// pythonEngine is an [scqm.Engine] whose sums Python finds.
type pythonEngine struct {
	job           *job
	rows, columns int
}

// Shape implements [scqm.Engine].
func (e *pythonEngine) Shape() (n, D int) { return e.rows, e.columns }

// Sum asks Python.
func (e *pythonEngine) Sum(ctx context.Context, r *scqm.Request) (*scqm.Partial, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	q := &sumQuestion{ctx: ctx, request: r, bytes: b}
	if err := e.job.put(&ask{question: QuestionSum, rows: len(b), columns: 1, sum: q}); err != nil {
		return nil, err
	}
	if q.late() {
		return nil, ctx.Err()
	}
	return q.parts[0], nil
}

// sumQuestion is a question about all rows with what was answered so far.
type sumQuestion struct {
	ctx     context.Context
	request *scqm.Request
	bytes   []byte          // of the request
	parts   []*scqm.Partial // by their blocks, of which no two adjoin
}

// take adds an answer about some blocks.
func (q *sumQuestion) take(p *scqm.Partial) error {
	at, met := slices.BinarySearchFunc(q.parts, p.First, func(o *scqm.Partial, first int) int { return o.First - first })
	if met || at > 0 && end(q.parts[at-1]) > p.First || at < len(q.parts) && q.parts[at].First < end(p) {
		return fmt.Errorf("blocks %d to %d were summed twice: the parts of the rows overlap: %w", p.First, end(p)-1, framework.ErrInvalid)
	}
	q.parts = slices.Insert(q.parts, at, p)
	if err := q.join(at + 1); err != nil {
		return err
	}
	return q.join(at)
}

// join merges part k into the one before where they adjoin.
func (q *sumQuestion) join(k int) error {
	if k < 1 || k >= len(q.parts) || end(q.parts[k-1]) != q.parts[k].First {
		return nil
	}
	err := q.request.Merge(q.parts[k-1], q.parts[k])
	q.parts = slices.Delete(q.parts, k, k+1)
	return err
}

// end is the number of the block behind those of a part.
func end(p *scqm.Partial) int { return p.First + p.Blocks }

// complete reports blocks that nobody has summed.
func (q *sumQuestion) complete() error {
	want, from := scqm.Blocks(q.request.N), 0
	for _, p := range q.parts {
		if p.First > from {
			break
		}
		from = end(p)
	}
	if from == want && len(q.parts) == 1 {
		return nil
	}
	if from > want || from == want {
		return fmt.Errorf("sums of more rows than the %d of the shape: %w", q.request.N, framework.ErrInvalid)
	}
	return fmt.Errorf("rows from %d on are in no part: map must call its function for parts that make up all %d rows: %w",
		from*scqm.BlockRows, q.request.N, framework.ErrInvalid)
}

// late reports that time is over before all blocks are summed.
func (q *sumQuestion) late() bool { return q.ctx.Err() != nil && q.complete() != nil }

// sumAsked is the question about sums that Python works on.
func (j *job) sumAsked() (*ask, error) {
	a, err := j.question()
	if err == nil && a.sum == nil {
		err = fmt.Errorf("job has not asked for sums: %w", errJob)
	}
	return a, err
}

// FetchRequest copies the request of a QuestionSum, RowsAt bytes, to the destination
// to.
func FetchRequest(number int64, to uint64) (int64, error) {
	return withJob("fetch request", number, func(j *job) (int64, error) {
		a, err := j.sumAsked()
		if err != nil {
			return 0, err
		}
		dst, err := viewOf[byte]("to", to, len(a.sum.bytes))
		copy(dst, a.sum.bytes)
		return 1, err
	})
}

// AnswerPart takes what some blocks say, length bytes of [ResultBytes], in any
// order. It returns the number of ranges of blocks there are so far, 0 where time is over: then no more are
// wanted.
func AnswerPart(number int64, part uint64, length int64) (int64, error) {
	return withJob("answer part", number, func(j *job) (int64, error) {
		a, err := j.sumAsked()
		if err != nil {
			return 0, err
		}
		p, err := readPartial(part, length)
		if err == nil {
			err = a.sum.take(p)
		}
		if err == nil && a.sum.late() {
			return 0, nil
		}
		return int64(len(a.sum.parts)), err
	})
}

// AnswerSum ends the answer to a QuestionSum. Where blocks are missing it is an
// error, and the question stays, unless time is over.
func AnswerSum(number int64) (int64, error) {
	return withJob("answer sum", number, func(j *job) (int64, error) {
		a, err := j.sumAsked()
		if err == nil && !a.sum.late() {
			err = a.sum.complete()
		}
		if err != nil {
			return 0, err
		}
		j.asked = nil
		close(a.answered)
		return 1, nil
	})
}
