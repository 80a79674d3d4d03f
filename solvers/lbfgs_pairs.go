package solvers

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
)

// quasiNewton writes -P H v into q. H is applied by the two-loop recursion.
func (s *LBFGSState) quasiNewton(e *framework.Evaluator, q, v framework.Point) {
	blocks, n := e.Blocks(), len(s.S)
	q.CopyFrom(v)
	s.alpha = s.alpha[:0]
	for i := n - 1; i >= 0; i-- {
		alpha := inner(blocks, s.X, s.S[i], q) / s.Curvatures[i]
		addScaled(q, -alpha, s.Y[i])
		s.alpha = append(s.alpha, alpha) // newest first
	}
	s.scale(e, q)
	for i := range n {
		beta := inner(blocks, s.X, s.Y[i], q) / s.Curvatures[i]
		addScaled(q, s.alpha[n-1-i]-beta, s.S[i])
	}
	for k, b := range blocks {
		floats.Scale(-1, q[k])
		b.Project(q[k], s.X[k], q[k])
	}
}

// scale overwrites q with gamma H0 q.
func (s *LBFGSState) scale(e *framework.Evaluator, q framework.Point) {
	gamma := 1.0
	if n := len(s.S); n > 0 {
		y := s.Y[n-1]
		s.work.CopyFrom(y)
		if s.Anchor != nil {
			e.Precondition(s.work, y)
		}
		if yHy := inner(e.Blocks(), s.X, y, s.work); yHy > 0 {
			gamma = s.Curvatures[n-1] / yHy
		}
	}
	if s.Anchor != nil {
		e.Precondition(q, q)
	}
	for k := range q {
		floats.Scale(gamma, q[k])
	}
}

// push adds the pair of the step from X to the trial point, and discards the oldest if the memory is full.
func (s *LBFGSState) push(blocks []framework.Block, memory int) {
	u, v := s.room(blocks, memory)
	for k, b := range blocks {
		if _, ok := b.Manifold.(framework.Metric); !ok {
			floats.SubTo(u[k], s.trial.x[k], s.X[k])
			floats.SubTo(v[k], s.trial.grad[k], s.Grad[k])
			continue
		}
		b.Transport(u[k], s.X[k], s.trial.x[k], s.dir[k])
		floats.Scale(s.trial.step, u[k])
		b.Transport(v[k], s.X[k], s.trial.x[k], s.Grad[k])
		floats.SubTo(v[k], s.trial.grad[k], v[k])
		s.transport(b, k)
	}
	x := s.trial.x
	sy := inner(blocks, x, u, v)
	if !(sy > 0) {
		return
	}
	s.S, s.Y, s.Curvatures = append(s.S, u), append(s.Y, v), append(s.Curvatures, sy)
	s.recompute(blocks)
}

// room returns the memory of the next pair, which is that of the oldest one if the memory is full.
func (s *LBFGSState) room(blocks []framework.Block, memory int) (u, v framework.Point) {
	if len(s.S) < memory {
		return framework.NewPoint(blocks), framework.NewPoint(blocks)
	}
	u, v = s.S[0], s.Y[0]
	n := copy(s.S, s.S[1:])
	copy(s.Y, s.Y[1:])
	copy(s.Curvatures, s.Curvatures[1:])
	s.S, s.Y, s.Curvatures = s.S[:n], s.Y[:n], s.Curvatures[:n]
	return u, v
}

// transport transports the parts of the pairs in block k from X to the trial point.
func (s *LBFGSState) transport(b framework.Block, k int) {
	for i := range s.S {
		b.Transport(s.S[i][k], s.X[k], s.trial.x[k], s.S[i][k])
		b.Transport(s.Y[i][k], s.X[k], s.trial.x[k], s.Y[i][k])
	}
}

// recompute updates <s,y> after a transport and drops pairs without positive curvature.
func (s *LBFGSState) recompute(blocks []framework.Block) {
	moved := false
	for _, b := range blocks {
		_, ok := b.Manifold.(framework.Metric)
		moved = moved || ok
	}
	if !moved {
		return
	}
	n := 0
	for i := range s.S {
		if sy := inner(blocks, s.trial.x, s.S[i], s.Y[i]); sy > 0 {
			s.S[n], s.Y[n], s.Curvatures[n] = s.S[i], s.Y[i], sy
			n++
		}
	}
	s.S, s.Y, s.Curvatures = s.S[:n], s.Y[:n], s.Curvatures[:n]
}

// forget drops all pairs.
func (s *LBFGSState) forget() {
	s.S, s.Y, s.Curvatures = nil, nil, nil
}
