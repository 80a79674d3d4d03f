package scqm

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/drill"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
	"github.com/scqm/scqm/solvers"
)

// noisyParaboloid returns points of a d-dimensional paraboloid in R^D, in random
// position, with noise of standard deviation .05.
func noisyParaboloid(rng *rand.Rand, D, d, n int) Data {
	gauss := mat.NewDense(D, D, nil)
	forms := make([]*mat.Dense, D-d)
	gauss.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, gauss)
	for k := range forms {
		forms[k] = mat.NewDense(d, d, nil)
		forms[k].Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() / 2 }, forms[k])
	}
	var qr mat.QR
	var turn mat.Dense
	qr.Factorize(gauss)
	qr.QTo(&turn)
	x, at := Data{N: n, D: D, X: make([]float64, n*D)}, mat.NewVecDense(D, nil)
	for i := range n {
		tau := at.SliceVec(0, d)
		for j := range d {
			at.SetVec(j, 2*rng.Float64()-1)
		}
		for k, form := range forms {
			at.SetVec(d+k, mat.Inner(tau, form, tau))
		}
		for j := range D {
			at.SetVec(j, at.AtVec(j)+0.05*rng.NormFloat64())
		}
		mat.NewVecDense(D, x.X[i*D:(i+1)*D]).MulVec(&turn, at)
	}
	return x
}

// kinkedCase is a fit with an l1 or l2 loss, in codimension 1 to 3.
type kinkedCase struct {
	name    string
	x       Data
	loss    framework.Loss
	d, s    int
	ridge   float64
	threads int
}

func newKinkedCase(c drill.Case) kinkedCase {
	k := kinkedCase{loss: losses.L2(), threads: 1 + c.IntN(2)}
	n := []int{50, 200}[c.IntN(2)]
	if c.IntN(2) == 0 {
		k.loss = losses.L1()
	}
	if c.IntN(2) == 0 {
		k.ridge = 1e-3
	}
	D := []int{2, 3, 5}[c.IntN(3)]
	k.d = min(2, D-1)
	shape := "paraboloid"
	if c.IntN(4) == 0 {
		shape, D, k.d = "arc", 2, 1
		k.x = arc(c.Uint64(), n, 0.05)
	} else {
		k.x = noisyParaboloid(c.Rand, D, k.d, n)
	}
	if c.IntN(3) == 0 {
		k.x.Weights = make([]float64, n)
		for i := range k.x.Weights {
			k.x.Weights[i] = float64(c.IntN(4)) / 2
		}
	}
	k.s = min(k.d*(k.d+1)/2, D-k.d)
	k.name = fmt.Sprintf("%s D=%d n=%d %s ridge=%g weighted=%v", shape, D, n, k.loss.Name(), k.ridge, k.x.Weights != nil)
	return k
}

// recorded is a problem that keeps the multipliers that it was given last.
type recorded struct {
	*Problem
	multipliers []float64
}

func (p *recorded) SetMultipliers(dual []float64) {
	p.multipliers = slices.Clone(dual)
	p.Problem.SetMultipliers(dual)
}

// solve fits from the usual start, without reassignments.
func (k kinkedCase) solve(t testing.TB, solver framework.Solver, firstOrder bool) (*recorded, *framework.Result) {
	t.Helper()
	p, start := begin(t, k.x, k.loss, k.d, k.s, k.threads)
	mean := make([]float64, k.x.D)
	for i := range k.x.N {
		floats.AddScaled(mean, k.x.Weight(i)/k.x.TotalWeight(), k.x.Row(i))
	}
	require.NoError(t, p.setRidge(k.ridge, &placed{x: start, spread: spread(*p.Data(), mean)}))
	p.SolveTheta(start)
	r := &recorded{Problem: p}
	run, err := framework.Solve(context.Background(), r, start, solver, framework.Options{MaxIterations: 3000, FirstOrder: firstOrder})
	require.NoError(t, err)
	return r, run
}

func newtonStages(finish bool) framework.Solver {
	return solvers.Continuation{Inner: solvers.Newton{}, Finish: finish}
}

// worstResidual computes the measure of stationarity with the multipliers given,
// from the formulas of its documentation, and the slack.
func worstResidual(p *recorded, x framework.Point, g []float64) float64 {
	data, f := *p.Data(), p.NewSheet()
	f.Load(x[BlockC], x[BlockQ], x[BlockTheta])
	D, m, d := f.D, f.M, f.Latent
	q, e := mat.NewDense(D, m, x[BlockQ]), mat.NewDense(D, m, nil)
	gc, gTheta := make([]float64, D), mat.NewDense(f.Q, max(f.S, 1), nil)
	var terms [4]float64
	var cost, linear, gTau float64
	z, phi, r, j := make([]float64, m), make([]float64, f.Q), make([]float64, D), mat.NewDense(m, d, nil)
	value := make([]float64, 1)
	for i := range data.N {
		tau, w, gi := x[BlockTau][i*d:(i+1)*d], data.Weight(i), mat.NewVecDense(D, slices.Clone(g[i*D:(i+1)*D]))
		f.Coordinates(z, phi, tau)
		f.Residual(r, z, data.Row(i))
		if p.PlainLoss().Evaluate(value, nil, r, D) != nil {
			return math.Inf(1)
		}
		cost += w * value[0]
		linear += w * floats.Dot(r, gi.RawVector().Data)
		gi.ScaleVec(w, gi)
		size := mat.Norm(gi, 2)
		f.Jacobian(j.RawMatrix().Data, tau)
		var pulled, inTau mat.VecDense
		pulled.MulVec(q.T(), gi)
		inTau.MulVec(j.T(), &pulled)
		gTau += mat.Norm(&inTau, 2)
		floats.Add(gc, gi.RawVector().Data)
		e.RankOne(e, 1, gi, mat.NewVecDense(m, z))
		if f.S > 0 {
			gTheta.RankOne(gTheta, 1, mat.NewVecDense(f.Q, phi), pulled.SliceVec(d, m))
		}
		for b, by := range []float64{1, floats.Norm(z, 2), floats.Norm(phi, 2), mat.Norm(j, 2)} {
			terms[b] += size * by
		}
	}
	var slope float64
	for a := range f.Q {
		for k := range f.S {
			v := 2 * p.Lambda * sheet.VechWeight(d, a) * f.Theta[a*f.S+k]
			gTheta.Set(a, k, gTheta.At(a, k)+v)
			slope += v * v
		}
	}
	terms[2] += math.Sqrt(slope)
	var qe, part mat.Dense
	qe.Mul(q.T(), e)
	qe.Add(&qe, qe.T())
	part.Mul(q, &qe)
	part.Scale(0.5, &part)
	e.Sub(e, &part)
	worst := max(floats.Norm(gc, 2)/terms[0], mat.Norm(e, 2)/terms[1], gTau/terms[3], (cost-linear)/cost)
	if f.S > 0 {
		worst = max(worst, mat.Norm(gTheta, 2)/terms[2])
	}
	return worst
}

// inBall reports whether all multipliers are in the ball of the loss.
func inBall(loss framework.Loss, g []float64, D int) bool {
	h := slices.Clone(g)
	loss.(rowloss.SupportFunction).ProjectDual(h, D)
	return floats.Distance(g, h, math.Inf(1)) < 1e-15
}

// lower looks for a lower cost from small perturbations of x and returns by how
// much of itself it is lower.
func (k kinkedCase) lower(t testing.TB, p *recorded, run *framework.Result, rng *rand.Rand) float64 {
	t.Helper()
	most := 0.0
	for range 2 {
		x := run.Point.Clone()
		size := math.Pow(10, -5+2.5*rng.Float64())
		for b := range x {
			scale := size * floats.Norm(x[b], math.Inf(1))
			for i := range x[b] {
				x[b][i] += scale * rng.NormFloat64()
			}
		}
		require.NoError(t, p.Blocks()[BlockQ].Restore(x[BlockQ]))
		again, err := framework.Solve(context.Background(), p.Problem, x, solvers.PrimalDual{}, framework.Options{MaxIterations: 1000})
		require.NoError(t, err)
		most = max(most, (run.Cost-again.Cost)/run.Cost)
	}
	return most
}

// Fits of noisy surfaces by l1 and l2 end at kinks. The finish never ends above
// the fit, what it certifies stands up to the formulas, and only rarely there is a
// lower cost near by, as at minima of l1 that are no wider than the perturbation
// and where curvature runs away without a ridge.
func TestDrillKinks(t *testing.T) {
	var before, after, higher, tried int
	var cpu [2]time.Duration
	var gains []float64
	drill.Run(t, "kinks", 8, func(c drill.Case) error {
		k := newKinkedCase(c)
		begun := time.Now()
		_, without := k.solve(t, newtonStages(false), true)
		middle := time.Now()
		_, with := k.solve(t, newtonStages(true), true)
		cpu[0] += middle.Sub(begun)
		cpu[1] += time.Since(middle)
		tried++
		if without.Status == framework.Converged {
			before++
		}
		gains = append(gains, (without.Cost-with.Cost)/without.Cost)
		if with.Cost > without.Cost*(1+1e-13) {
			return fmt.Errorf("%s: cost %.15g above %.15g without the finish", k.name, with.Cost, without.Cost)
		}
		// An examination may lead elsewhere from there.
		p, run := k.solve(t, newtonStages(true), false)
		if run.Status != framework.Converged {
			return nil
		}
		after++
		if len(p.multipliers) > 0 && without.Status != framework.Converged {
			if worst := worstResidual(p, run.Point, p.multipliers); !(worst <= framework.DefaultTolerance) || !inBall(k.loss, p.multipliers, k.x.D) {
				return fmt.Errorf("%s: the multipliers leave %.3g", k.name, worst)
			}
		}
		if lower := k.lower(t, p, run, c.Rand); lower > 1e-6 {
			t.Logf("case %d: %s: converged, but %.3g higher than near by; |Theta| %.3g", c.Index, k.name, lower, floats.Norm(run.Point[BlockTheta], 2))
			higher++
		}
		return nil
	})
	slices.Sort(gains)
	t.Logf("kinks: %d of %d converged, %d of them higher than near by, %d without the finish; objective lower by %.1e in the median, %.1e at most; %v, %v without",
		after, tried, higher, before, gains[len(gains)/2], gains[len(gains)-1], cpu[1], cpu[0])
	assert.GreaterOrEqual(t, float64(after), 0.9*float64(tried)-1)
	assert.LessOrEqual(t, float64(higher), 0.02*float64(tried)+1)
	assert.Greater(t, after, before)
}

// The power 1 is l1 in everything.
func TestPowerOneIsL1(t *testing.T) {
	one, err := losses.Lp(1)
	require.NoError(t, err)
	x := noisyParaboloid(rand.New(rand.NewPCG(1, 300050)), 3, 2, 50)
	a, b := learn(t, x, Config{Latent: 2, Loss: one}), learn(t, x, Config{Latent: 2, Loss: losses.L1()})
	assert.Equal(t, framework.Converged, a.Run.Status)
	assert.Equal(t, b.Run.Cost, a.Run.Cost)
	assert.Equal(t, b.Run.Iterations, a.Run.Iterations)
}

// A finish that crawls from kink to kink rounds more for a while. It took 1019 iterations.
func TestFinishRoundsMoreWhereItCrawls(t *testing.T) {
	x := noisyParaboloid(rand.New(rand.NewPCG(23, 41)), 20, 2, 150)
	fit := learn(t, x, Config{Latent: 2, Loss: losses.L1(), Threads: 1, Solver: solvers.Continuation{Inner: solvers.LBFGS{}, Finish: true}})
	assert.Equal(t, framework.Converged, fit.Run.Status)
	assert.Less(t, fit.Run.Iterations, 700)
}

// Where a sheet is nearly flat, fits creep along a valley of the objective with gradients
// within the tolerance, or to the limit of iterations: they are not converged unless no start ends lower.
func TestFlatValleysAreNotConverged(t *testing.T) {
	for _, c := range []struct {
		seed uint64
		n    int
		loss framework.Loss
	}{{46, 20, losses.L1()}, {9, 50, losses.L2()}} {
		x := noisyParaboloid(rand.New(rand.NewPCG(c.seed, 200503)), 2, 1, c.n)
		fit := learn(t, x, Config{Latent: 1, Loss: c.loss})
		if fit.Run.Status == framework.Converged {
			best := learn(t, x, Config{Latent: 1, Inits: 30, Loss: c.loss, Options: framework.Options{Tolerance: 1e-9}})
			assert.LessOrEqual(t, fit.Run.Cost, best.Run.Cost*(1+1e-8), "%s, seed %d", c.loss.Name(), c.seed)
			continue
		}
		if slices.Max(fit.Run.Stationarity) <= 1e-6 {
			assert.Contains(t, fit.Run.Message, "flat valley")
		}
	}
}

// The finish is far dearer than the stages, so that rows go to their places before.
func TestRowsAreReassignedBeforeTheFinish(t *testing.T) {
	moved := 0
	for seed := range 4 {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		x := noisyParaboloid(rng, 5, 2, 60)
		for i := range x.X {
			x.X[i] += 0.3 * rng.NormFloat64()
		}
		p, start := begin(t, x, losses.L1(), 2, 3, 1)
		inPlace := func(x framework.Point) {
			at := x.Clone()
			before, err := p.Evaluate(nil, at)
			require.NoError(t, err)
			if again, _, err := p.Reassign(at); assert.NoError(t, err) && again {
				after, err := p.Evaluate(nil, at)
				require.NoError(t, err)
				assert.False(t, latent.WorthReassigning(before, after), "seed %d: %v, and %v with rows elsewhere", seed, before, after)
			}
		}
		begun := false
		_, err := framework.Solve(context.Background(), p, start, newtonStages(true), framework.Options{
			MaxIterations: 4000,
			Observers: []func(framework.Record){func(now framework.Record) {
				s := now.State.(*solvers.ContinuationState)
				if s.Finish != nil && !begun {
					begun = true
					moved += s.Reassigned
					inPlace(s.Finish.X)
				}
			}},
		})
		require.NoError(t, err)
		assert.True(t, begun)
	}
	assert.Greater(t, moved, 2)
}

// The finish gives the same model for any number of threads, and goes on from
// wherever it was stored, also where the stages begin again.
func TestFinishIsDeterministic(t *testing.T) {
	for _, c := range []struct {
		seed, n    int
		iterations int
	}{{6, 60, 1000}, {4, 70, 380}} {
		x := noisyParaboloid(rand.New(rand.NewPCG(uint64(c.seed), 5)), 3, 2, c.n)
		for _, loss := range []framework.Loss{losses.L1(), losses.L2()} {
			var stored [][]byte
			fit := func(threads int, checkpoint *framework.Checkpoint) Meta {
				return learn(t, x, Config{Latent: 2, Loss: loss, Solver: newtonStages(true), Threads: threads, Options: framework.Options{
					MaxIterations: c.iterations, Checkpoint: checkpoint,
				}}).Model.Meta
			}
			want := fit(1, storing(&stored))
			assert.Equal(t, want, fit(2, nil))
			for k := 0; k < len(stored); k += 29 {
				require.Equal(t, want, fit(1, resuming(stored[k])), "%s: store %d of %d", loss.Name(), k, len(stored))
			}
			t.Logf("%s: %s after %d iterations", loss.Name(), want.Status, want.Iterations)
		}
	}
}

// The finish follows curved kinks of many entries, and converges at first.
func TestFinishFollowsCurvedKinks(t *testing.T) {
	for seed := range 3 {
		x := turnedArc(rand.New(rand.NewPCG(uint64(seed), 20)), 20, 50)
		k := kinkedCase{x: x, loss: losses.L1(), d: 1, s: 1, ridge: 1e-3, threads: 1}
		_, run := k.solve(t, newtonStages(true), true)
		assert.Equal(t, framework.Converged, run.Status, seed)
		assert.Less(t, run.Iterations, 400, seed)
	}
}

// Under l2 in many directions off the sheet kinks are not rounded. A row that the sheet
// runs through all the same holds the solver up for as long as it likes, unless the
// finish goes on.
func TestTouchingRows(t *testing.T) {
	x := noisyParaboloid(rand.New(rand.NewPCG(2, 20050)), 20, 2, 50)
	for _, inner := range []framework.Solver{solvers.Alternating{}, solvers.Newton{}, solvers.LBFGS{}} {
		k := kinkedCase{x: x, loss: losses.L2(), d: 2, s: 3, ridge: 1e-3, threads: 1}
		_, without := k.solve(t, solvers.Continuation{Inner: inner}, true)
		_, run := k.solve(t, solvers.Continuation{Inner: inner, Finish: true}, true)
		t.Logf("%s: %s after %d iterations, %.9g; %s after %d, %.9g", inner.Name(), run.Status, run.Iterations, run.Cost, without.Status, without.Iterations, without.Cost)
		assert.Equal(t, framework.Converged, run.Status, inner.Name())
		assert.NotEqual(t, framework.Converged, without.Status, inner.Name())
		assert.LessOrEqual(t, run.Cost, without.Cost*(1+1e-12), inner.Name())
	}
}

// A run that comes to a kink after its second stages, with the inner solver gone, begins
// the last finish where it is.
func TestLastFinishWithoutInnerSolver(t *testing.T) {
	p, start := begin(t, noisyParaboloid(rand.New(rand.NewPCG(1, 7)), 3, 2, 40), losses.L1(), 2, 1, 1)
	e := framework.NewEvaluator(context.Background(), p)
	cost, err := e.Evaluate(nil, start)
	require.NoError(t, err)
	s := &solvers.ContinuationState{X: start.Clone(), Cost: cost, Eps: 1, First: 1, Done: true, Again: true}
	require.NoError(t, newtonStages(true).Step(e, s))
	require.NotNil(t, s.Finish)
	assert.True(t, s.Finish.Last)
	assert.Equal(t, start, s.Finish.X)
}
