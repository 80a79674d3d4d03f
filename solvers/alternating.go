package solvers

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
)

// Alternating minimises over the inner and the outer blocks of a [latent.Sweeper] alternately, as an accelerated
// fixed-point iteration. A sweep from outer blocks y gives the cost F(y) at the best inner blocks, and the image T(y)
// that minimises a majorizer. The plain iteration y <- T(y) lowers the cost slowly. Phase 1 is Nesterov's
// extrapolation with restarts,
//
//	y+ = T(y_k) + (t_k - 1)/t_{k+1} (T(y_k) - T(y_{k-1})),
//	t_1 = 1,  t_{k+1} = (1 + sqrt(1 + 4 t_k^2)) / 2;
//
// when four relative decreases of the cost in a row are at most 1e-4, phase 2 is Anderson acceleration with the last
// images, see [Mixture]. Blocks are retracted to their manifolds. A point whose cost is higher than before is rejected
// in favour of T(y_k), so that the cost never increases. A rejection in phase 1 restarts the extrapolation; in phase 2
// it returns to phase 1, until the cost falls ten times more slowly than at the last change.
//
// It rejects a problem that cannot sweep ([framework.UnsupportedError]).
//
// The zero value is ready to use.
//
// Sources: Y. Nesterov, Soviet Math. Dokl. 27 (1983) 372-376; B. O'Donoghue,
// E. Candes, Found. Comput. Math. 15 (2015) 715-732 (restarts); D. G. Anderson,
// J. ACM 12 (1965) 547-560; H. F. Walker, P. Ni, SIAM J. Numer. Anal. 49 (2011)
// 1715-1735.
type Alternating struct {
	// Plain disables acceleration.
	Plain bool
}

const (
	// slowDecrease is the relative decrease of the cost that ends phase 1 when it is not exceeded in slowSweeps sweeps
	// in a row.
	slowDecrease, slowSweeps = 1e-4, 4
	// patience multiplies slowDecrease after every failure of phase 2.
	patience = 0.1
	// goldenRatio is t_2: a restart counts the step to T(y_k) as the first of the extrapolation.
	goldenRatio = 1.618033988749895
)

// Name returns "alternating".
func (Alternating) Name() string { return "alternating" }

// Equivariant reports that iterates rotate with the coordinates: all steps are made of sums, inner products and
// the problem's own maps.
func (Alternating) Equivariant() bool { return true }

// NewState returns an empty state for a stored run.
func (Alternating) NewState() framework.State { return &AlternatingState{} }

// AlternatingState is the state of a run of [Alternating].
type AlternatingState struct {
	X    framework.Point
	Cost float64

	// Image holds the image T(y) of the outer blocks y of X; its inner blocks are empty.
	Image framework.Point
	// Last is the Image before; empty if there is none.
	Last framework.Point
	// Momentum is t_k; 0 stands for 1.
	Momentum float64
	// Mixing says that phase 2 has begun.
	Mixing bool
	// Slow counts the slow sweeps in a row.
	Slow int
	// Failures counts the returns to phase 1 after an increase of the cost.
	Failures int
	// History is the memory of Anderson acceleration.
	History Mixture

	next  framework.Point // written by the sweep under way
	trial framework.Point // the start of the sweep
}

// Iterate returns the current point and its cost.
func (s *AlternatingState) Iterate() (framework.Point, float64) { return s.X, s.Cost }

// Lacks implements [framework.Solver].
func (Alternating) Lacks(p framework.Problem) string {
	if s, ok := framework.As[latent.Sweeper](p); ok && len(s.OuterBlocks()) > 0 {
		return ""
	}
	return "sweeps (Sweeper)"
}
