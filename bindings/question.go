package bindings

import (
	"context"
	"fmt"
)

// The questions a job can ask.
const (
	// QuestionLoss: values and gradients of residual rows.
	QuestionLoss int = iota + 1
	// QuestionWeights: weights of a quadratic majorizer at residual rows, one
	// per entry.
	QuestionWeights
	// QuestionHessian: products of the Hessians at residual rows with rows of
	// vectors.
	QuestionHessian
	// QuestionMinimum: a point of low cost of the problem being fitted.
	QuestionMinimum
	// QuestionSum: sums over all rows; RowsAt has the bytes of the request.
	QuestionSum
)

// ask is a question to Python. Its arrays belong to the asking goroutine, which
// waits.
type ask struct {
	question      int
	rows, columns int
	r, v          []float64    // arguments, rows x columns
	values        []float64    // destination, rows; nil where not asked for
	grad          []float64    // destination, rows x columns; nil where not asked for
	minimum       *minimum     // of QuestionMinimum
	sum           *sumQuestion // of QuestionSum
	answered      chan struct{}
}

// put asks and waits for the answer.
func (j *job) put(a *ask) error {
	a.answered = make(chan struct{})
	select {
	case j.asks <- a:
	case <-j.ctx.Done():
		return context.Cause(j.ctx)
	}
	select {
	case <-a.answered:
		return nil
	case <-j.ctx.Done():
		return context.Cause(j.ctx)
	}
}

// question is the question that Python works on.
func (j *job) question() (*ask, error) {
	if j.asked == nil {
		return nil, fmt.Errorf("job has not asked anything: %w", errJob)
	}
	return j.asked, nil
}

// FetchRows copies the arguments of the question: residual rows to the
// destination r and, for QuestionHessian, rows of vectors to v.
func FetchRows(number int64, r, v uint64) (int64, error) {
	return withJob("fetch rows", number, func(j *job) (int64, error) {
		a, err := j.question()
		if err != nil {
			return 0, err
		}
		if err := deliver("r", r, a.r); err != nil {
			return 0, err
		}
		return 1, deliver("v", v, a.v)
	})
}

// AnswerRows answers a question about rows from the arrays values and grad,
// each read where it was asked for.
func AnswerRows(number int64, values, grad uint64) (int64, error) {
	return withJob("answer rows", number, func(j *job) (int64, error) {
		a, err := j.question()
		if err == nil && a.sum != nil {
			err = fmt.Errorf("job has asked for sums: %w", errJob)
		}
		if err != nil {
			return 0, err
		}
		from, err := view("values", values, len(a.values))
		if err != nil {
			return 0, err
		}
		slopes, err := view("grad", grad, len(a.grad))
		if err != nil {
			return 0, err
		}
		// A cancelled job has gone on, and its arrays are no longer ours.
		if j.ctx.Err() == nil {
			copy(a.values, from)
			copy(a.grad, slopes)
		}
		j.asked = nil
		close(a.answered)
		return 1, nil
	})
}
