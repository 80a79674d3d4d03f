package arrowhead

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/rows"
	"github.com/scqm/scqm/models/scqm/internal/nearest"
)

//go:generate sh -c "go run ../../../../internal/dense/assembly surfaces > surface_lanes_amd64.s"

// Rows of surfaces in space under radial losses go through lanes, as many at a time as the processor has, with the
// bits of plain Go: what surfaceResiduals and surface do for every row, and the full Newton steps of stepSurface.
// Rows of a batch are taken in groups, of which the last one ends with the last row and repeats some of the one
// before. Within a group rows are in the order in which pairs of numbers are taken apart: first
// those of its first half at even places.

// surfaceLanes holds what the kernels read and write for a batch.
type surfaceLanes struct {
	lanes  int // 8 or 4
	n      int // rows of the batch
	places []int
	even   bool // the weights are 1

	x       []float64 // 3 words a group: entries of rows
	e       []float64 // 4 words a group: residuals in the frame, height
	rho     []float64 // 4 words: rho' and rho" at u, weights, rho itself, each for all groups
	u, form []float64 // squared residuals; forms after a step
	tau     []float64 // n x 2: where steps lead to
	rows    []float64 // n x 8: x, y, height, 1, gradient of the loss, 2 rho' weight
	table   [52]float64
	dual    []float64 // 3 words: dual variables
	words   []float64 // dualWords: see dualSurface
	sums    [10][8]float64
}

// refusedForm is the form of a row for which a full step is not what plain Go takes.
const refusedForm = -1

// surfaceLaneCount is the number of rows at a time, 0 where there are no kernels.
func surfaceLaneCount() int {
	switch wide, wider := dense.Wide(); {
	case wider:
		return 8
	case wide:
		return 4
	}
	return 0
}

// inLanes reports whether rows go through lanes.
func (a *Hessian) inLanes() bool {
	return a.lanes > 0 && a.o.Data().N >= a.lanes && a.isSurface3D() && a.structure == framework.StructureRadial
}

// resize prepares for batches of n rows.
func (k *surfaceLanes) resize(n int) {
	if k.n == n {
		return
	}
	k.n = n
	groups := (n + k.lanes - 1) / k.lanes
	k.places = make([]int, n)
	for i := range n {
		group := i / k.lanes
		j := i - k.first(group)
		if half := k.lanes / 2; j < half {
			j = 2 * j
		} else {
			j = 2*(j-half) + 1
		}
		k.places[i] = group*k.lanes + j
	}
	m := groups * k.lanes
	vec := func(n int) []float64 { return make([]float64, n) }
	k.x, k.e, k.rho, k.u, k.form, k.tau, k.rows = vec(3*m), vec(4*m), vec(4*m), vec(m), vec(m), vec(2*n), vec(8*n)
	k.dual, k.words, k.even = nil, nil, false
}

// first is the first row of a group.
func (k *surfaceLanes) first(group int) int { return min(group*k.lanes, k.n-k.lanes) }

// load takes the rows from a first one on, and the sheet.
func (k *surfaceLanes) load(fr *Frame, data *rows.Data, from int) {
	t, f := &k.table, fr.f
	copy(t[:3], f.C)
	copy(t[3:12], fr.W)
	for j, v := range f.Theta {
		t[12+j], t[15+j] = v, 2*v
	}
	copy(t[18:], []float64{1, dense.Flat, nearest.Armijo, nearest.Rounding, refusedForm})
	k.threes(k.x, data.X[3*from:])
}

// threes takes rows of three numbers.
func (k *surfaceLanes) threes(to, rows []float64) {
	half := k.lanes / 2
	for group := range len(k.u) / k.lanes {
		words := to[3*group*k.lanes : 3*(group+1)*k.lanes]
		first := 3 * k.first(group)
		x := rows[first : first+3*k.lanes]
		for j := range half {
			low, high := x[3*j:3*j+3:3*j+3], x[3*(half+j):3*(half+j)+3:3*(half+j)+3]
			for c := range 3 {
				words[c*k.lanes+2*j], words[c*k.lanes+2*j+1] = low[c], high[c]
			}
		}
	}
}

// weigh takes the weights of the rows.
func (k *surfaceLanes) weigh(data *rows.Data, from int) {
	m := len(k.u)
	weights := k.rho[2*m : 3*m]
	if data.Weights == nil {
		if !k.even {
			for i := range weights {
				weights[i] = 1
			}
		}
		k.even = true
		return
	}
	k.even = false
	half := k.lanes / 2
	for group := range m / k.lanes {
		first := from + k.first(group)
		for j := range half {
			weights[group*k.lanes+2*j], weights[group*k.lanes+2*j+1] = data.Weights[first+j], data.Weights[first+half+j]
		}
	}
}

// surfaceInLanes adds rows as residuals, lossDerivatives and surface do.
func (job *assembleShard) surfaceInLanes(a *Hessian, w *worker, s *sums, from, to int) {
	k, data, dst := w.lanes, a.o.Data(), job.dst
	k.resize(to - from)
	k.load(a.Frame, data, from)
	k.weigh(data, from)
	tau := job.tau[2*from : 2*to]
	k.place(tau)
	m := len(k.u)
	one, two, value := k.rho[:m], k.rho[m:2*m], k.rho[3*m:]
	a.o.Loss().(framework.Radial).Rho(value, one, two, k.u)
	k.couple(tau, dst.InnerGrad[2*from:2*to], dst.C[4*from:4*to], dst.B[2*from:], dst.Inner())
	for i, at := range k.places {
		weight := data.Weight(from + i)
		if weight > 0 {
			s.cost += weight * value[at]
		}
		if second := 4 * weight * two[at]; second != 0 {
			k.outer(w.v, i)
			w.outer.addRank(s, w.v, second)
		}
	}
	w.outer.flushRank(s)
	k.sum()
	for r := range 3 {
		for j := range 7 {
			s.gh[7*r+j] += k.sums[r][j]
		}
	}
	for j := range 7 {
		for l := j; l < 7; l++ {
			s.hh[7*j+l] += k.sums[3+j][l]
		}
	}
}

// outer writes J'e of row i of the batch.
func (k *surfaceLanes) outer(v []float64, i int) {
	at := k.places[i]
	group := at / k.lanes
	e := k.e[(3*group*k.lanes + at):]
	x, y, z := k.rows[8*i], k.rows[8*i+1], k.rows[8*i+2]
	row := row3D{x: x, y: y, z: z, e: [3]float64{e[0], e[k.lanes], e[2*k.lanes]}}
	row.outer(v[:9:9], &[7]float64{1, x, y, z, x * x, x * y, y * y})
}

// stepLanes steps rows as stepSurface does.
func (k *quadraticInner) stepLanes(r innerRows) {
	l := k.lanes
	l.resize(r.to - r.from)
	l.load(k.frame, k.data, r.from)
	l.step(r.tau[2*r.from:2*r.to], r.other[2*r.from:2*r.to])
	q := k.surface()
	for j, at := range l.places {
		i := r.from + j
		if form := l.form[at]; form >= 0 && k.data.Weight(i) > 0 {
			k.form[j], r.tau[2*i], r.tau[2*i+1] = form, l.tau[2*j], l.tau[2*j+1]
			continue
		}
		k.form[j] = k.stepSurfaceRow(&q, r, i)
	}
}

// place writes e and u.
func (k *surfaceLanes) place(tau []float64) {
	tau = tau[:2*k.n]
	if k.lanes == 8 {
		placeSurfaceAVX512(&k.table[0], &k.x[0], &tau[0], &k.e[0], &k.u[0], k.n)
		return
	}
	placeSurfaceAVX2(&k.table[0], &k.x[0], &tau[0], &k.e[0], &k.u[0], k.n)
}

// step writes form and tau.
func (k *surfaceLanes) step(tau, other []float64) {
	tau, other = tau[:2*k.n], other[:2*k.n]
	if k.lanes == 8 {
		stepSurfaceAVX512(&k.table[0], &k.x[0], &tau[0], &other[0], &k.form[0], &k.tau[0], k.n)
		return
	}
	stepSurfaceAVX2(&k.table[0], &k.x[0], &tau[0], &other[0], &k.form[0], &k.tau[0], k.n)
}

// couple writes inner gradients and Hessians, the rows of b, of which one holds stride numbers, and rows.
func (k *surfaceLanes) couple(tau, grad, c, b []float64, stride int) {
	tau, grad, c, b = tau[:2*k.n], grad[:2*k.n], c[:4*k.n], b[:8*stride+2*k.n]
	if k.lanes == 8 {
		coupleSurfaceAVX512(&k.table[0], &tau[0], &k.e[0], &k.rho[0], &grad[0], &c[0], &b[0], &k.rows[0], len(k.u), stride/2, k.n)
		return
	}
	coupleSurfaceAVX2(&k.table[0], &tau[0], &k.e[0], &k.rho[0], &grad[0], &c[0], &b[0], &k.rows[0], len(k.u), stride/2, k.n)
}

// featureOrder names the two factors of 1, x, y, z, xx, xy, yy among the first four numbers of a row.
var featureOrder = [16]int64{3, 0, 1, 2, 0, 0, 1, 3, 3, 3, 3, 3, 0, 1, 1, 3}

// sum writes sums over rows: of features times the gradient, and of the upper triangle of their products with each other.
func (k *surfaceLanes) sum() {
	if k.lanes == 8 {
		sumSurfaceAVX512(&k.sums[0][0], &k.rows[0], &featureOrder[0], k.n)
		return
	}
	var s sums3D
	for i := range k.n {
		r := k.rows[8*i : 8*i+8 : 8*i+8]
		x, y := r[0], r[1]
		row := row3D{g: [3]float64{r[4], r[5], r[6]}}
		s.add(&row, &[7]float64{1, x, y, r[2], x * x, x * y, y * y}, r[7])
	}
	for r := range s.gh {
		copy(k.sums[r][:], s.gh[r][:])
	}
	for j := range s.hh {
		copy(k.sums[3+j][:], s.hh[j][:])
	}
}
