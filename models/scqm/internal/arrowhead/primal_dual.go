package arrowhead

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/latent"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The primal-dual system of a loss that is a support function has dual variables
// g_i of the rows. With theta = sqrt(|r|^2 + eps^2) of a row, or of every entry,
// the matrices of [Hessian] are those with
//
//	H = [I - (g r' + r g')/(2 theta)]/theta           for l2,
//	H = diag(max(0, p - (2-p) g_k r_k theta_k^-p) theta_k^(p-2))  for powers, l1 with p = 1,
//
// and with g in place of the gradient wherever it multiplies second derivatives
// of r. The Hessian of the smoothed loss has its gradient in place of g, r/theta or
// p r_k theta_k^(p-2).

// primalDual holds the buffers for one row.
type primalDual struct {
	slope   []float64 // D: gradient of the smoothed loss in the frame
	row     []float64 // D: the same in the coordinates of the data
	turned  []float64 // D: a step of the residual there
	curve   []float64 // D: diagonal of H there, of a separable loss
	hess    []float64 // D x D: H in the frame, of a radial one
	inverse float64   // 1/theta of a radial one
	ends    [2]float64

	// The fields below are used by ShortenInner.
	here, there []float64 // D: residuals
	z, phi, tau []float64 // m, q, d
	value       [1]float64
	kinks       nearest.Kinks
	zeros       []float64 // D
}

func newPrimalDual(f *sheet.Sheet) *primalDual {
	vec, D := func(n int) []float64 { return make([]float64, n) }, f.D
	return &primalDual{
		slope: vec(D), row: vec(D), turned: vec(D), curve: vec(D), hess: vec(D * D),
		here: vec(D), there: vec(D), z: vec(f.M), phi: vec(f.Q), tau: vec(f.Latent), zeros: vec(D),
	}
}

// AssemblePrimalDual implements [latent.PrimalDual].
func (a *Hessian) AssemblePrimalDual(dst *latent.Arrowhead, x framework.Point, dual []float64) (cost, passes float64, err error) {
	a.prepare(x)
	a.Frame.Complete()
	for _, s := range a.sums {
		s.dual = dense.Grow(s.dual, len(s.gh))
	}
	if a.structure == rowloss.StructureSeparable {
		a.growDiagonal()
	}
	job := primalDualShard{assembleShard: assembleShard{dst: dst, tau: x[objective.BlockTau]}, dual: dual}
	if err := a.eachShard(&job); err != nil {
		return 0, 0, err
	}
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

// primalDualShard adds the derivatives of one shard of the rows to its sums.
type primalDualShard struct {
	assembleShard
	dual []float64 // n x D
}

func (job *primalDualShard) run(a *Hessian, w *worker, shard, lo, hi int) error {
	s := a.sums[shard]
	s.reset()
	return job.eachRow(a, w, lo, hi, func(i, k int) {
		if job.addRow(a, w, s, i, k); k+1 == w.batch || i+1 == hi {
			w.addBatch(a, s)
		}
	})
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
	D, weight, pd := a.F.D, a.o.Data().Weight(i), w.primalDual(a.F)
	h, g, tau := w.h[k*a.Nf:(k+1)*a.Nf], w.g[k*D:(k+1)*D], job.tau[i*a.F.Latent:(i+1)*a.F.Latent]
	a.Frame.Rotate(g, job.dual[i*D:(i+1)*D])
	s.cost += weight * pd.derivatives(a, w.e[k*D:(k+1)*D], g, job.dual[i*D:(i+1)*D])
	if a.structure == rowloss.StructureRadial {
		pd.addRadial(a, w, h, g, weight)
	} else {
		w.moments.addMoments(h, pd.curve, weight)
	}
	dense.Scale(g, weight)
	dense.Scale(pd.slope, weight)
	a.Jacobian(w.dh, tau)
	if a.structure == rowloss.StructureRadial {
		a.timesJacobian(w, pd.hess, weight)
	} else {
		a.diagonalTimesJacobian(w, pd.curve, weight)
	}
	job.inner(a, w, pd.slope, g, i)
	job.couple(a, w, h, g, i)
	for r, v := range pd.slope {
		dense.AddScaled(s.gh[r*a.Nf:(r+1)*a.Nf], v, h)
		dense.AddScaled(s.dual[r*a.Nf:(r+1)*a.Nf], g[r], h)
	}
}

// addRadial adds weight J'HJ, where with u, v = J'(r/theta +- g)/2
//
//	J'HJ = [J'J - uu' + vv']/theta.
func (pd *primalDual) addRadial(a *Hessian, w *worker, h, g []float64, weight float64) {
	weight *= pd.inverse
	w.features.addWeighted(h, weight)
	for _, sign := range [...]float64{1, -1} {
		for r, v := range pd.slope {
			pd.row[r] = (v + sign*g[r]) / 2
		}
		a.pull(w.v, pd.row, h)
		w.pulls.addWeighted(w.v, -sign*weight)
	}
}

// derivatives returns the smoothed loss of a row with residual e, and writes its gradient, slope, and the matrix
// H: hess if the loss is radial, its diagonal curve if separable. The dual variables are g in the frame, dual in
// the coordinates of the data.
func (pd *primalDual) derivatives(a *Hessian, e, g, dual []float64) float64 {
	if a.structure == rowloss.StructureRadial {
		return pd.radial(e, g, a.o.SmoothingLength())
	}
	return pd.separable(a, e, dual, a.o.SmoothingLength())
}

func (pd *primalDual) radial(e, g []float64, eps float64) float64 {
	size, D := floats.Norm(e, 2), len(e)
	theta := math.Hypot(size, eps)
	inverse := 1 / theta
	pd.inverse = inverse
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
		dense.AddScaled(pd.row, v, a.Frame.Axis(q))
	}
	value := pd.entries(a.o.PlainLoss(), dual, eps)
	a.Frame.Rotate(pd.slope, pd.row)
	return value
}

// entries replaces the residual in row by the gradient of the smoothed loss, writes curve and returns the smoothed
// loss. For a support function the loss is half (theta - eps) + center r plus the constant that makes the minimum 0.
// center and half are the middle and half the length of the interval of its gradients.
func (pd *primalDual) entries(loss framework.Loss, dual []float64, eps float64) (value float64) {
	powers, ok := loss.(rowloss.PowerSum)
	if !ok {
		pd.ends = [2]float64{math.Inf(-1), math.Inf(1)}
		loss.(rowloss.SupportFunction).ProjectDual(pd.ends[:], 1)
		half, center := (pd.ends[1]-pd.ends[0])/2, (pd.ends[1]+pd.ends[0])/2
		shift := eps * (half - math.Sqrt(-pd.ends[0]*pd.ends[1]))
		for k, r := range pd.row {
			theta := math.Hypot(r, eps)
			value += half*(r/(theta+eps)*r) + center*r + shift
			slope := r / theta
			pd.row[k] = half*slope + center
			pd.curve[k] = max(0, half-(dual[k]-center)*slope) / theta
		}
		return value
	}
	p := powers.Power()
	offset := math.Pow(eps, p)
	for k, r := range pd.row {
		theta := dense.Hypotenuse(r, eps)
		power := math.Pow(theta, p)
		weight := power / theta / theta
		value += power - offset
		pd.row[k] = p * weight * r
		pd.curve[k] = max(0, p-(2-p)*dual[k]*r/power) * weight
	}
	return value
}

// MoveDual implements [latent.PrimalDual]: dual moves by fraction towards the gradient + H dr, where dr is
// the change of the residual by the steps v of the outer blocks and inner of tau.
func (a *Hessian) MoveDual(dual []float64, x framework.Point, v, inner []float64, fraction float64) error {
	job := moveDualShard{
		primalDualShard: primalDualShard{assembleShard: assembleShard{tau: x[objective.BlockTau]}, dual: dual},
		inner:           inner, fraction: fraction,
	}
	a.prepare(x)
	a.Frame.Complete()
	job.outer = make([]float64, a.F.D*a.Nf)
	for p, step := range v {
		for _, t := range a.TermsOf(p) {
			job.outer[t.Row*a.Nf+t.Feature] += t.Sign * step
		}
	}
	return a.eachShard(&job)
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
	f, pd := a.F, w.primalDual(a.F)
	D, d := f.D, f.Latent
	h, g, dual := w.h[k*a.Nf:(k+1)*a.Nf], w.g[k*D:(k+1)*D], job.dual[i*D:(i+1)*D]
	if a.structure == rowloss.StructureRadial {
		a.Frame.Rotate(g, dual)
	}
	pd.derivatives(a, w.e[k*D:(k+1)*D], g, dual)
	a.Jacobian(w.dh, job.tau[i*d:(i+1)*d])
	de := w.v[:0]
	for r := range D {
		v := dense.Dot(job.outer[r*a.Nf:(r+1)*a.Nf], h)
		if r < f.M {
			v += dense.Dot(w.dh[(1+r)*d:(2+r)*d], job.inner[i*d:(i+1)*d])
		}
		de = append(de, v)
	}
	pd.addStep(a, dual, g, de, job.fraction)
	if ball, ok := a.o.PlainLoss().(rowloss.SupportFunction); ok {
		ball.ProjectDual(dual, D)
	}
}

// addStep moves dual, which is g in the frame, by fraction towards the gradient + H de.
func (pd *primalDual) addStep(a *Hessian, dual, g, de []float64, fraction float64) {
	D := len(dual)
	if a.structure == rowloss.StructureRadial {
		for r := range g {
			g[r] = pd.slope[r] + dense.Dot(pd.hess[r*D:(r+1)*D], de) - g[r]
		}
		for r, v := range g {
			floats.AddScaled(dual, fraction*v, a.Frame.Axis(r))
		}
		return
	}
	clear(pd.turned)
	for r, v := range de {
		dense.AddScaled(pd.turned, v, a.Frame.Axis(r))
	}
	for k, v := range pd.turned {
		dual[k] += fraction * (pd.row[k] + pd.curve[k]*v - dual[k])
	}
}
