package bindings

import (
	"math"
	"sync"

	"github.com/scqm/scqm/framework"
)

// pythonSeparable is a Python loss that sums the same function over all entries. It
// asks Python for this function as the loss of rows with one entry.
type pythonSeparable struct {
	pythonLoss
	second framework.SecondOrder // nil if Python has no second derivatives
	fault  *postponed
}

// postponed stores the first error of methods that cannot return an error.
type postponed struct {
	mu  sync.Mutex
	err error
}

func (p *postponed) set(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func newPythonSeparable(l pythonLoss, hessian bool) pythonSeparable {
	s := pythonSeparable{pythonLoss: l, fault: &postponed{}}
	if hessian {
		s.second = pythonHessian{l.job}
	}
	return s
}

// Phi implements [framework.Separable]. It takes second derivatives from Python if
// available, else from central differences. If Python fails, the results are NaN.
func (l pythonSeparable) Phi(phi, d1, d2, r []float64) {
	if err := l.phi(phi, d1, d2, r); err != nil {
		l.fault.set(err)
		for _, dst := range [][]float64{phi, d1, d2} {
			fill(dst, math.NaN())
		}
	}
}

func (l pythonSeparable) phi(phi, d1, d2, r []float64) error {
	switch {
	case d2 == nil:
		return l.pythonLoss.Evaluate(phi, d1, r, 1)
	case l.second == nil:
		return l.differences(phi, d1, d2, r)
	}
	fill(d2, 1)
	if err := l.second.HessianProduct(d2, r, d2, 1); err != nil { // computed first, because d1 may be r
		return err
	}
	return l.pythonLoss.Evaluate(phi, d1, r, 1)
}

// cubeRootEps is the step at which rounding and truncation errors of a central difference are about equal.
const cubeRootEps = 6.055454452393343e-06

// differences asks Python for all values in one question, because asking takes longer than computing.
func (l pythonSeparable) differences(phi, d1, d2, r []float64) error {
	n := len(r)
	at, values := make([]float64, 3*n), make([]float64, 3*n)
	for k, v := range r {
		step := cubeRootEps * math.Abs(v)
		if v == 0 {
			step = cubeRootEps
		}
		at[k], at[n+k], at[2*n+k] = v, v+step, v-step
	}
	slopes := make([]float64, 3*n)
	if err := l.pythonLoss.Evaluate(values, slopes, at, 1); err != nil {
		return err
	}
	if phi != nil {
		copy(phi, values)
	}
	if d1 != nil {
		copy(d1, slopes)
	}
	for k := range d2 {
		d2[k] = (slopes[n+k] - slopes[2*n+k]) / (at[n+k] - at[2*n+k])
	}
	return nil
}

// Err implements [rowloss.ErrReporter].
func (l pythonSeparable) Err() error {
	l.fault.mu.Lock()
	defer l.fault.mu.Unlock()
	return l.fault.err
}
