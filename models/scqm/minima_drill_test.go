package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/solvers"
)

// minimaGrid has the dimensions and numbers of rows of the surfaces.
var minimaGrid = struct{ dims, rows []int }{[]int{2, 3, 5, 8, 20}, []int{50, 200, 1000}}

// minimaCase is a fit with default settings to a noisy paraboloid or arc.
type minimaCase struct {
	shape, loss string
	x           Data
	d           int
	c           Config
}

// newMinimaCase makes a case of a grid whose cells come one after the other, those
// of few rows first, with another seed every time round.
func newMinimaCase(c drill.Case, names []string) (minimaCase, error) {
	at := c.Index
	next := func(n int) int { k := at % n; at /= n; return k }
	s := minimaCase{shape: []string{"paraboloid", "arc"}[next(2)], loss: names[next(len(names))]}
	D, n := minimaGrid.dims[next(len(minimaGrid.dims))], minimaGrid.rows[next(len(minimaGrid.rows))]
	s.d = min(2, D-1)
	if s.shape == "arc" {
		s.d = 1
		s.x = turnedArc(c.Rand, D, n)
	} else {
		s.x = noisyParaboloid(c.Rand, D, s.d, n)
	}
	loss, err := s.newLoss(c.Rand)
	s.c = Config{Latent: s.d, Loss: loss, Threads: 1}
	return s, err
}

func (s minimaCase) newLoss(rng *rand.Rand) (framework.Loss, error) {
	switch s.loss {
	case "huber":
		norms, err := ResidualNorms(s.x, s.d)
		if err != nil {
			return nil, err
		}
		return losses.Huber(losses.DefaultHuberDelta(norms))
	case "mahalanobis":
		a, m := mat.NewDense(s.x.D, s.x.D, nil), mat.NewSymDense(s.x.D, nil)
		a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
		m.SymOuterK(1/float64(s.x.D), a)
		for j := range s.x.D {
			m.SetSym(j, j, m.At(j, j)+0.3)
		}
		return losses.Mahalanobis(m)
	case "lp":
		return losses.Lp(1.5)
	case "l1":
		return losses.L1(), nil
	case "l2":
		return losses.L2(), nil
	}
	return losses.SquaredL2(), nil
}

func (s minimaCase) String() string {
	return fmt.Sprintf("%s %s D = %d n = %d", s.loss, s.shape, s.x.D, s.x.N)
}

// turnedArc returns points of a quarter of a circle in a random plane of R^D, with
// noise of standard deviation .05.
func turnedArc(rng *rand.Rand, D, n int) Data {
	var qr mat.QR
	var turn mat.Dense
	gauss := mat.NewDense(D, D, nil)
	gauss.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, gauss)
	qr.Factorize(gauss)
	qr.QTo(&turn)
	x, at := Data{N: n, D: D, X: make([]float64, n*D)}, make([]float64, D)
	for i := range n {
		angle := rng.Float64() * math.Pi / 2
		for j := range at {
			at[j] = 0.05 * rng.NormFloat64()
		}
		at[0] += math.Cos(angle)
		at[1] += math.Sin(angle)
		mat.NewVecDense(D, x.Row(i)).MulVec(&turn, mat.NewVecDense(D, at))
	}
	return x
}

const (
	// restarts is the number of perturbations of a fit from which it is fitted again.
	restarts = 20
	// raised is how many times the objective a perturbed point may have: beyond, it
	// is not near the fit, but where other minima are.
	raised = 2
	// lowerBy is the relative decrease of the objective that a fit misses.
	lowerBy = 1e-6
)

// nearby returns by how much of itself the objective of a fit is higher than what
// fits find that begin near it: from perturbations of all blocks by .01 to 3 % of
// their size, or less where that raises the objective more than twice, and from
// the fit itself with every solver.
func nearby(m *Model, x Data, rng *rand.Rand) (gain float64, how string, err error) {
	fit, err := m.refined(context.Background(), x, 1)
	if err != nil {
		return 0, "", err
	}
	p, cost := fit.problem, m.Meta.Objective+m.Meta.Penalty
	try := func(at framework.Point, name, from string) error {
		solver, err := solvers.ByName(name)
		if err != nil {
			return err
		}
		run, err := framework.Solve(context.Background(), p, at, solver, framework.Options{MaxIterations: 1000})
		if err != nil {
			return err
		}
		if g := (cost - run.Cost) / cost; g > gain {
			gain, how = g, name+from
		}
		return nil
	}
	for k := range restarts {
		at, size, err := perturbed(p, fit.at, math.Pow(10, -4+2.5*float64(k)/restarts), cost, rng)
		if err != nil {
			return 0, "", err
		}
		if err := try(at, "newton", fmt.Sprintf(" from a perturbation by %.2g", size)); err != nil {
			return 0, "", err
		}
	}
	for _, name := range []string{"newton", "lbfgs", "alternating"} {
		if err := try(fit.at.Clone(), name, ""); err != nil {
			return 0, "", err
		}
	}
	return gain, how, nil
}

// perturbed moves all blocks by normal numbers of the size given, relative to the
// root mean square of a block, halved until the cost is raised no more than twice.
func perturbed(p *Problem, x framework.Point, size, cost float64, rng *rand.Rand) (framework.Point, float64, error) {
	move := x.Clone()
	for b, block := range move {
		scale := floats.Norm(block, 2) / math.Sqrt(float64(max(1, len(block))))
		for i := range x[b] {
			block[i] = scale * rng.NormFloat64()
		}
	}
	for ; ; size /= 2 {
		at := x.Clone()
		for b, block := range at {
			floats.AddScaled(block, size, move[b])
		}
		if err := p.Blocks()[BlockQ].Restore(at[BlockQ]); err != nil {
			return nil, 0, err
		}
		if now, err := p.Evaluate(nil, at); err != nil || now <= raised*cost {
			return at, size, err
		}
	}
}

// minimaCount is what is found of the fits of a cell.
type minimaCount struct{ tried, converged, refused, higher int }

// drillMinima fits noisy paraboloids and arcs and looks at those that are called
// converged: influence takes them for minima, and no solver and no restart near them
// ends lower, but for a share of them with another minimum close by.
func drillMinima(t *testing.T, name string, quick int, names []string, share, higher float64) {
	cells, order := map[string]*minimaCount{}, []string{}
	drill.Run(t, name, quick, func(c drill.Case) error {
		s, err := newMinimaCase(c, names)
		if err != nil {
			return err
		}
		cell := cells[s.String()]
		if cell == nil {
			cell = &minimaCount{}
			cells[s.String()], order = cell, append(order, s.String())
		}
		begun := time.Now()
		fit, err := Learn(context.Background(), s.x, s.c)
		if err != nil {
			return err
		}
		took := time.Since(begun)
		cell.tried++
		meta := fit.Model.Meta
		if fit.Run.Status != framework.Converged {
			t.Logf("case %d: %s: %s after %d iterations, %v: %s", c.Index, s, meta.Status, meta.Iterations, took, meta.Message)
			return nil
		}
		cell.converged++
		if _, err := fit.Model.Influence(context.Background(), s.x, 1); errors.Is(err, ErrNotMinimum) {
			cell.refused++
			return fmt.Errorf("%s: converged, but %w", s, err)
		} else if err != nil {
			return err
		}
		gain, how, err := nearby(fit.Model, s.x, c.Rand)
		if err != nil {
			return err
		}
		if gain > lowerBy {
			cell.higher++
			t.Logf("case %d: %s: converged, but higher by %.3g than %s; |Theta| %.3g", c.Index, s, gain, how, floats.Norm(fit.Model.Theta, 2))
		}
		return nil
	})
	var all minimaCount
	slices.Sort(order)
	for _, key := range order {
		n := cells[key]
		t.Logf("%s: %d fits, %d converged, %d of them refused, %d higher than near by", key, n.tried, n.converged, n.refused, n.higher)
		all.tried += n.tried
		all.converged += n.converged
		all.higher += n.higher
	}
	t.Logf("%s: %d of %d converged, %d of them higher than near by", name, all.converged, all.tried, all.higher)
	assert.GreaterOrEqual(t, float64(all.converged), share*float64(all.tried)-1)
	assert.LessOrEqual(t, float64(all.higher), higher*float64(all.tried))
}

// Default fits with losses that have a gradient converge, to minima.
func TestDrillMinima(t *testing.T) {
	drillMinima(t, "minima", 16, []string{"squared_l2", "huber", "mahalanobis", "lp"}, 0.95, 0.005)
}

// So do those with l1 and l2. Under l1 a few have another minimum close by, a vertex that
// the trials of the finish miss.
func TestDrillKinkedMinima(t *testing.T) {
	drillMinima(t, "kinked minima", 6, []string{"l1", "l2"}, 0.95, 1./24)
}
