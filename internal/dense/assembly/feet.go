package main

import "fmt"

// The numbers that feet reads, by their place in its table, after the nine of Theta.
const (
	m00 = 9 + iota
	m01
	m02
	m11
	m12
	m22
	one
	flat
	armijo
	rounding
	precision
	refused
	zero
	slack         // below 0: how negative forms may be, relative to their size
	gradientBound // the square of the one that counts as 0, relative to |[a; b]|
)

// writeFeet writes the kernel of SurfaceFeet: Newton steps of as many rows as there are lanes, for
// three axes of b, until all lanes have converged.
func writeFeet() {
	begin()
	e := foot{straight: &straight{}}
	for i := range e.state {
		e.state[i] = e.slot()
	}
	e.live, e.good = e.slot(), e.slot()
	parts := make([]string, 4)
	for k, write := range []func(foot){foot.begin, foot.move, func(e foot) { e.end(false) }, func(e foot) { e.end(true) }} {
		parts[k] = e.part(func(s *straight) { write(foot{s, e.state, e.live, e.good}) })
	}
	e.open("feetWide", "table, pulled *float64, stride int, whole, x, y, u *float64, groups, steps int, nearest bool)", 73)
	arguments([]string{"table", "pulled", "stride", "whole", "x", "y", "u", "groups"}, "AX", "SI", "DX", "DI", "R8", "R9", "R10", "R11")
	p("LEAQ (DX)(DX*2), R12")
	label("feetgroup")
	fmt.Fprint(output, parts[0])
	p("MOVQ steps+64(FP), CX")
	label("feetstep")
	fmt.Fprint(output, parts[1])
	p("VMOVUPD %s, Y0", e.live)
	p("VMOVMSKPD Y0, BX")
	p("TESTL BX, BX")
	p("JEQ feetend")
	again("CX", "feetstep")
	label("feetend")
	p("MOVBLZX nearest+72(FP), BX")
	p("TESTL BX, BX")
	p("JNE feetnearest")
	fmt.Fprint(output, parts[2])
	p("JMP feetnext")
	label("feetnearest")
	fmt.Fprint(output, parts[3])
	label("feetnext")
	advance(1, "SI", "DI", "R8", "R9", "R10")
	again("R11", "feetgroup")
	leave()
}

// foot is the code of feet. On the stack are a quartic, and masks of the lanes that have not
// arrived, and of those for which all went well.
type foot struct {
	*straight
	state      [11]string
	live, good string
}

// row is Q'(x - c): a, and three axes of b.
type row struct {
	a0, a1 value
	b      [3]value
}

// quartic is the distance h at a point, with w = Theta e for e = Theta' phi - b.
type quartic struct{ x, y, dx, dy, p0, p1, p2, w0, w1, w2, h value }

func (e foot) number(i int) value { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }

// fields are the numbers of a quartic in the order in which they are on the stack.
func (q *quartic) fields() []*value {
	return []*value{&q.x, &q.y, &q.dx, &q.dy, &q.p0, &q.p1, &q.p2, &q.w0, &q.w1, &q.w2, &q.h}
}

func (e foot) row() row {
	return row{e.load("(SI)"), e.load("(SI)(DX*1)"), [3]value{e.load("(SI)(DX*2)"), e.load("(SI)(R12*1)"), e.load("(SI)(DX*4)")}}
}

func (e foot) begin() {
	at := e.value(e.load("(R8)"), e.load("(R9)"), e.row())
	for i, v := range at.fields() {
		e.store(*v, e.state[i])
	}
	all := e.upTo(e.number(one), e.number(one))
	e.store(all, e.live)
	e.store(all, e.good)
}

func (e foot) loaded() (at quartic) {
	for i, v := range at.fields() {
		*v = e.load(e.state[i])
	}
	return at
}

// move takes a step in the lanes that have not arrived.
func (e foot) move() {
	at, live := e.loaded(), e.load(e.live)
	next, slope, convex, length := e.step(at, e.row())
	lower := e.or(e.upTo(next.h, e.sum(at.h, e.times(e.number(armijo), slope))),
		e.upTo(next.h, e.sum(at.h, e.times(e.number(rounding), at.h))))
	far := e.beyond(length, e.times(e.number(precision), e.sum(next.p0, next.p2)))
	moves := e.and(live, e.and(convex, lower))
	old := at.fields()
	for i, v := range next.fields() {
		e.store(e.choose(moves, *v, *old[i]), e.state[i])
	}
	e.store(e.choose(live, moves, e.load(e.good)), e.good)
	e.store(e.and(moves, far), e.live)
}

// end writes where lanes have arrived and the squared residual, or what says that a lane is not
// good, for the nearest points where that is not known either.
func (e foot) end(nearest bool) {
	at, r, good := e.loaded(), e.row(), e.load(e.good)
	square := e.sum(e.times(r.a0, r.a0), e.times(r.a1, r.a1))
	for _, b := range r.b {
		square = e.sum(square, e.times(b, b))
	}
	if nearest {
		good = e.and(good, e.nearest(at, square))
	}
	e.store(at.x, "(R8)")
	e.store(at.y, "(R9)")
	u := e.sum(e.less(e.load("(DI)"), square), at.h)
	e.store(e.choose(good, u, e.number(refused)), "(R10)")
}

// nearest tells whether I + 2B has no negative eigenvalue, and the gradientBound vanishes.
func (e foot) nearest(q quartic, square value) value {
	a := e.sum(e.number(one), e.sum(q.w0, q.w0))
	c := e.sum(e.number(one), e.sum(q.w2, q.w2))
	det, size := e.less(e.times(a, c), e.times(q.w1, q.w1)), e.sum(a, c)
	little := e.times(e.number(slack), size)
	convex := e.and(e.upTo(e.number(zero), size), e.upTo(e.times(little, size), det))
	g0 := e.sum(e.sum(q.dx, e.times(e.sum(q.w0, q.w0), q.x)), e.times(q.w1, q.y))
	g1 := e.sum(e.sum(q.dy, e.times(q.w1, q.x)), e.times(e.sum(q.w2, q.w2), q.y))
	length := e.sum(e.times(g0, g0), e.times(g1, g1))
	return e.and(convex, e.upTo(length, e.times(e.number(gradientBound), square)))
}

func (e foot) value(x, y value, r row) quartic {
	q := quartic{x: x, y: y, p0: e.times(x, x), p1: e.times(x, y), p2: e.times(y, y)}
	q.dx, q.dy = e.less(x, r.a0), e.less(y, r.a1)
	q.h = e.sum(e.times(q.dx, q.dx), e.times(q.dy, q.dy))
	var before [3]value
	for k, b := range r.b {
		image := e.sum(e.times(e.number(k), q.p0), e.times(e.number(3+k), q.p1))
		gap := e.less(e.sum(image, e.times(e.number(6+k), q.p2)), b)
		q.h = e.sum(q.h, e.times(gap, gap))
		for j, w := range []*value{&q.w0, &q.w1, &q.w2} {
			term := e.times(e.number(3*j+k), gap)
			if *w = term; k > 0 {
				*w = e.sum(before[j], term)
			}
			before[j] = *w
		}
	}
	return q
}

// step is a Newton step: where it leads to, the slope along it, whether h is convex, and its
// squared length.
func (e foot) step(q quartic, r row) (next quartic, slope, convex, length value) {
	x, y := q.x, q.y
	w0, w2 := e.sum(q.w0, q.w0), e.sum(q.w2, q.w2)
	g0 := e.sum(e.sum(q.dx, e.times(w0, x)), e.times(q.w1, y))
	g1 := e.sum(e.sum(q.dy, e.times(q.w1, x)), e.times(w2, y))
	u, v := e.sum(x, x), e.sum(y, y)
	both := func(a value, i int, b value, j int) value {
		return e.sum(e.times(a, e.number(i)), e.times(b, e.number(j)))
	}
	mid, low := both(u, m01, y, m11), both(u, m02, y, m12)
	h00 := e.sum(e.sum(e.sum(e.number(one), w0), e.times(u, both(u, m00, y, m01))), e.times(y, mid))
	h01 := e.sum(e.sum(q.w1, e.times(x, mid)), e.times(v, low))
	h11 := e.sum(e.sum(e.sum(e.number(one), w2), e.times(x, both(x, m11, v, m12))), e.times(v, both(x, m12, v, m22)))
	det, size := e.less(e.times(h00, h11), e.times(h01, h01)), e.sum(h00, h11)
	little := e.times(e.number(flat), size)
	convex = e.and(e.above(h00, little), e.above(det, e.times(little, size)))
	sx := e.over(e.less(e.times(h01, g1), e.times(h11, g0)), det)
	sy := e.over(e.less(e.times(h01, g0), e.times(h00, g1)), det)
	slope = e.sum(e.times(g0, sx), e.times(g1, sy))
	length = e.sum(e.times(sx, sx), e.times(sy, sy))
	return e.value(e.sum(x, sx), e.sum(y, sy), r), slope, convex, length
}
