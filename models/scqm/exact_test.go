package scqm

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/objective"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

// The first-order system of a fit, computed anew from the model alone with 320 bits
// by code of its own: what a verdict says of it can be compared with that.

// exactBits is the precision, enough for sums of numbers of sizes 1e40 apart.
const exactBits = 320

type number = *big.Float

func exactly(v float64) number { return new(big.Float).SetPrec(exactBits).SetFloat64(v) }
func sum(a, b number) number   { return exactly(0).Add(a, b) }
func less(a, b number) number  { return exactly(0).Sub(a, b) }
func times(a, b number) number { return exactly(0).Mul(a, b) }
func root(a number) number     { return exactly(0).Sqrt(a) }
func size(a number) number     { return exactly(0).Abs(a) }

func over(a, b number) number {
	if b.Sign() == 0 {
		return exactly(0)
	}
	return exactly(0).Quo(a, b)
}

func larger(a, b number) number {
	if a.Cmp(b) >= 0 {
		return a
	}
	return b
}

func float(a number) float64 { v, _ := a.Float64(); return v }

func zeros(n int) []number {
	v := make([]number, n)
	for i := range v {
		v[i] = exactly(0)
	}
	return v
}

func exacts(v []float64) []number {
	out := make([]number, len(v))
	for i, a := range v {
		if !math.IsNaN(a) {
			out[i] = exactly(a)
		}
	}
	return out
}

func length(v []number) number {
	s := exactly(0)
	for _, a := range v {
		s = sum(s, times(a, a))
	}
	return root(s)
}

func inner(a, b []number) number {
	s := exactly(0)
	for i := range a {
		s = sum(s, times(a[i], b[i]))
	}
	return s
}

// quarterPower is a^(k/4) of a >= 0.
func quarterPower(a number, k int) number {
	p, base := exactly(1), root(root(a))
	for range k {
		p = times(p, base)
	}
	return p
}

// exactLoss is a loss of the library, at powers that are multiples of 1/4.
type exactLoss struct {
	name    string
	p       float64
	delta   number
	matrix  []float64
	byEntry bool
}

func newExactLoss(l framework.Loss, byEntry bool) exactLoss {
	e := exactLoss{name: l.Name(), byEntry: byEntry}
	if p, ok := l.(rowloss.Parametric); ok {
		e.p, e.delta = p.Params()["p"], exactly(p.Params()["delta"])
	}
	if q, ok := l.(framework.Quadratic); ok {
		e.matrix = q.Matrix()
	}
	return e
}

func signed(a, like number) number {
	if like.Sign() < 0 {
		return a.Neg(a)
	}
	return a
}

// evaluate returns the loss of a residual row and its gradient, 0 at kinks.
func (l exactLoss) evaluate(r []number) (value number, g []number) {
	value, g = exactly(0), zeros(len(r))
	norm := length(r)
	switch {
	case l.name == "l2":
		for k, v := range r {
			g[k] = over(v, norm)
		}
		return norm, g
	case l.name == "squared_l2":
		for k, v := range r {
			g[k] = times(exactly(2), v)
		}
		return times(norm, norm), g
	case l.name == "mahalanobis":
		for j := range r {
			for k := range r {
				m := exactly(l.matrix[j*len(r)+k])
				value = sum(value, times(times(r[j], m), r[k]))
				g[j] = sum(g[j], times(times(exactly(2), m), r[k]))
			}
		}
		return value, g
	case l.name == "huber" && !l.byEntry:
		value, slope := l.huber(norm)
		for k, v := range r {
			g[k] = times(slope, over(v, norm))
		}
		return value, g
	}
	for k, v := range r {
		phi, slope := l.entry(size(v))
		value = sum(value, phi)
		g[k] = signed(slope, v)
	}
	return value, g
}

func (l exactLoss) huber(t number) (value, slope number) {
	if t.Cmp(l.delta) <= 0 {
		return times(exactly(0.5), times(t, t)), sum(t, exactly(0))
	}
	return times(l.delta, less(t, times(exactly(0.5), l.delta))), sum(l.delta, exactly(0))
}

// entry is the loss of an entry of size t.
func (l exactLoss) entry(t number) (value, slope number) {
	switch {
	case l.name == "huber":
		return l.huber(t)
	case l.name == "l1" || l.p == 1:
		if t.Sign() == 0 {
			return exactly(0), exactly(0)
		}
		return sum(t, exactly(0)), exactly(1)
	}
	k := int(4 * l.p)
	if float64(k) != 4*l.p {
		panic(fmt.Sprintf("power %v is no multiple of 1/4", l.p))
	}
	return quarterPower(t, k), times(exactly(l.p), quarterPower(t, k-4))
}

// slack returns, for a row of a loss with kinks, by how much g fails to be a
// subgradient at r: l(r) + l*(g) - g'r. It takes g back into the dual ball first.
func (l exactLoss) slack(r, g []number, value number) number {
	conjugate := exactly(0)
	switch {
	case l.name == "l2":
		if n := length(g); n.Cmp(exactly(1)) > 0 {
			for k := range g {
				g[k] = over(g[k], n)
			}
		}
	case l.name == "l1" || l.p == 1:
		for k := range g {
			if size(g[k]).Cmp(exactly(1)) > 0 {
				g[k] = signed(exactly(1), g[k])
			}
		}
	default: // |r|^p with q = p/(p-1) a whole number: (p-1) (|g|/p)^q
		for _, v := range g {
			conjugate = sum(conjugate, times(exactly(l.p-1), quarterPower(over(size(v), exactly(l.p)), int(4*l.p/(l.p-1)))))
		}
	}
	return larger(exactly(0), less(sum(value, conjugate), inner(g, r)))
}

// exactFit is a model with its data.
type exactFit struct {
	x           Data
	loss        exactLoss
	d, s, q, m  int
	c, theta    []number
	columns     [][]number // of [U V]
	tau         [][]number
	prior       []float64
	lambda      number
	penalty     number // of the curvature, without lambda
	value       number // sum of weighted losses
	interpolate bool   // all residuals are rounding errors
	allowed     number // what rounding residuals may change of value
	z, phi, r   [][]number
	values      []number
	bent        bool // curvature is more than rounding errors
}

// newExactFit takes a model with the data that it was fitted to.
func newExactFit(m *Model, x Data) *exactFit {
	s, d := m.Meta.Effective, m.Latent
	at := framework.Point{m.C, nil, nil, m.Tau}
	for k := range m.D {
		at[BlockQ] = append(append(at[BlockQ], m.U[k*d:(k+1)*d]...), m.V[k*m.Curvature:k*m.Curvature+s]...)
	}
	for a := range sheet.VechLen(d) {
		at[BlockTheta] = append(at[BlockTheta], m.Theta[a*m.Curvature:a*m.Curvature+s]...)
	}
	return exactAt(at, x, m, m.Meta.Missing.prior())
}

// exactRun takes the point that the run of a fit ended at, with the rows that it saw.
func exactRun(fit *Fit, x Data) *exactFit {
	m, at := fit.Model, fit.Run.Point
	var run []float64 // U
	for k := range m.D {
		width := m.Latent + m.Meta.Effective
		run = append(run, at[BlockQ][k*width:k*width+m.Latent]...)
	}
	return exactAt(at, x, m, turned(m.Meta.Missing.prior(), m.U, run, m.D, m.Latent))
}

func exactAt(at framework.Point, x Data, m *Model, prior []float64) *exactFit {
	d, s := m.Latent, m.Meta.Effective
	e := &exactFit{x: x, loss: newExactLoss(m.Loss, m.Meta.Missing != nil), d: d, s: s, q: sheet.VechLen(d), m: d + s, c: exacts(at[BlockC]), theta: exacts(at[BlockTheta]), prior: prior}
	for k := range e.m {
		e.columns = append(e.columns, every(exacts(at[BlockQ]), k, e.m))
	}
	e.penalty = exactly(0)
	for j, t := range e.theta {
		e.penalty = sum(e.penalty, times(exactly(sheet.VechWeight(d, j/s)), times(t, t)))
	}
	for i := range x.N {
		e.tau = append(e.tau, exacts(at[BlockTau][i*d:(i+1)*d]))
	}
	e.evaluate()
	e.lambda = exactly(0)
	if m.Meta.Ridge > 0 { // else the difference is a rounding error
		e.lambda = over(larger(exactly(0), less(exactly(m.Meta.Penalty), e.priorValue())), e.penalty)
	}
	return e
}

func (e *exactFit) there(i, k int) bool { return !math.IsNaN(e.x.Row(i)[k]) }

// hasPrior reports whether row i has missing entries, which a prior belongs to.
func (e *exactFit) hasPrior(i int) bool { return e.prior != nil && rows.Incomplete(e.x.Row(i)) }

func (e *exactFit) priorSlope(i int) []number {
	out := zeros(e.d)
	for j := range out {
		for k, t := range e.tau[i] {
			out[j] = sum(out[j], times(exactly(2*e.prior[j*e.d+k]), t))
		}
	}
	return out
}

func (e *exactFit) priorValue() number {
	total := exactly(0)
	for i := range e.x.N {
		if e.hasPrior(i) {
			half := times(exactly(0.5), inner(e.priorSlope(i), e.tau[i]))
			total = sum(total, times(exactly(e.x.Weight(i)), half))
		}
	}
	return total
}

// evaluate computes residuals and losses.
func (e *exactFit) evaluate() {
	e.value, e.z, e.phi, e.r, e.values = exactly(0), nil, nil, nil, nil
	slopes := exactly(0)
	e.interpolate = true
	var rounding, bent float64
	offset := float(length(e.c))
	for i := range e.x.N {
		z, phi := append([]number(nil), e.tau[i]...), []number(nil)
		for a, t := range e.tau[i] {
			for _, u := range e.tau[i][a:] {
				phi = append(phi, times(t, u))
			}
		}
		terms := 0.0 // of the curved part, which can cancel: canonical form rounds each
		for k := range e.s {
			v := exactly(0)
			for a := range phi {
				term := times(e.theta[a*e.s+k], phi[a])
				terms = math.Max(terms, math.Abs(float(term)))
				v = sum(v, term)
			}
			z = append(z, v)
			if e.x.Weight(i) > 0 {
				bent = math.Max(bent, math.Abs(float(v)))
			}
		}
		r, row, apart := zeros(e.x.D), exacts(e.x.Row(i)), zeros(e.x.D)
		for k := range r {
			if !e.there(i, k) {
				continue
			}
			r[k] = less(e.c[k], row[k])
			apart[k] = r[k]
			for a, v := range z {
				r[k] = sum(r[k], times(e.columns[a][k], v))
			}
		}
		value, g := e.loss.evaluate(r)
		if w := e.x.Weight(i); w > 0 {
			err := 1e-13*float(larger(length(z), length(apart))) + 1e-15*offset
			e.interpolate = e.interpolate && float(length(r)) <= 1.1*err
			rounding = max(rounding, err, 1e-15*terms)
			slopes = sum(slopes, times(exactly(w), length(g)))
			e.value = sum(e.value, times(exactly(w), value))
		}
		e.z, e.phi, e.r, e.values = append(e.z, z), append(e.phi, phi), append(e.r, r), append(e.values, value)
	}
	e.bent = bent > rounding
	shift := zeros(e.x.D)
	for k := range shift {
		shift[k] = exactly(rounding)
	}
	least, _ := e.loss.evaluate(shift)
	e.allowed = sum(times(length(shift), slopes), times(exactly(e.x.TotalWeight()), least))
}

// gradients returns those of the loss at every row.
func (e *exactFit) gradients() [][]number {
	out := make([][]number, e.x.N)
	for i, r := range e.r {
		_, out[i] = e.loss.evaluate(r)
		for k := range r {
			if !e.there(i, k) {
				out[i][k] = exactly(0)
			}
		}
	}
	return out
}

// residuals returns the stationarity of the blocks with the gradients given, and, where
// slack is set, the number that stands between them and subgradients of the loss.
func (e *exactFit) residuals(gs [][]number, slack bool) (blocks [objective.NumBlocks]float64, defect float64) {
	D := e.x.D
	var norm, terms [objective.NumBlocks]number
	for k := range norm {
		norm[k], terms[k] = exactly(0), exactly(0)
	}
	gc, gq, gt, missed := zeros(D), zeros(D*e.m), zeros(e.q*e.s), exactly(0)
	for i := range e.x.N {
		w := exactly(e.x.Weight(i))
		g := append([]number(nil), gs[i]...)
		if slack {
			missed = sum(missed, times(w, e.loss.slack(e.r[i], g, e.values[i])))
		}
		for k := range g {
			g[k] = times(w, g[k])
		}
		size := length(g)
		pulled := make([]number, e.m)
		for a := range pulled {
			pulled[a] = inner(e.columns[a], g)
		}
		for k, v := range g {
			gc[k] = sum(gc[k], v)
			for a, z := range e.z[i] {
				gq[k*e.m+a] = sum(gq[k*e.m+a], times(v, z))
			}
		}
		for a, phi := range e.phi[i] {
			for k := range e.s {
				gt[a*e.s+k] = sum(gt[a*e.s+k], times(phi, pulled[e.d+k]))
			}
		}
		jacobian := e.jacobian(i)
		gtau, frobenius := zeros(e.d), exactly(0)
		for a := range e.m {
			for j := range e.d {
				gtau[j] = sum(gtau[j], times(jacobian[a*e.d+j], pulled[a]))
				frobenius = sum(frobenius, times(jacobian[a*e.d+j], jacobian[a*e.d+j]))
			}
		}
		if e.hasPrior(i) {
			p := e.priorSlope(i)
			for j := range p {
				p[j] = times(w, p[j])
				gtau[j] = sum(gtau[j], p[j])
			}
			terms[BlockTau] = sum(terms[BlockTau], length(p))
		}
		norm[BlockTau] = sum(norm[BlockTau], length(gtau))
		terms[BlockTau] = sum(terms[BlockTau], times(size, root(frobenius)))
		terms[BlockC] = sum(terms[BlockC], size)
		terms[BlockQ] = sum(terms[BlockQ], times(size, length(e.z[i])))
		terms[BlockTheta] = sum(terms[BlockTheta], times(size, length(e.phi[i])))
	}
	penalty := zeros(len(gt))
	for a := range e.q {
		for k := range e.s {
			j := a*e.s + k
			penalty[j] = times(times(exactly(2*sheet.VechWeight(e.d, a)), e.lambda), e.theta[j])
			gt[j] = sum(gt[j], penalty[j])
		}
	}
	norm[BlockC], norm[BlockQ], norm[BlockTheta] = length(gc), length(e.tangent(gq)), length(gt)
	terms[BlockTheta] = sum(terms[BlockTheta], length(penalty))
	for k := range norm {
		blocks[k] = float(over(norm[k], terms[k]))
	}
	return blocks, float(over(missed, e.value))
}

// jacobian is that of z at tau_i, m x d.
func (e *exactFit) jacobian(i int) []number {
	out := zeros(e.m * e.d)
	for j := range e.d {
		out[j*e.d+j] = exactly(1)
	}
	a := 0
	for j, t := range e.tau[i] {
		for l := j; l < e.d; l++ {
			for k := range e.s {
				at := (e.d + k) * e.d
				out[at+j] = sum(out[at+j], times(e.theta[a*e.s+k], e.tau[i][l]))
				out[at+l] = sum(out[at+l], times(e.theta[a*e.s+k], t))
			}
			a++
		}
	}
	return out
}

// tangent projects a gradient on the tangent space at Q: G - Q sym(Q'G).
func (e *exactFit) tangent(g []number) []number {
	product := make([]number, e.m*e.m)
	for a := range e.m {
		for b := range e.m {
			product[a*e.m+b] = inner(e.columns[a], every(g, b, e.m))
		}
	}
	out := append([]number(nil), g...)
	for a := range e.m {
		for b := range e.m {
			half := times(exactly(0.5), sum(product[a*e.m+b], product[b*e.m+a]))
			for k := range e.x.D {
				out[k*e.m+b] = less(out[k*e.m+b], times(e.columns[a][k], half))
			}
		}
	}
	return out
}

func every(v []number, from, step int) []number {
	var out []number
	for i := from; i < len(v); i += step {
		out = append(out, v[i])
	}
	return out
}

// kinked reports whether gradients at kinks, or next to them, do not tell.
func (e *exactFit) kinked() bool {
	return e.loss.name == "l1" || e.loss.name == "l2" || e.loss.name == "lp" && e.loss.p < 2
}

// stationarity returns the largest number of any block, for that of several choices
// of subgradients for which it is smallest.
func (e *exactFit) stationarity(choices [][][]number) (float64, [objective.NumBlocks]float64) {
	if e.interpolate {
		return e.unbalanced(), [objective.NumBlocks]float64{}
	}
	blocks, _ := e.residuals(e.gradients(), false)
	best := floats.Max(blocks[:])
	for _, gs := range choices {
		if b, defect := e.residuals(gs, true); math.Max(floats.Max(b[:]), defect) < best {
			best, blocks = math.Max(floats.Max(b[:]), defect), b
		}
	}
	return best, blocks
}

// unbalanced is 1 where a sheet through all rows is bent, so that nothing balances its
// penalty.
func (e *exactFit) unbalanced() float64 {
	if e.kinked() || !e.bent || e.lambda.Sign() == 0 || e.penalty.Sign() == 0 {
		return 0
	}
	return 1
}

// rounding returns the loss rounded over eps in the unit of the fit, that unit, and what the loss is multiplied by there.
func (e *exactFit) rounding(l framework.Loss, eps float64) (smooth framework.Loss, unit, factor float64) {
	unit = rows.WorkingUnit(e.x)
	scaled, factor, ok := rows.Rescaled(l, unit)
	if !ok {
		unit = 1
	}
	if by, err := losses.ByEntry(scaled); err == nil && e.loss.byEntry {
		scaled = by
	}
	return scaled.(framework.Smoother).Smooth(eps), unit, factor
}

// rounded returns the gradients of the loss rounded over eps.
func (e *exactFit) rounded(l framework.Loss, eps float64) [][]number {
	smooth, unit, factor := e.rounding(l, eps)
	out := make([][]number, e.x.N)
	g := make([]float64, e.x.D)
	for i := range out {
		if err := smooth.Evaluate(nil, g, e.residual(i, unit), e.x.D); err != nil || !(framework.Point{g}).Finite() {
			return nil
		}
		out[i] = exacts(g)
		for k := range g {
			out[i][k] = times(out[i][k], over(exactly(factor), exactly(unit)))
			if !e.there(i, k) {
				out[i][k] = exactly(0)
			}
		}
	}
	return out
}

// residual is that of row i in a unit, in float64.
func (e *exactFit) residual(i int, unit float64) []float64 {
	r := make([]float64, e.x.D)
	for k, v := range e.r[i] {
		r[k] = float(over(v, exactly(unit)))
	}
	return r
}

// settle takes a step of Newton's method for tau of every row under the loss rounded over eps, with tau of 320 bits.
func (e *exactFit) settle(l framework.Loss, eps float64) {
	smooth, unit, factor := e.rounding(l, eps)
	second, ok := smooth.(framework.SecondOrder)
	gradients := e.rounded(l, eps)
	if !ok || gradients == nil {
		return
	}
	for i, tau := range e.tau {
		axes, r := e.tangents(i), e.residual(i, unit)
		g, h, hv := mat.NewVecDense(e.d, nil), mat.NewDense(e.d, e.d, nil), make([]float64, e.x.D)
		for j, axis := range axes {
			g.SetVec(j, float(inner(gradients[i], exacts(axis))))
			if second.HessianProduct(hv, r, axis, e.x.D) != nil {
				return
			}
			for k := range axes {
				h.Set(k, j, floats.Dot(axes[k], hv)*factor/unit/unit)
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(h, g); err != nil && !errors.As(err, new(mat.Condition)) {
			continue
		}
		for j := range tau {
			tau[j] = less(tau[j], exactly(step.AtVec(j)))
		}
	}
	e.evaluate()
}

// tangents are the derivatives of the sheet at tau_i, one for each coordinate.
func (e *exactFit) tangents(i int) [][]float64 {
	jacobian, out := e.jacobian(i), make([][]float64, e.d)
	for j := range out {
		out[j] = make([]float64, e.x.D)
		for k := range out[j] {
			v := exactly(0)
			for a := range e.m {
				v = sum(v, times(e.columns[a][k], jacobian[a*e.d+j]))
			}
			out[j][k] = float(v)
		}
	}
	return out
}
