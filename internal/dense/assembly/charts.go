package main

import "fmt"

// writeCharts writes the kernels of quadratic charts of surfaces in space; see lanes.go in package chart
// for what they compute.
func writeCharts() {
	begin()
	chartKernel("weighRows", 2, chart.weigh)
	chartKernel("addPlane", 10, chart.addPlane)
	chartKernel("turnChart", 21, chart.turn)
	chartKernel("reweighChart", 22, chart.reweigh)
	chartKernel("reweighRows", 2, chart.reweighRows)
	chartKernel("splitChart", 3, chart.splitSides)
	chartKernel("assignCrease", 21, chart.assignCrease)
	chartFeet()
}

// chart is the code of such kernels. AX has constants, SI and DX three columns of rows, DI and R8 the columns
// of the chart, BX sums by lane.
type chart struct {
	*straight
	half int
}

// chartKernel writes a kernel with the given number of sums.
func chartKernel(name string, sums int, write func(chart)) {
	c := chart{straight: &straight{}}
	if sums > chartKept {
		c.kept = chartKept
	}
	bodies := c.bodies(write)
	c.open(name, "table, x *float64, xStride int, at *float64, stride, groups int, sums *float64)", 56)
	if c.kept > 0 {
		c.byHalves(bodies)
		return
	}
	c.begin()
	label("group")
	for _, body := range bodies {
		fmt.Fprint(output, body)
	}
	advance(halves, "SI", "DI")
	again("CX", "group")
	leave()
}

// bodies returns the instructions for each half of eight rows.
func (c chart) bodies(write func(chart)) (bodies []string) {
	for half := range halves {
		bodies = append(bodies, c.part(func(part *straight) { write(chart{part, half}) }))
	}
	return bodies
}

// halves is the number of registers for eight numbers.
const halves = 8 / lanes

// chartKept is the number of sums kept in registers. The other sums are loaded and stored
// for each group of rows, which takes longer than the arithmetic.
const chartKept = 6

// begin reads the arguments, and clears the sums that stay in registers.
func (c chart) begin() {
	arguments([]string{"table", "x", "xStride", "at", "stride", "groups", "sums"}, "AX", "SI", "DX", "DI", "R8", "CX", "BX")
	p("SHLQ $3, DX")
	p("SHLQ $3, R8")
	p("LEAQ (R8)(R8*2), R12")
	p("LEAQ (R8)(R8*4), R13")
	for i := range c.kept {
		p("VXORPD %[1]s, %[1]s, %[1]s", ymm(registers-1-i))
	}
}

// byHalves processes one half of all groups after the other.
func (c chart) byHalves(bodies []string) {
	for half, body := range bodies {
		c.begin()
		label(fmt.Sprintf("group%d", half))
		fmt.Fprint(output, body)
		advance(halves, "SI", "DI")
		again("CX", fmt.Sprintf("group%d", half))
		for i := range c.kept {
			p("VMOVUPD %s, %d(BX)", ymm(registers-1-i), 64*i+chart{c.straight, half}.offset())
		}
	}
	leave()
}

// offset is the offset in bytes of the current half in eight numbers.
func (c chart) offset() int { return 8 * lanes * c.half }

// column returns column i of the rows, one of three.
func (c chart) column(i int) value {
	return c.load(fmt.Sprintf("%d(SI)%s", c.offset(), []string{"", "(DX*1)", "(DX*2)"}[i]))
}

// The indices of the columns of a chart.
const (
	chartWeight = iota
	chartUsed
	chartP
	chartQ
	chartZ
	chartCreased
	chartSquare
)

func (c chart) own(i int) string {
	return fmt.Sprintf("%d(DI)%s", c.offset(), []string{"", "(R8*1)", "(R8*2)", "(R12*1)", "(R8*4)", "(R13*1)", "(R12*2)"}[i])
}

func (c chart) number(i int) value { return c.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }

// addTo adds v to sum i.
func (c chart) addTo(i int, v value) {
	if i < c.kept {
		c.accumulate(i, v)
		return
	}
	at := fmt.Sprintf("%d(BX)", 64*i+c.offset())
	c.store(c.sum(c.load(at), v), at)
}

// weigh computes the tricube weight (1-t^3)^3, 0 for t >= 1. Numbers 1 and 2 of the table are one and zero.
func (c chart) weigh() {
	t := c.over(c.root(c.column(0)), c.number(0))
	v := c.less(c.number(1), c.times(c.times(t, t), t))
	cube := c.choose(c.above(c.number(1), t), c.times(c.times(v, v), v), c.number(2))
	weight := c.times(c.column(1), cube)
	used := c.times(weight, c.column(2))
	c.store(weight, c.own(chartWeight))
	c.store(used, c.own(chartUsed))
	c.addTo(0, weight)
	c.addTo(1, used)
}

func (c chart) addPlane() {
	var d [3]value
	for j := range d {
		d[j] = c.less(c.column(j), c.number(j))
	}
	c.addPlaneOf(0, c.load(c.own(chartWeight)), d)
}

// addPlaneOf adds the moments of d with weight w to the sums that begin with sum from.
func (c chart) addPlaneOf(from int, w value, d [3]value) {
	var wd [3]value
	for j := range d {
		wd[j] = c.times(w, d[j])
	}
	c.addTo(from, w)
	for j := range wd {
		c.addTo(from+1+j, wd[j])
	}
	at := from + 4
	for i := range 3 {
		for j := i; j < 3; j++ {
			c.addTo(at, c.times(wd[i], d[j]))
			at++
		}
	}
}

// dot returns the inner product of e with three numbers of the table, from number from on.
func (c chart) dot(from int, e [3]value) value {
	first := c.sum(c.times(c.number(from), e[0]), c.times(c.number(from+1), e[1]))
	return c.sum(first, c.times(c.number(from+2), e[2]))
}

func (c chart) turn() {
	var e [3]value
	for j := range e {
		e[j] = c.times(c.less(c.column(j), c.number(j)), c.number(3))
	}
	p, q, z := c.dot(4, e), c.dot(7, e), c.dot(10, e)
	c.store(p, c.own(chartP))
	c.store(q, c.own(chartQ))
	c.store(z, c.own(chartZ))
	c.addMoments(p, q, z, c.load(c.own(chartUsed)))
}

// polynomial returns the quadratic polynomial in p and q whose six coefficients begin at a place of the table.
func (c chart) polynomial(p, q value) value {
	first := c.sum(c.sum(c.number(1), c.times(p, c.number(3))), c.times(q, c.number(4)))
	second := c.sum(c.number(2), c.times(q, c.number(5)))
	return c.sum(c.sum(c.number(0), c.times(p, first)), c.times(q, second))
}

// byLoss returns the weights of rows. It multiplies them by Tukey's weights of the residuals, and stores the products.
func (c chart) byLoss(p, q, z value) (weight, used value) {
	r := c.less(z, c.polynomial(p, q))
	u := c.times(c.times(r, r), c.number(6))
	v := c.less(c.number(7), u)
	loss := c.choose(c.above(c.number(7), u), c.times(v, v), c.number(8))
	weight = c.load(c.own(chartWeight))
	used = c.times(weight, loss)
	c.store(used, c.own(chartUsed))
	return weight, used
}

func (c chart) reweigh() {
	p, q, z := c.load(c.own(chartP)), c.load(c.own(chartQ)), c.load(c.own(chartZ))
	weight, used := c.byLoss(p, q, z)
	c.addTo(21, weight)
	c.addMoments(p, q, z, used)
}

func (c chart) reweighRows() {
	weight, used := c.byLoss(c.load(c.own(chartP)), c.load(c.own(chartQ)), c.load(c.own(chartZ)))
	c.addTo(0, used)
	c.addTo(1, weight)
}

func (c chart) addMoments(p, q, z, w value) {
	pp, pq, qq := c.times(p, p), c.times(p, q), c.times(q, q)
	wp, wq := c.times(w, p), c.times(w, q)
	wpp, wpq, wqq := c.times(w, pp), c.times(w, pq), c.times(w, qq)
	c.addTo(0, w)
	c.addTo(1, wp)
	c.addTo(2, wq)
	c.addTo(3, wpp)
	c.addTo(4, wpq)
	c.addTo(5, wqq)
	c.addTo(6, c.times(wpp, p))
	c.addTo(7, c.times(wpp, q))
	c.addTo(8, c.times(wqq, p))
	c.addTo(9, c.times(wqq, q))
	c.addTo(10, c.times(wpp, pp))
	c.addTo(11, c.times(wpp, pq))
	c.addTo(12, c.times(wpp, qq))
	c.addTo(13, c.times(wqq, pq))
	c.addTo(14, c.times(wqq, qq))
	for i, f := range []value{w, wp, wq, wpp, wpq, wqq} {
		c.addTo(15+i, c.times(f, z))
	}
}

// The numbers of the table of splitChart after those of the polynomial.
const (
	sideHalf = 6 + iota
	sideVariance
	sideFar
	sideFarDown
	sideOne
	sideMinusOne
	sideAbove0 // and of the numerator of the hyperbolic tangent
	sideAbove1
	sideAbove2
	sideBelow1 // and of its denominator, the first of which is that of the numerator
	sideBelow2
	sideBelow3
)

// side returns tanh(r / variance / 2).
func (c chart) side(r value) value {
	x := c.over(c.times(c.number(sideHalf), r), c.number(sideVariance))
	y := c.times(x, x)
	above := c.sum(c.number(sideAbove0), c.times(y, c.sum(c.number(sideAbove1), c.times(y, c.sum(c.number(sideAbove2), y)))))
	below := c.sum(c.number(sideAbove0), c.times(y, c.sum(c.number(sideBelow1), c.times(y, c.sum(c.number(sideBelow2), c.times(c.number(sideBelow3), y))))))
	e := c.over(c.times(x, above), below)
	e = c.choose(c.above(x, c.number(sideFar)), c.number(sideOne), e)
	return c.choose(c.above(c.number(sideFarDown), x), c.number(sideMinusOne), e)
}

func (c chart) splitSides() {
	height := c.column(0)
	r := c.less(height, c.polynomial(c.load(c.own(chartP)), c.load(c.own(chartQ))))
	e := c.side(r)
	c.store(c.less(height, c.times(c.number(sideHalf), e)), c.own(chartZ))
	w := c.load(c.own(chartUsed))
	c.addTo(0, c.times(c.times(w, r), e))
	c.addTo(1, w)
	c.addTo(2, c.times(w, w))
}

// Offsets in the table of assignCrease after the origin: two normals, the heights of the origin below
// the two planes, the cosine of their angle, 1/sine^2, 1/cut^2, 1, 0, and the bound.
const (
	creaseFirst = 3 + 3*iota
	creaseSecond
	creaseHeights
)

const (
	creaseCosine = creaseHeights + 2 + iota
	creaseSine
	creaseCut
	creaseOne
	creaseZero
	creaseBound
)

func (c chart) assignCrease() {
	var e [3]value
	for j := range e {
		e[j] = c.less(c.column(j), c.number(j))
	}
	zero := c.number(creaseZero)
	positive := func(v value) value { return c.choose(c.above(v, zero), v, zero) }
	a := c.less(c.dot(creaseFirst, e), c.number(creaseHeights))
	b := c.less(c.dot(creaseSecond, e), c.number(creaseHeights+1))
	u := positive(c.less(b, c.times(c.number(creaseCosine), a)))
	v := positive(c.less(a, c.times(c.number(creaseCosine), b)))
	nearA := c.sum(c.times(a, a), c.times(c.number(creaseSine), c.times(u, u)))
	nearB := c.sum(c.times(b, b), c.times(c.number(creaseSine), c.times(v, v)))
	onB := c.above(nearA, nearB)
	square := c.choose(onB, nearB, nearA)
	c.store(square, c.own(chartSquare))
	t := c.times(square, c.number(creaseCut))
	left := positive(c.less(c.number(creaseOne), t))
	weight := c.load(c.own(chartWeight))
	w := c.times(weight, c.times(left, left))
	c.store(w, c.own(chartCreased))
	c.addTo(20, c.times(weight, c.choose(c.above(c.number(creaseBound), square), square, c.number(creaseBound))))
	c.addPlaneOf(0, w, e)
	c.addPlaneOf(10, c.choose(onB, w, zero), e)
}
