package chart

import (
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/models/denoise/internal/lookup"
)

// Feet projects one point on many charts in space, eight at a time, by a fixed number of Newton steps from the point. Where these do not converge, and on
// creases, whose first coefficient is infinite, use [Chart.Foot].
type Feet struct {
	groups []float64
	n      int
	// table holds the point, 1 and 0, and bounds on the determinant of the Hessian, the squared last step, and the squared distance from the origin.
	table [8]float64
}

// A group holds eight charts side by side, of each: the stored chart, the projection on it, and 1 if that was found.
const (
	feetStored  = 16
	feetGood    = feetStored + lookup.Space
	feetColumns = feetGood + 1
	groupWidth  = feetColumns * lanes
)

// Begin allocates n charts. Lanes beyond the last chart hold arbitrary numbers.
func (f *Feet) Begin(n int) {
	f.n = n
	f.groups = dense.Grow(f.groups, groupWidth*upToLanes(n)/lanes)
}

// Take copies the chart that [Space.Store] has written to index i.
func (f *Feet) Take(i int, stored []float64) {
	group, from := (*[groupWidth]float64)(f.groups[groupWidth*(i/lanes):]), (*[feetStored]float64)(stored)
	lane := i % lanes
	for c, v := range from {
		group[c*lanes+lane] = v
	}
}

// Find projects x on all charts.
func (f *Feet) Find(x []float64) {
	f.table = [...]float64{x[0], x[1], x[2], 1, 0, Singular, footPrecision, footReach * footReach}
	f.run(dense.HasAVX2())
}

// run calls the assembly kernel wide, or its version in plain Go if there is none.
func (f *Feet) run(wide bool) {
	groups := upToLanes(f.n) / lanes
	switch {
	case groups == 0:
	case wide:
		feetOnCharts(&f.table[0], &f.groups[0], groups)
	default:
		f.findPlain()
	}
}

// At returns the projection on the i-th chart; ok is false if Newton's method has not converged.
func (f *Feet) At(i int) (foot [3]float64, ok bool) {
	group, lane := (*[groupWidth]float64)(f.groups[groupWidth*(i/lanes):]), i%lanes
	for j := range foot {
		foot[j] = group[(feetStored+j)*lanes+lane]
	}
	return foot, group[feetGood*lanes+lane] > 0
}

func (f *Feet) findPlain() {
	for g := 0; g < len(f.groups); g += groupWidth {
		for lane := range lanes {
			f.findOne((*[groupWidth]float64)(f.groups[g:]), lane)
		}
	}
}

// footInLane is the state of Newton's method for the point (a, b, z) and the chart with coefficients c: the iterate (p, q) and the last step.
type footInLane struct {
	a, b, z  float64
	c        [spaceTerms]float64
	p, q     float64
	byP, byQ float64
}

// findOne computes what a lane of the kernel computes, to the last bit.
func (f *Feet) findOne(group *[groupWidth]float64, lane int) {
	var s [feetStored]float64
	for c := range s {
		s[c] = group[c*lanes+lane]
	}
	t := &f.table
	u, v := [3]float64(s[3:]), [3]float64(s[6:])
	n := [3]float64{crossed(u, v, 1, 2), crossed(u, v, 2, 0), crossed(u, v, 0, 1)}
	inverse := 1 / s[9]
	var e [3]float64
	for j := range e {
		e[j] = (t[j] - s[j]) * inverse
	}
	l := footInLane{a: dotInSpace(u, e), b: dotInSpace(v, e), z: dotInSpace(n, e), c: [spaceTerms]float64(s[10:])}
	l.p, l.q = l.a, l.b
	good := true
	for range 3 { // as kernels do
		good = l.step() && good
	}
	good = good && float64(l.byP*l.byP)+float64(l.byQ*l.byQ) <= footPrecision
	good = good && float64(l.p*l.p)+float64(l.q*l.q) <= footReach*footReach
	height := l.beyond() + l.z
	for j := range e {
		along := float64(l.p*u[j]) + float64(l.q*v[j]) + float64(height*n[j])
		group[(feetStored+j)*lanes+lane] = s[j] + float64(s[9]*along)
	}
	group[feetGood*lanes+lane] = 0
	if good {
		group[feetGood*lanes+lane] = 1
	}
}

func crossed(u, v [3]float64, i, j int) float64 { return float64(u[i]*v[j]) - float64(u[j]*v[i]) }

func dotInSpace(a, b [3]float64) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

// beyond returns the height of the chart above the point (a, b, z).
func (l *footInLane) beyond() float64 {
	first := l.c[1] + float64(l.p*l.c[3]) + float64(l.q*l.c[4])
	second := l.c[2] + float64(l.q*l.c[5])
	return l.c[0] + float64(l.p*first) + float64(l.q*second) - l.z
}

// step takes one Newton step; it returns false where the Hessian is not positive definite.
func (l *footInLane) step() bool {
	r, twoP, twoQ := l.beyond(), l.c[3]+l.c[3], l.c[5]+l.c[5]
	byP := l.c[1] + float64(l.p*twoP) + float64(l.q*l.c[4])
	byQ := l.c[2] + float64(l.q*twoQ) + float64(l.p*l.c[4])
	gp, gq := l.p-l.a+float64(r*byP), l.q-l.b+float64(r*byQ)
	pp := 1 + float64(byP*byP) + float64(r*twoP)
	qq := 1 + float64(byQ*byQ) + float64(r*twoQ)
	pq := float64(byP*byQ) + float64(r*l.c[4])
	full := float64(pp * qq)
	det := full - float64(pq*pq)
	inverse := 1 / det
	l.byP = float64((float64(qq*gp) - float64(pq*gq)) * inverse)
	l.byQ = float64((float64(pp*gq) - float64(pq*gp)) * inverse)
	l.p, l.q = l.p-l.byP, l.q-l.byQ
	return pp > 0 && det > float64(Singular*full)
}
