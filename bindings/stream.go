package bindings

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/scqm"
)

// streamSettings are the settings of streamOf.
type streamSettings struct {
	fitSettings
	tableSettings
	// Checkpoint is the path of a file that stores the fit after each iteration. If the
	// file exists, the fit continues from it. "" means no file.
	Checkpoint string `json:"checkpoint"`
	// Delta is true if only the default delta of the loss is wanted, without a fit.
	Delta bool `json:"only_delta"`
}

// tableSettings give the size of a table over which Python can sum.
type tableSettings struct {
	Rows    int `json:"rows"`
	Columns int `json:"columns"`
}

// streamOf fits a model to rows over which Python can sum. The precision of the loss
// may be an array. For each pass over the rows the job asks QuestionSum. [FetchRequest]
// returns the request. sumOf answers it for some of the rows, in this process or
// another one. [AnswerPart] passes each answer to the job, and [AnswerSum] ends them.
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

// pythonEngine is an [scqm.Engine] whose sums Python computes.
type pythonEngine struct {
	job *job
	tableSettings
}

// Shape implements [scqm.Engine].
func (e *pythonEngine) Shape() (n, D int) { return e.Rows, e.Columns }

// Sum asks Python for the sums.
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

// sumQuestion is a question about all rows, with the answers received so far.
type sumQuestion struct {
	request *scqm.Request
	bytes   []byte          // the encoded request
	parts   []*scqm.Partial // merged answers in the order of their blocks; no two are adjacent
}

// take adds the answer for some blocks.
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

// takeBytes adds an encoded answer. It keeps no reference to b.
func (q *sumQuestion) takeBytes(b []byte) error {
	p := new(scqm.Partial)
	if err := p.UnmarshalBinary(b); err != nil {
		return err
	}
	return q.take(p)
}

// join merges part k into the part before it if their blocks are adjacent.
func (q *sumQuestion) join(k int) error {
	if k < 1 || k >= len(q.parts) || end(q.parts[k-1]) != q.parts[k].First {
		return nil
	}
	err := q.request.Merge(q.parts[k-1], q.parts[k])
	q.parts = slices.Delete(q.parts, k, k+1)
	return err
}

// end returns the index of the first block after those of p.
func end(p *scqm.Partial) int { return p.First + p.Blocks }

// complete returns an error if the sums of some blocks are missing.
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

// sumAsked returns the question about sums that Python is answering.
func (j *job) sumAsked() (*ask, error) {
	a, err := j.question()
	if err == nil && a.sum == nil {
		err = fmt.Errorf("job has not asked for sums: %w", errJob)
	}
	return a, err
}

// FetchRequest copies the request of a QuestionSum to the destination to. The request
// has RowsAt bytes.
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

// AnswerPart adds an answer for some blocks: length bytes at part, made by sumOf or mergeOf. Answers
// may come in any order. It returns the number of separate ranges of blocks answered so far.
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

// AnswerSum ends the answer to a QuestionSum. If blocks are missing, it returns an
// error and the question remains open.
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
