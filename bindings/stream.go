package bindings

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// streamSettings are those of streamOf.
type streamSettings struct {
	fitSettings
	tableSettings
	// Checkpoint is the path of a file in which the fit is stored after every
	// iteration, and from which it goes on where there is one; "" is none.
	Checkpoint string `json:"checkpoint"`
	// Delta says that the default of the loss is wanted, and no fit.
	Delta bool `json:"only_delta"`
}

// tableSettings say how large the table is that Python can sum over.
type tableSettings struct {
	Rows    int `json:"rows"`
	Columns int `json:"columns"`
}

// streamOf fits a model to rows that Python can sum over; the precision of the loss may be an
// array. For every read of the rows the job asks QuestionSum: [FetchRequest] gives the request,
// sumOf answers it for some of the rows, here or elsewhere, [AnswerPart] takes such an answer, and
// [AnswerSum] says that it was the last one.
func streamOf(in *input) work {
	var s streamSettings
	in.decode(&s)
	in.loss(&s.Loss)
	return func(j *job) (*outcome, error) {
		e := &pythonEngine{j, s.tableSettings}
		if s.Delta {
			delta, err := s.delta(j, e)
			return &outcome{report: delta}, err
		}
		fit, err := s.learn(j, e)
		if err != nil {
			return nil, err
		}
		return fitted(fit), nil
	}
}

func (s streamSettings) delta(j *job, e *pythonEngine) (float64, error) {
	c, err := s.config(j)
	if err != nil {
		return 0, err
	}
	return scqm.DefaultDeltaFrom(j.ctx, e, c, s.Loss.Name)
}

func (s streamSettings) learn(j *job, e *pythonEngine) (*scqm.Fit, error) {
	c, err := s.config(j)
	if err != nil {
		return nil, err
	}
	if c.Loss, err = s.Loss.build(j); err != nil {
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
	job *job
	tableSettings
}

// Shape implements [scqm.Engine].
func (e *pythonEngine) Shape() (n, D int) { return e.Rows, e.Columns }

// Sum asks Python.
func (e *pythonEngine) Sum(ctx context.Context, r *scqm.Request) (*scqm.Partial, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	q := &sumQuestion{request: r, bytes: b}
	if err := e.job.put(&ask{question: QuestionSum, rows: len(b), columns: 1, sum: q}); err != nil {
		return nil, err
	}
	return q.parts[0], nil
}

// sumQuestion is a question about all rows with what was answered so far.
type sumQuestion struct {
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

// takeBytes adds an encoded answer, of which it keeps nothing.
func (q *sumQuestion) takeBytes(b []byte) error {
	p := new(scqm.Partial)
	if err := p.UnmarshalBinary(b); err != nil {
		return err
	}
	return q.take(p)
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
	if from >= want {
		return fmt.Errorf("sums of more rows than the %d of the shape: %w", q.request.N, framework.ErrInvalid)
	}
	return fmt.Errorf("rows from %d on are in no part: map must call its function for parts that make up all %d rows: %w",
		from*scqm.BlockRows, q.request.N, framework.ErrInvalid)
}

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

// AnswerPart takes what some blocks say, length bytes that sumOf or mergeOf has made, in any
// order. It returns the number of ranges of blocks there are so far.
func AnswerPart(number int64, part uint64, length int64) (int64, error) {
	return withJob("answer part", number, func(j *job) (int64, error) {
		a, err := j.sumAsked()
		if err != nil {
			return 0, err
		}
		b, err := viewOf[byte]("part", part, int(length))
		if err == nil {
			err = a.sum.takeBytes(b)
		}
		return int64(len(a.sum.parts)), err
	})
}

// AnswerSum ends the answer to a QuestionSum. Where blocks are missing it is an
// error, and the question stays.
func AnswerSum(number int64) (int64, error) {
	return withJob("answer sum", number, func(j *job) (int64, error) {
		a, err := j.sumAsked()
		if err == nil {
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
