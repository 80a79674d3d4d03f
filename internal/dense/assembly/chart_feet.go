package main

import "fmt"

// Offsets in the table of feetOnCharts of the numbers after the point.
const (
	feetOne = 3 + iota
	feetZero
	feetSingular
	feetPrecision
	feetReach
)

// The columns of a group of charts: the stored chart, then its projection and whether it was found.
const (
	feetOrigin  = 0
	feetU       = 3
	feetV       = 6
	feetUnit    = 9
	feetB       = 10
	feetFoot    = 16
	feetGood    = 19
	feetColumns = 20
)

// feetSteps is the number of Newton steps.
const feetSteps = 3

// chartFeet writes the kernel that projects one point onto charts in space; see feet.go in package chart. AX has
// constants, DI the columns of eight charts.
func chartFeet() {
	c := chart{straight: &straight{}}
	bodies := c.bodies(chart.feet)
	c.open("feetOnCharts", "table, charts *float64, groups int)", 24)
	arguments([]string{"table", "charts", "groups"}, "AX", "DI", "CX")
	label("charts")
	for _, body := range bodies {
		fmt.Fprint(output, body)
	}
	advance(feetColumns*halves, "DI")
	again("CX", "charts")
	leave()
}

// feetColumn returns the address of a column of a group.
func (c chart) feetColumn(i int) string { return fmt.Sprintf("%d(DI)", 64*i+c.offset()) }

// three returns three adjacent columns, from the given one on.
func (c chart) three(from int) (v [3]value) {
	for j := range v {
		v[j] = c.load(c.feetColumn(from + j))
	}
	return v
}

func (c chart) dotOf(a, b [3]value) value {
	return c.sum(c.sum(c.times(a[0], b[0]), c.times(a[1], b[1])), c.times(a[2], b[2]))
}

// feet takes the Newton steps towards the nearest point of each chart.
func (c chart) feet() {
	o, u, v := c.three(feetOrigin), c.three(feetU), c.three(feetV)
	n := [3]value{c.crossed(u, v, 1, 2), c.crossed(u, v, 2, 0), c.crossed(u, v, 0, 1)}
	unit := c.load(c.feetColumn(feetUnit))
	inverse := c.over(c.number(feetOne), unit)
	var e [3]value
	for j := range e {
		e[j] = c.times(c.less(c.number(j), o[j]), inverse)
	}
	f := chartFoot{chart: c, a: c.dotOf(u, e), b: c.dotOf(v, e), z: c.dotOf(n, e)}
	for i := range f.of {
		f.of[i] = c.load(c.feetColumn(feetB + i))
	}
	f.p, f.q = f.a, f.b
	for range feetSteps {
		f.step()
	}
	f.keep(c.upTo(c.sum(c.times(f.byP, f.byP), c.times(f.byQ, f.byQ)), c.number(feetPrecision)))
	f.keep(c.upTo(c.sum(c.times(f.p, f.p), c.times(f.q, f.q)), c.number(feetReach)))
	height := c.sum(f.beyondPoint(), f.z)
	for j := range o {
		along := c.sum(c.sum(c.times(f.p, u[j]), c.times(f.q, v[j])), c.times(height, n[j]))
		c.store(c.sum(o[j], c.times(unit, along)), c.feetColumn(feetFoot+j))
	}
	c.store(c.choose(f.good, c.number(feetOne), c.number(feetZero)), c.feetColumn(feetGood))
}

// crossed returns u_i v_j - u_j v_i, an entry of the cross product.
func (c chart) crossed(u, v [3]value, i, j int) value {
	return c.less(c.times(u[i], v[j]), c.times(u[j], v[i]))
}

// chartFoot is an estimate (a, b) of the nearest point to z on a chart, with the last step taken.
type chartFoot struct {
	chart
	a, b, z  value
	of       [6]value
	p, q     value
	byP, byQ value
	good     value
	tested   bool
}

// keep marks as failed the lanes where mask is not set.
func (f *chartFoot) keep(mask value) {
	if f.tested {
		mask = f.and(f.good, mask)
	}
	f.good, f.tested = mask, true
}

// beyondPoint returns the height of the chart over the point.
func (f *chartFoot) beyondPoint() value {
	first := f.sum(f.sum(f.of[1], f.times(f.p, f.of[3])), f.times(f.q, f.of[4]))
	second := f.sum(f.of[2], f.times(f.q, f.of[5]))
	return f.less(f.sum(f.sum(f.of[0], f.times(f.p, first)), f.times(f.q, second)), f.z)
}

// step takes one Newton step.
func (f *chartFoot) step() {
	r, one := f.beyondPoint(), f.number(feetOne)
	twoP, twoQ := f.sum(f.of[3], f.of[3]), f.sum(f.of[5], f.of[5])
	byP := f.sum(f.sum(f.of[1], f.times(f.p, twoP)), f.times(f.q, f.of[4]))
	byQ := f.sum(f.sum(f.of[2], f.times(f.q, twoQ)), f.times(f.p, f.of[4]))
	gp := f.sum(f.less(f.p, f.a), f.times(r, byP))
	gq := f.sum(f.less(f.q, f.b), f.times(r, byQ))
	pp := f.sum(f.sum(one, f.times(byP, byP)), f.times(r, twoP))
	qq := f.sum(f.sum(one, f.times(byQ, byQ)), f.times(r, twoQ))
	pq := f.sum(f.times(byP, byQ), f.times(r, f.of[4]))
	full := f.times(pp, qq)
	det := f.less(full, f.times(pq, pq))
	f.keep(f.and(f.above(pp, f.number(feetZero)), f.above(det, f.times(f.number(feetSingular), full))))
	inverse := f.over(one, det)
	f.byP = f.times(f.less(f.times(qq, gp), f.times(pq, gq)), inverse)
	f.byQ = f.times(f.less(f.times(pp, gq), f.times(pq, gp)), inverse)
	f.p, f.q = f.less(f.p, f.byP), f.less(f.q, f.byQ)
}
