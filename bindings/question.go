package bindings

import (
	"context"
	"fmt"
)

// The questions that a job can ask Python.
const (
	// QuestionLoss asks for values and gradients of the loss at residual rows.
	QuestionLoss int = iota + 1
	// QuestionWeights asks for the weights of a quadratic majorizer at residual rows, one
	// weight per entry.
	QuestionWeights
	// QuestionHessian asks for the products of the Hessians at residual rows with given
	// vectors, one per row.
	QuestionHessian
	// QuestionMinimum asks for a point of low cost of the problem that the job fits.
	QuestionMinimum
	// QuestionSum asks for sums over all rows. The state entry RowsAt has the number of bytes of the request.
	QuestionSum
)

// ask is a question to Python. The goroutine that asks owns its arrays and waits for
// the answer.
type ask struct {
	question      int
	rows, columns int
	r, v          []float64    // arguments, rows x columns
	values        []float64    // destination, rows; nil if not requested
	grad          []float64    // destination, rows x columns; nil if not requested
	minimum       *minimum     // set for QuestionMinimum
	sum           *sumQuestion // set for QuestionSum
	answered      chan struct{}
}

// put asks Python the question and waits for the answer.
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

// question returns the question that Python is answering.
func (j *job) question() (*ask, error) {
	if j.asked == nil {
		return nil, fmt.Errorf("job has not asked anything: %w", errJob)
	}
	return j.asked, nil
}

// FetchRows copies the arguments of the question. It copies residual rows to the
// destination r. For QuestionHessian it also copies the vectors to v.
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

// AnswerRows answers a question about rows. It reads the arrays values and grad if the
// question requests them.
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
		// After a cancellation the job no longer waits, so its arrays must not be written.
		if j.ctx.Err() == nil {
			copy(a.values, from)
			copy(a.grad, slopes)
		}
		j.asked = nil
		close(a.answered)
		return 1, nil
	})
}
