package framework

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// Trace writes a run as a table of comma-separated values: a line of names, a line for
// the start and one for every iteration,
//
//	iteration,cost,gradient_norm,evaluations,hessians,passes,seconds
//
// with the numbers of [Progress]. A gradient norm that is not known is left empty. Give
// its Observe to [Options].
type Trace struct {
	w   io.Writer
	err error
}

// NewTrace returns a trace that writes to w, a line at a time, which it does not close.
func NewTrace(w io.Writer) *Trace {
	t := &Trace{w: w}
	t.write("iteration,cost,gradient_norm,evaluations,hessians,passes,seconds\n")
	return t
}

// Observe is an [Observer] that writes a line. After a failure it writes no more, and
// the run goes on.
func (t *Trace) Observe(p Progress) {
	norm := ""
	if !math.IsNaN(p.GradientNorm) {
		norm = digits(p.GradientNorm)
	}
	t.write(fmt.Sprintf("%d,%s,%s,%d,%d,%s,%.6f\n", p.Iteration, digits(p.Cost), norm,
		p.Counts.Evaluations, p.Counts.Hessians, digits(p.Counts.Passes), p.Elapsed.Seconds()))
}

// Err returns why a line could not be written, or nil.
func (t *Trace) Err() error { return t.err }

func (t *Trace) write(line string) {
	if t.err != nil {
		return
	}
	if _, err := io.WriteString(t.w, line); err != nil {
		t.err = fmt.Errorf("framework: trace: %w", err)
	}
}

// digits writes a number so that it reads back as it is.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
