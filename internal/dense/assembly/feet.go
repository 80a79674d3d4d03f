package main

import (
	"bytes"
	"fmt"
	"os"
)

// The numbers that feet reads, by their place in its table.
const (
	m00 = iota
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
	lost
	refused
)

// footSteps is the number of Newton steps of feet.
const footSteps = 2

// feet writes the kernel of quadratic2D.minimizeRows: footSteps Newton steps of as many
// rows as there are lanes.
func feet(s set) {
	c := &straight{set: s}
	e := foot{straight: c}
	for i := range e.sums {
		e.sums[i] = c.slot()
	}
	out := e.program()
	var body bytes.Buffer
	print := output
	output = &body
	c.write()
	output = print
	fmt.Fprintf(output, "// func feet%s(table, theta *float64, s int, pulled *float64, stride int, whole, x, y, u *float64, groups int)\n", s.name)
	fmt.Fprintf(output, "TEXT ·feet%s(SB), 0, $%d-80\n", s.name, 8*s.lanes()*c.slots)
	for i, name := range []string{"table", "theta", "s", "pulled", "stride", "whole", "x", "y", "u", "groups"} {
		p("MOVQ %s+%d(FP), %s", name, 8*i, []string{"AX", "BX", "CX", "SI", "DX", "DI", "R8", "R9", "R10", "R11"}[i])
	}
	label("feetgroup")
	e.weights()
	_, _ = body.WriteTo(output)
	e.residual(out)
	for _, r := range []string{"SI", "DI", "R8", "R9", "R10"} {
		p("ADDQ $%d, %s", 8*s.lanes(), r)
	}
	p("DECQ R11")
	p("JNE feetgroup")
	p("VZEROUPPER")
	p("RET\n")
}

// foot is the code of feet. sums are where Theta b, of three numbers, and |b|^2 are.
type foot struct {
	*straight
	sums [4]string
}

// weights computes the sums, over the s axes of b.
func (e foot) weights() {
	for i := range 4 {
		e.zero(i)
	}
	p("LEAQ (SI)(DX*2), R12")
	p("MOVQ BX, R13")
	p("MOVQ CX, R15")
	label("feetweights")
	p("VMOVUPD (R12), %s", e.reg(4))
	e.eachTheta(func(i int) { e.multiplyAdd(i, 4, e.reg(5), 5) })
	e.multiplyAdd(3, 4, e.reg(4), 5)
	p("ADDQ DX, R12")
	p("ADDQ $8, R13")
	p("DECQ R15")
	p("JNE feetweights")
	for i, at := range e.sums {
		p("VMOVUPD %s, %s", e.reg(i), at)
	}
}

// eachTheta reads the three entries of Theta for an axis into register 5, one by one.
func (e foot) eachTheta(do func(i int)) {
	for i, at := range []string{"(R13)", "(R13)(CX*8)", "(R13)(R14*8)"} {
		if i == 2 {
			p("LEAQ (CX)(CX*1), R14")
		}
		p("VBROADCASTSD %s, %s", at, e.reg(5))
		do(i)
	}
}

// quartic is the distance h at a point, with M phi - t.
type quartic struct{ x, y, dx, dy, p0, p1, p2, w0, w1, w2, h value }

// result is where on the stack the numbers are that the residual needs.
type result struct {
	phi              [3]string
	near, less, good string
}

func (e foot) number(i int) value { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }

// program is all between weights and residual.
func (e foot) program() result {
	a0, a1 := e.load("(SI)"), e.load("(SI)(DX*1)")
	var t [4]value
	for i, at := range e.sums {
		t[i] = e.load(at)
	}
	bb := t[3]
	var live, good value
	at := e.value(e.load("(R8)"), e.load("(R9)"), a0, a1, t)
	for i := range footSteps {
		above := e.above(at.h, e.times(e.number(lost), bb))
		next, slope, convex, length := e.step(at, a0, a1, t)
		lower := e.or(e.upTo(next.h, e.sum(at.h, e.times(e.number(armijo), slope))),
			e.upTo(next.h, e.sum(at.h, e.times(e.number(rounding), bb))))
		fine := e.and(convex, lower)
		far := e.beyond(length, e.times(e.number(precision), e.sum(next.p0, next.p2)))
		if i == 0 {
			good = e.and(above, fine)
			at = e.move(good, next, at)
			live = e.and(good, far)
			continue
		}
		// Rows that have arrived stay, and are as good as they were.
		moves := e.and(live, e.and(above, fine))
		at = e.move(moves, next, at)
		good = e.choose(live, moves, good)
	}
	good = e.and(good, e.above(at.h, e.times(e.number(lost), bb)))
	e.store(at.x, "(R8)")
	e.store(at.y, "(R9)")
	var r result
	for i, v := range []value{at.p0, at.p1, at.p2} {
		r.phi[i] = e.slot()
		e.store(v, r.phi[i])
	}
	r.near, r.less, r.good = e.slot(), e.slot(), e.slot()
	e.store(e.sum(e.times(at.dx, at.dx), e.times(at.dy, at.dy)), r.near)
	e.store(e.less(e.load("(DI)"), e.sum(e.sum(e.times(a0, a0), e.times(a1, a1)), bb)), r.less)
	e.store(good, r.good)
	return r
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

func (e foot) value(x, y, a0, a1 value, t [4]value) quartic {
	q := quartic{x: x, y: y, p0: e.times(x, x), p1: e.times(x, y), p2: e.times(y, y)}
	row := func(a, b, c int, t value) value {
		sum := e.sum(e.times(e.number(a), q.p0), e.times(e.number(b), q.p1))
		return e.less(e.sum(sum, e.times(e.number(c), q.p2)), t)
	}
	q.w0, q.w1, q.w2 = row(m00, m01, m02, t[0]), row(m01, m11, m12, t[1]), row(m02, m12, m22, t[2])
	q.dx, q.dy = e.less(x, a0), e.less(y, a1)
	h := e.sum(e.times(q.dx, q.dx), e.times(q.dy, q.dy))
	h = e.sum(h, e.times(q.p0, e.less(q.w0, t[0])))
	h = e.sum(h, e.times(q.p1, e.less(q.w1, t[1])))
	h = e.sum(h, e.times(q.p2, e.less(q.w2, t[2])))
	q.h = e.sum(h, t[3])
	return q
}

// step is a Newton step: where it leads to, the slope along it, whether h is convex, and its
// squared length.
func (e foot) step(q quartic, a0, a1 value, t [4]value) (next quartic, slope, convex, length value) {
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
	return e.value(e.sum(x, sx), e.sum(y, sy), a0, a1, t), slope, convex, length
}

// residual writes |x - c|^2 - |Q'(x - c)|^2 + |Q'(x - c) - z|^2 where rows are good, and
// what says that they are not elsewhere.
func (e foot) residual(r result) {
	p("VMOVUPD %s, %s", r.near, e.reg(0))
	for i, at := range r.phi {
		p("VMOVUPD %s, %s", at, e.reg(1+i))
	}
	p("LEAQ (SI)(DX*2), R12")
	p("MOVQ BX, R13")
	p("MOVQ CX, R15")
	label("feetresidual")
	e.eachTheta(func(i int) {
		if i == 0 {
			p("VMULPD %s, %s, %s", e.reg(1), e.reg(5), e.reg(4))
			return
		}
		e.multiplyAdd(4, 1+i, e.reg(5), 5)
	})
	p("VSUBPD (R12), %s, %s", e.reg(4), e.reg(4))
	e.multiplyAdd(0, 4, e.reg(4), 5)
	p("ADDQ DX, R12")
	p("ADDQ $8, R13")
	p("DECQ R15")
	p("JNE feetresidual")
	p("VADDPD %s, %s, %s", r.less, e.reg(0), e.reg(0))
	p("VBROADCASTSD %d(AX), %s", 8*refused, e.reg(1))
	p("VMOVUPD %s, %s", r.good, e.reg(2))
	if e.wide {
		p("VPTERNLOGQ $0xCA, Z1, Z0, Z2")
	} else {
		p("VBLENDVPD Y2, Y0, Y1, Y2")
	}
	p("VMOVUPD %s, (R10)", e.reg(2))
}

// output is where instructions are written to.
var output interface{ Write([]byte) (int, error) } = os.Stdout
