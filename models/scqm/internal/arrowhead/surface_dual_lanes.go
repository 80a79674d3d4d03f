package arrowhead

import (
	"github.com/scqm/scqm/framework"
)

// Rows of surfaces with dual variables go through lanes too, where the rounded loss takes roots and no other powers: norms,
// and sums of powers 3/2. Bits are those of surface for rows one by one.

const (
	// dualWords are the words of a group: slope, dual variables and H in the frame, the rounded loss and the weight.
	dualWords             = 14
	dualValue, dualWeight = 12, 13
	// leastDualEps is a length whose square is a normal number.
	leastDualEps = 0x1p-400
	// The numbers of the table beyond those of other kernels.
	tableDual, tableMove = 23, 31
)

// dualsInLanes reports whether rows with dual variables go through lanes.
func (a *Hessian) dualsInLanes() bool {
	if a.lanes == 0 || a.o.Data().N < a.lanes || !a.isDualSurface() || !(a.o.SmoothingLength() > leastDualEps) {
		return false
	}
	if a.structure == framework.StructureRadial {
		return true
	}
	powers, ok := a.o.PlainLoss().(framework.PowerSum)
	return ok && powers.Power() == 1.5
}

// loadDual takes the rows from a first to before a last one at tau, with their dual variables, and writes words.
func (k *surfaceLanes) loadDual(a *Hessian, tau, dual []float64, from, to int) {
	k.resize(to - from)
	if k.words == nil {
		k.dual, k.words = make([]float64, 3*len(k.u)), make([]float64, dualWords*len(k.u))
	}
	k.load(a.Frame, a.o.Data(), from)
	k.threes(k.dual, dual[3*from:])
	eps := a.o.SmoothingLength()
	copy(k.table[tableDual:], []float64{eps * eps, eps, -0.5, 1.5, 0.5, raise(eps, 1.5), 0})
	k.place(tau[2*from : 2*to])
	norms := a.structure == framework.StructureRadial
	switch {
	case norms && k.lanes == 8:
		dualNormsAVX512(&k.table[0], &k.dual[0], &k.e[0], &k.words[0], &k.u[0], k.n)
	case norms:
		dualNormsAVX2(&k.table[0], &k.dual[0], &k.e[0], &k.words[0], &k.u[0], k.n)
	case k.lanes == 8:
		dualPowersAVX512(&k.table[0], &k.dual[0], &k.e[0], &k.words[0], &k.u[0], k.n)
	default:
		dualPowersAVX2(&k.table[0], &k.dual[0], &k.e[0], &k.words[0], &k.u[0], k.n)
	}
}

// word is where a word of row i of the batch is.
func (k *surfaceLanes) word(i, word, words int) int {
	at := k.places[i]
	group := at / k.lanes
	return (words-1)*group*k.lanes + at + word*k.lanes
}

// surfaceInLanes adds rows of a surface as surface does.
func (job *primalDualShard) surfaceInLanes(a *Hessian, w *worker, s *sums, from, to int) {
	k, data, dst := w.lanes, a.o.Data(), job.dst
	k.loadDual(a, job.tau, job.dual, from, to)
	k.weigh(data, from)
	weights := k.rho[2*len(k.u) : 3*len(k.u)]
	for group := range len(k.u) / k.lanes {
		copy(k.words[(dualWords*group+dualWeight)*k.lanes:], weights[group*k.lanes:(group+1)*k.lanes])
	}
	for i := range k.n {
		s.cost += data.Weight(from+i) * k.words[k.word(i, dualValue, dualWords)]
	}
	w.outer.take(k.n)
	k.coupleDuals(job.tau[2*from:2*to], dst.InnerGrad[2*from:2*to], dst.C[4*from:4*to], dst.B[2*from:], w.outer.rows, dst.Inner())
	w.outer.sum(s)
}

// coupleDuals is couple for rows with dual variables.
func (k *surfaceLanes) coupleDuals(tau, grad, c, b, rows []float64, stride int) {
	tau, grad, c, b, rows = tau[:2*k.n], grad[:2*k.n], c[:4*k.n], b[:8*stride+2*k.n], rows[:outerWords*k.n]
	if k.lanes == 8 {
		coupleDualsAVX512(&k.table[0], &tau[0], &k.e[0], &k.words[0], &grad[0], &c[0], &b[0], &rows[0], stride/2, k.n)
		return
	}
	coupleDualsAVX2(&k.table[0], &tau[0], &k.e[0], &k.words[0], &grad[0], &c[0], &b[0], &rows[0], stride/2, k.n)
}

// surfaceInLanes moves the dual variables of rows of a surface as surface does.
func (job *moveDualShard) surfaceInLanes(a *Hessian, w *worker, from, to int) {
	k := w.lanes
	k.loadDual(a, job.tau, job.dual, from, to)
	k.table[tableMove-1] = job.fraction
	copy(k.table[tableMove:], job.outer)
	tau, inner := job.tau[2*from:2*to], job.inner[2*from:2*to]
	if k.lanes == 8 {
		moveDualsAVX512(&k.table[0], &tau[0], &k.e[0], &k.words[0], &k.dual[0], &inner[0], k.n)
	} else {
		moveDualsAVX2(&k.table[0], &tau[0], &k.e[0], &k.words[0], &k.dual[0], &inner[0], k.n)
	}
	for i := range k.n {
		for c := range 3 {
			job.dual[3*(from+i)+c] = k.dual[k.word(i, c, 3)]
		}
	}
	if ball, bounded := a.o.PlainLoss().(framework.SupportFunction); bounded {
		ball.ProjectDual(job.dual[3*from:3*to], 3)
	}
}
