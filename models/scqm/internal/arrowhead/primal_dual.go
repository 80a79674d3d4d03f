package arrowhead

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/objective"
)

// The primal-dual system of a loss that is a support function has dual variables
// g_i of the rows. With theta = sqrt(|r|^2 + eps^2) of a row, or of every entry,
// the matrices of [Hessian] are those with
//
//	H = [I - (g r' + r g')/(2 theta)]/theta           for l2,
//	H = diag(max(0, p - (2-p) g_k r_k theta_k^-p) theta_k^(p-2))  for powers, l1 with p = 1,
//
// and with g in place of the gradient wherever it multiplies second derivatives
// of r. Those of the rounded loss have its gradient in place of g, r/theta or
// p r_k theta_k^(p-2).

// primalDual holds what a row takes.
type primalDual struct {
	slope []float64 // D: gradient of the rounded loss in the frame
	row   []float64 // D: in the coordinates of the data
	curve []float64 // D: diagonal of H there
	hess  []float64 // D x D: H in the frame
}

func newPrimalDual(D int) *primalDual {
	return &primalDual{slope: make([]float64, D), row: make([]float64, D), curve: make([]float64, D), hess: make([]float64, D*D)}
}

// AssemblePrimalDual implements [framework.PrimalDual].
func (a *Hessian) AssemblePrimalDual(dst *framework.Arrowhead, x framework.Point, dual []float64) (cost, passes float64, err error) {
	known := a.preparePrimalDual(x)
	for _, s := range a.sums {
		s.dual = dense.Grow(s.dual, len(s.gh))
	}
	job := primalDualShard{assembleShard: assembleShard{dst: dst, tau: x[objective.BlockTau], coordsKnown: known}, dual: dual}
	if err := a.eachShard(&job); err != nil {
		return 0, 0, err
	}
	a.coords.keep(a.F, a.o.Version())
	t := a.total
	t.dual = dense.Grow(t.dual, len(t.gh))
	t.reset()
	for _, s := range a.sums {
		t.add(s)
	}
	a.finish(dst, t, t.dual)
	a.addPenalty(dst, x[objective.BlockTheta])
	return t.cost + a.o.Penalty(nil, x[objective.BlockTheta]), 2, nil
}

// preparePrimalDual loads the sheet and reports whether the rows are known in its
// frame.
func (a *Hessian) preparePrimalDual(x framework.Point) bool {
	a.prepare(x)
	a.Frame.Complete()
	return a.coords.belongsTo(a.F, a.o.Version())
}

// primalDualShard assembles some rows.
type primalDualShard struct {
	assembleShard
	dual []float64 // n x D
}

func (job *primalDualShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.reset()
	return job.eachRow(a, w, lo, hi, func(i, k int) { job.addRow(a, w, s, i, k) })
}

// eachRow calls work for row i, number k of a batch whose residuals are in w.
func (job *primalDualShard) eachRow(a *Hessian, w *worker, lo, hi int, work func(i, k int)) error {
	for from := lo; from < hi; from += w.batch {
		if err := a.o.Context().Err(); err != nil {
			return err
		}
		to := min(from+w.batch, hi)
		job.residuals(a, w, from, to)
		for i := from; i < to; i++ {
			work(i, i-from)
		}
	}
	return nil
}

// addRow adds row i, which is number k of the batch, and writes its inner
// derivatives.
func (job *primalDualShard) addRow(a *Hessian, w *worker, s *sums, i, k int) {
	D, weight, pd := a.F.D, a.o.Data().Weight(i), w.primalDual()
	h, g, tau := w.h[k*a.Nf:(k+1)*a.Nf], w.g[k*D:(k+1)*D], job.tau[i*a.F.Latent:(i+1)*a.F.Latent]
	a.Frame.Rotate(g, job.dual[i*D:(i+1)*D])
	s.cost += weight * pd.derivatives(a, w.e[k*D:(k+1)*D], g, job.dual[i*D:(i+1)*D])
	dense.Scale(g, weight)
	dense.Scale(pd.slope, weight)
	a.Jacobian(w.dh, tau)
	a.timesJacobian(w, pd.hess, weight)
	job.inner(a, w, pd.slope, g, i)
	job.couple(a, w, h, g, i)
	for r, v := range pd.slope {
		floats.AddScaled(s.gh[r*a.Nf:(r+1)*a.Nf], v, h)
		floats.AddScaled(s.dual[r*a.Nf:(r+1)*a.Nf], g[r], h)
	}
	a.addGeneral(s.a, pd.hess, h, weight)
}

// derivatives writes slope and hess of a row with residual e and dual variables g
// in the frame, dual in the coordinates of the data, and returns the rounded loss.
func (pd *primalDual) derivatives(a *Hessian, e, g, dual []float64) float64 {
	if a.structure == framework.StructureRadial {
		return pd.radial(e, g, a.o.SmoothingLength())
	}
	return pd.separable(a, e, dual, a.o.SmoothingLength())
}

func (pd *primalDual) radial(e, g []float64, eps float64) float64 {
	size, D := floats.Norm(e, 2), len(e)
	theta := math.Hypot(size, eps)
	inverse := 1 / theta
	for r, v := range e {
		pd.slope[r] = v * inverse
	}
	for r, v := range pd.slope {
		for q, u := range pd.slope[:r+1] {
			c := -(v*g[q] + g[r]*u) / 2 * inverse
			pd.hess[r*D+q], pd.hess[q*D+r] = c, c
		}
		pd.hess[r*D+r] += inverse
	}
	return size / (theta + eps) * size
}

func (pd *primalDual) separable(a *Hessian, e, dual []float64, eps float64) float64 {
	clear(pd.row)
	for q, v := range e {
		floats.AddScaled(pd.row, v, a.Frame.Axis(q))
	}
	value := pd.entries(a.o.PlainLoss(), dual, eps)
	a.Frame.Rotate(pd.slope, pd.row)
	a.turnDiagonal(pd.hess, pd.curve)
	return value
}

// entries turns the residual in row into the gradient of the rounded loss, writes
// curve and returns the loss.
func (pd *primalDual) entries(loss framework.Loss, dual []float64, eps float64) (value float64) {
	powers, ok := loss.(framework.PowerSum)
	if !ok {
		for k, r := range pd.row {
			theta := math.Hypot(r, eps)
			value += r / (theta + eps) * r
			pd.row[k] = r / theta
			pd.curve[k] = max(0, 1-dual[k]*pd.row[k]) / theta
		}
		return value
	}
	p := powers.Power()
	offset := math.Pow(eps, p)
	for k, r := range pd.row {
		theta := math.Hypot(r, eps)
		power := math.Pow(theta, p)
		weight := power / theta / theta
		value += power - offset
		pd.row[k] = p * weight * r
		pd.curve[k] = max(0, p-(2-p)*dual[k]*r/power) * weight
	}
	return value
}

// MoveDual implements [framework.PrimalDual]: dual becomes that part of the way
// nearer to the gradient + H dr, where dr belongs to the move v of the outer blocks and
// inner of tau.
func (a *Hessian) MoveDual(dual []float64, x framework.Point, v, inner []float64, fraction float64) error {
	job := moveDualShard{
		primalDualShard: primalDualShard{assembleShard: assembleShard{tau: x[objective.BlockTau]}, dual: dual},
		inner:           inner, fraction: fraction,
	}
	job.coordsKnown = a.preparePrimalDual(x)
	job.outer = make([]float64, a.F.D*a.Nf)
	for p, step := range v {
		for _, t := range a.TermsOf(p) {
			job.outer[t.Row*a.Nf+t.Feature] += t.Sign * step
		}
	}
	if err := a.eachShard(&job); err != nil {
		return err
	}
	a.coords.keep(a.F, a.o.Version())
	return nil
}

// moveDualShard moves the dual variables of some rows.
type moveDualShard struct {
	primalDualShard
	outer    []float64 // D x F: the change of e by the outer blocks is outer h
	inner    []float64 // n x d
	fraction float64
}

func (job *moveDualShard) run(a *Hessian, w *worker, _, lo, hi int) error {
	return job.eachRow(a, w, lo, hi, func(i, k int) { job.moveRow(a, w, i, k) })
}

func (job *moveDualShard) moveRow(a *Hessian, w *worker, i, k int) {
	f, pd := a.F, w.primalDual()
	D, d := f.D, f.Latent
	h, g, dual := w.h[k*a.Nf:(k+1)*a.Nf], w.g[k*D:(k+1)*D], job.dual[i*D:(i+1)*D]
	a.Frame.Rotate(g, dual)
	pd.derivatives(a, w.e[k*D:(k+1)*D], g, dual)
	a.Jacobian(w.dh, job.tau[i*d:(i+1)*d])
	de := pd.row
	for r := range de {
		de[r] = dense.Dot(job.outer[r*a.Nf:(r+1)*a.Nf], h)
		if r < f.M {
			de[r] += dense.Dot(w.dh[(1+r)*d:(2+r)*d], job.inner[i*d:(i+1)*d])
		}
	}
	for r := range g {
		g[r] = pd.slope[r] + dense.Dot(pd.hess[r*D:(r+1)*D], de) - g[r]
	}
	for r, v := range g {
		floats.AddScaled(dual, job.fraction*v, a.Frame.Axis(r))
	}
	if ball, ok := a.o.PlainLoss().(framework.SupportFunction); ok {
		ball.ProjectDual(dual, D)
	}
}
