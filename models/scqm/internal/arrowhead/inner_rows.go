package arrowhead

import (
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	// innerSteps bounds the Newton steps of a row after a step of the outer blocks.
	innerSteps = 6
	// minDecrease is the relative decrease of its loss by a Newton step below which a row stops: the next step would
	// gain about the square of this.
	minDecrease = 1e-2
)

// innerRows minimises loss(f(tau_i) - x_i) over tau_i for a batch of rows and any loss. It does not iterate to
// convergence, as the outer blocks move next.
type innerRows struct {
	newton      *nearest.General
	worker      *nearest.Worker
	here, there []float64 // n: losses at tau and at the other tau
}

func newInnerRows(f *sheet.Sheet, n int) *innerRows {
	s := &innerRows{
		newton: nearest.NewGeneral(n, f.Latent), worker: nearest.NewWorker(f, n), here: make([]float64, n), there: make([]float64, n),
	}
	s.newton.Steps, s.newton.Decrease = innerSteps, minDecrease
	return s
}

// run moves the rows [from, to) of the problem. It returns their weighted losses and the number of evaluations of the
// loss. An evaluation of a derivative counts as one.
func (s *innerRows) run(a *Hessian, job *innerShard, from, to int) (losses []float64, evaluations float64, err error) {
	n, d, ctx := to-from, a.F.Latent, a.o.Context()
	tau, other := job.tau[from*d:to*d], job.other[from*d:to*d]
	e := nearest.RowEvaluation{Sheet: a.F, Loss: a.o.Loss(), Data: a.o.Data().Slice(from, to), Prior: a.o.Prior}
	for _, at := range [...]struct{ tau, losses []float64 }{{tau, s.here}, {other, s.there}} {
		e.Tau = at.tau
		if err := e.Run(ctx, s.worker, nearest.RowResults{Costs: at.losses}, nil, 0, n); err != nil {
			return nil, 0, err
		}
	}
	for i := range n {
		if s.there[i] < s.here[i] {
			copy(tau[i*d:(i+1)*d], other[i*d:(i+1)*d])
		}
	}
	work, err := s.newton.Minimize(tau, func(to nearest.RowResults, tau []float64, list []int) error {
		e.Tau = tau
		return e.Run(ctx, s.worker, to, list, 0, len(list))
	})
	return s.newton.Cost()[:n], float64(2*n + 2*work.Derivatives + work.Losses), err
}
