package scqm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
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

// minimaLosses are the losses of the fits.
var minimaLosses = []string{"squared_l2", "l2", "l1", "huber", "lp", "mahalanobis"}

// minimaCell is one kind of fit with default settings: to a noisy paraboloid or arc of n
// rows in D dimensions.
type minimaCell struct {
	loss string
	arc  bool
	D, n int
}

// minimaCells are all kinds, in the order in which they are tried: first those that
// take least, and then the others by strides, so that any share of them has some of each.
func minimaCells() []minimaCell {
	var quick, rest []minimaCell
	for _, n := range []int{50, 200, 1000} {
		for _, D := range []int{2, 3, 5, 8, 20} {
			for _, loss := range minimaLosses {
				for _, arc := range []bool{false, true} {
					c := minimaCell{loss, arc, D, n}
					if n == 50 && D <= 3 {
						quick = append(quick, c)
					} else {
						rest = append(rest, c)
					}
				}
			}
		}
	}
	const stride = 59 // has no divisor in common with the 156 others
	for k := range rest {
		quick = append(quick, rest[k*stride%len(rest)])
	}
	return quick
}

func (c minimaCell) String() string {
	return fmt.Sprintf("%s %s D = %d n = %d", c.loss, map[bool]string{false: "paraboloid", true: "arc"}[c.arc], c.D, c.n)
}

// minimaCase is a fit of a cell.
type minimaCase struct {
	minimaCell
	x Data
	d int
	c Config
}

// newMinimaCase makes a case of a cell.
func newMinimaCase(cell minimaCell, rng *rand.Rand) (minimaCase, error) {
	s := minimaCase{minimaCell: cell, d: min(2, cell.D-1)}
	if cell.arc {
		s.d = 1
		s.x = turnedArc(rng, cell.D, cell.n)
	} else {
		s.x = noisyParaboloid(rng, cell.D, s.d, cell.n)
	}
	loss, err := s.newLoss(rng)
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
		return losses.Huber(losses.DefaultDelta("huber", norms))
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
	// restarts is the number of perturbations of a fit from which it is fitted again,
	// unless SCQM_MINIMA_RESTARTS has another; they take nearly all of the time.
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
	fit, err := m.asPoint(context.Background(), x, 1)
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
	count := float64(restarts)
	if text := os.Getenv("SCQM_MINIMA_RESTARTS"); text != "" {
		if count, err = strconv.ParseFloat(text, 64); err != nil {
			return 0, "", err
		}
	}
	for k := range int(count) {
		at, size, err := perturbed(p, fit.at, math.Pow(10, -4+2.5*float64(k)/count), cost, rng)
		if err != nil {
			return 0, "", err
		}
		if err := try(at, "newton", fmt.Sprintf(" from a perturbation by %.2g", size)); err != nil {
			return 0, "", err
		}
	}
	for _, name := range []string{"newton", "lbfgs"} {
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

// mostHigher are the shares of fits by a loss that may be higher than near by, beside one:
// where a sheet of great curvature folds. A vertex next to that of a fit by l1 may be lower
// by 1e-4: fits do not look for it, and the drill only counts such fits.
var mostHigher = map[string]float64{"l1": 1, "lp": 0.02, "mahalanobis": 0.02}

// minimaCount counts fits, and the three ways in which they fail.
type minimaCount struct {
	tried, unconverged, refused, higher int
	most                                float64 // by which one is higher than near by
	took                                time.Duration
}

// add adds the counts of another cell.
func (n *minimaCount) add(o minimaCount) {
	n.tried += o.tried
	n.unconverged += o.unconverged
	n.refused += o.refused
	n.higher += o.higher
	n.most = max(n.most, o.most)
	n.took += o.took
}

func (n *minimaCount) String() string {
	percent := func(k int) float64 { return 100 * float64(k) / float64(n.tried) }
	return fmt.Sprintf("%d fits, %.1f %% converged, %.1f %% refused by influence, %.1f %% higher than near by, by at most %.1e; %v each",
		n.tried, percent(n.tried-n.unconverged), percent(n.refused), percent(n.higher), n.most, (n.took / time.Duration(n.tried)).Round(100*time.Microsecond))
}

// fit fits a case and counts how it fails.
func (n *minimaCount) fit(t testing.TB, c drill.Case, s minimaCase) error {
	begun := time.Now()
	fit, err := Learn(t.Context(), s.x, s.c)
	if err != nil {
		return err
	}
	n.took += time.Since(begun)
	n.tried++
	meta := fit.Model.Meta
	if fit.Run.Status != framework.Converged {
		n.unconverged++
		t.Logf("case %d: %s: %s after %d iterations: %s", c.Index, s, meta.Status, meta.Iterations, meta.Message)
		return nil
	}
	if _, err := fit.Model.Influence(t.Context(), s.x, 1); errors.Is(err, ErrNotMinimum) {
		n.refused++
		return fmt.Errorf("%s: converged, but %w", s, err)
	} else if err != nil {
		return err
	}
	gain, how, err := nearby(fit.Model, s.x, c.Rand)
	if err != nil {
		return err
	}
	if n.most = max(n.most, gain); gain > lowerBy {
		n.higher++
		t.Logf("case %d: %s: converged, but higher by %.3g than %s; |Theta| %.3g", c.Index, s, gain, how, floats.Norm(fit.Model.Theta, 2))
	}
	return nil
}

// Default fits of noisy paraboloids and arcs by all losses converge, to minima: influence
// takes them for such, and no solver and no restart near them ends lower, but for a share
// by loss with another minimum close by. The whole grid, twenty of each kind, are 3,600
// cases; of these shard K/180 (see package drill) is
// the twenty of kind K.
func TestDrillMinima(t *testing.T) {
	cells := minimaCells()
	counts := make([]minimaCount, len(cells))
	drill.Run(t, "minima", 24, func(c drill.Case) error {
		k := c.Index % len(cells)
		s, err := newMinimaCase(cells[k], c.Rand)
		if err != nil {
			return err
		}
		return counts[k].fit(t, c, s)
	})
	var all minimaCount
	for _, loss := range minimaLosses {
		var n minimaCount
		for k, cell := range cells {
			if cell.loss == loss && counts[k].tried > 0 {
				t.Logf("%s: %s", cell, &counts[k])
				n.add(counts[k])
			}
		}
		if n.tried == 0 {
			continue
		}
		t.Logf("%s: %s", loss, &n)
		assert.LessOrEqual(t, float64(n.unconverged), 0.05*float64(n.tried)+1, loss)
		assert.LessOrEqual(t, float64(n.higher), mostHigher[loss]*float64(n.tried)+1, loss)
		all.add(n)
	}
	t.Logf("all: %s", &all)
}
