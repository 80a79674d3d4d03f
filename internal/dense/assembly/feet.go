package main

import (
	"bytes"
	"fmt"
	"os"
)

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
)

// footSteps is the number of Newton steps of feet.
const footSteps = 2

// feet writes the kernel of SurfaceFeet: footSteps Newton steps of as many rows as there are
// lanes, for three axes of b.
func feet(s set) {
	e := foot{&straight{set: s}}
	e.program()
	var body bytes.Buffer
	to := output
	output = &body
	e.write()
	output = to
	fmt.Fprintf(output, "// func feet%s(table, pulled *float64, stride int, whole, x, y, u *float64, groups int)\n", s.name)
	fmt.Fprintf(output, "TEXT ·feet%s(SB), 0, $%d-64\n", s.name, 8*s.lanes()*e.slots)
	for i, name := range []string{"table", "pulled", "stride", "whole", "x", "y", "u", "groups"} {
		p("MOVQ %s+%d(FP), %s", name, 8*i, []string{"AX", "SI", "DX", "DI", "R8", "R9", "R10", "R11"}[i])
	}
	p("LEAQ (DX)(DX*2), R12")
	label("feetgroup")
	_, _ = body.WriteTo(output)
	for _, r := range []string{"SI", "DI", "R8", "R9", "R10"} {
		p("ADDQ $%d, %s", 8*s.lanes(), r)
	}
	p("DECQ R11")
	p("JNE feetgroup")
	p("VZEROUPPER")
	p("RET\n")
}

// foot is the code of feet.
type foot struct{ *straight }

// row is Q'(x - c): a, and three axes of b.
type row struct {
	a0, a1 value
	b      [3]value
}

// quartic is the distance h at a point, with w = Theta e for e = Theta' phi - b.
type quartic struct{ x, y, dx, dy, p0, p1, p2, w0, w1, w2, h value }

func (e foot) number(i int) value { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }

func (e foot) program() {
	r := row{e.load("(SI)"), e.load("(SI)(DX*1)"), [3]value{e.load("(SI)(DX*2)"), e.load("(SI)(R12*1)"), e.load("(SI)(DX*4)")}}
	var live, good value
	at := e.value(e.load("(R8)"), e.load("(R9)"), r)
	for i := range footSteps {
		next, slope, convex, length := e.step(at, r)
		lower := e.or(e.upTo(next.h, e.sum(at.h, e.times(e.number(armijo), slope))),
			e.upTo(next.h, e.sum(at.h, e.times(e.number(rounding), at.h))))
		fine := e.and(convex, lower)
		far := e.beyond(length, e.times(e.number(precision), e.sum(next.p0, next.p2)))
		if i == 0 {
			good = fine
			at = e.move(good, next, at)
			live = e.and(good, far)
			continue
		}
		// Rows that have arrived stay, and are as good as they were.
		moves := e.and(live, fine)
		at = e.move(moves, next, at)
		good = e.choose(live, moves, good)
	}
	e.store(at.x, "(R8)")
	e.store(at.y, "(R9)")
	square := e.sum(e.times(r.a0, r.a0), e.times(r.a1, r.a1))
	for _, b := range r.b {
		square = e.sum(square, e.times(b, b))
	}
	u := e.sum(e.less(e.load("(DI)"), square), at.h)
	e.store(e.choose(good, u, e.number(refused)), "(R10)")
}

// move is next for lanes of the mask.
func (e foot) move(mask value, next, at quartic) quartic {
	pick := func(a, b value) value { return e.choose(mask, a, b) }
	return quartic{
		x: pick(next.x, at.x), y: pick(next.y, at.y),
		p0: pick(next.p0, at.p0), p1: pick(next.p1, at.p1), p2: pick(next.p2, at.p2),
		w0: pick(next.w0, at.w0), w1: pick(next.w1, at.w1), w2: pick(next.w2, at.w2), h: pick(next.h, at.h),
		dx: pick(next.dx, at.dx), dy: pick(next.dy, at.dy),
	}
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

// output is where instructions are written to.
var output interface{ Write([]byte) (int, error) } = os.Stdout
