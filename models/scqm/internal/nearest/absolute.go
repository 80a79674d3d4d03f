package nearest

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// leastAbsolute searches the nearest point of a sheet in the l1 norm, for d up to maxAbsolute. For d = 1 it is
// exact: see [Kinks]. Otherwise it is the lowest point reached by descents of at most maxAbsoluteSteps steps from
// several starts: a few rows far from a strongly curved sheet end some thousandths above a minimum.
type leastAbsolute struct {
	absoluteDescent
	best float64
	tau  point // where it is
}

// HasAbsoluteDescent reports whether a [Projector] minimises l1 itself by descents along kinks.
func HasAbsoluteDescent(f *sheet.Sheet, loss framework.Loss) bool {
	return sumOfAbsolutes(loss) && f.Latent <= maxAbsolute
}

// sumOfAbsolutes reports whether a loss is the sum of the absolute entries: a norm of
// every entry.
func sumOfAbsolutes(loss framework.Loss) bool {
	_, sum := loss.(framework.Separable)
	ball, norm := loss.(rowloss.SupportFunction)
	if !sum || !norm {
		return false
	}
	ends := []float64{math.Inf(-1), math.Inf(1)}
	ball.ProjectDual(ends, 1)
	return ends[0] == -1 && ends[1] == 1
}

// newLeastAbsolute prepares for a sheet. It returns nil where the loss is not l1 or d is above maxAbsolute.
func newLeastAbsolute(f *sheet.Sheet, loss framework.Loss) *leastAbsolute {
	if !HasAbsoluteDescent(f, loss) {
		return nil
	}
	return &leastAbsolute{absoluteDescent: newAbsoluteDescent(f)}
}

// begin starts at tau, a nearest point to x in the Euclidean norm.
func (s *leastAbsolute) begin(tau, x []float64) {
	s.load(x, tau)
	if s.tau = (point{}); s.f.Latent == 1 {
		s.best = floats.Norm(s.column(0), 1)
		least, at, _ := s.kinks.Least(s.column(0), s.column(1), s.column(2), 0, math.Inf(-1), math.Inf(1))
		if least < s.best {
			s.best, s.tau[0] = least, at
		}
		return
	}
	s.at = point{}
	s.descend()
	s.best, s.tau = s.least, s.at
}

// from descends from another start.
func (s *leastAbsolute) from(tau []float64) {
	s.at = point{}
	for j, v := range tau {
		s.at[j] = v - s.origin[j]
	}
	if s.descend(); s.least < s.best {
		s.best, s.tau = s.least, s.at
	}
}

// end writes the nearest point found.
func (s *leastAbsolute) end(tau []float64) {
	for j := range tau {
		tau[j] = s.origin[j] + s.tau[j]
	}
}
