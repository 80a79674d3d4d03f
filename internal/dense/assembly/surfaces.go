package main

import (
	"fmt"
	"strings"
)

// writeSurfaces writes the kernels of surfaces in space; see surface_lanes.go in package arrowhead for what
// they compute and where rows are.
func writeSurfaces() {
	begin()
	for _, s := range sets {
		placeSurface(s)
		stepSurface(s)
		coupleSurface(s)
		dualSurface(s, "dualNorms", surface.norms)
		dualSurface(s, "dualPowers", surface.powers)
		coupleDuals(s)
		moveDuals(s)
	}
	sumSurface(sets[0])
	outerSurface(sets[0])
	rankSurface(sets[0])
}

// The numbers that the kernels read, by their place in their table.
const (
	surfaceCentre = 0  // c
	surfaceAxes   = 3  // the frame, axis after axis
	surfaceTheta  = 12 // Theta
	surfaceTwice  = 15 // 2 Theta
	surfaceOne    = 18
	surfaceFlat   = 19
	surfaceArmijo = 20
	surfaceRounds = 21
	surfaceRefuse = 22
	surfaceSquare = 23 // of eps
	surfaceEps    = 24
	surfaceHalf   = 25 // -1/2
	surfacePower  = 26 // p
	surfaceBend   = 27 // 2-p
	surfaceOffset = 28 // eps^p
	surfaceZero   = 29
	surfacePart   = 30 // of the way
	surfaceMove   = 31 // of the outer blocks, 3 x 7
)

// The words of a group of rows with dual variables.
const (
	dualSlope  = 0
	dualG      = 3
	dualHess   = 6 // 00, 01, 02, 11, 12, 22
	dualValue  = 12
	dualWeight = 13
	dualWords  = 14
)

// hessWord is the word of an entry of H.
func hessWord(r, c int) int { return dualHess + [3][3]int{{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}[r][c] }

// surface is the code of such kernels. AX has the table, BX 16 times the number of the first row of a group.
type surface struct{ *straight }

func (e surface) number(i int) value { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }

// word is place k of a group at a base, with an index.
func (e surface) word(base, index string, k int) string {
	if k == 0 {
		return fmt.Sprintf("(%s)%s", base, index)
	}
	return fmt.Sprintf("%d(%s)%s", 8*e.lanes()*k, base, index)
}

// pair reads the two numbers of rows.
func (e surface) pair(base string) (x, y value) {
	u, v := e.load(e.word(base, "(BX*1)", 0)), e.load(e.word(base, "(BX*1)", 1))
	return e.lows(u, v), e.highs(u, v)
}

func (e surface) storePair(x, y value, base, index string) {
	e.store(e.lows(x, y), e.word(base, index, 0))
	e.store(e.highs(x, y), e.word(base, index, 1))
}

// both is a sum of two products, three the sum of that and one more.
func (e surface) both(a, b, c, d value) value { return e.sum(e.times(a, b), e.times(c, d)) }

func (e surface) three(a, b, c, d, f, g value) value { return e.sum(e.both(a, b, c, d), e.times(f, g)) }

// row is W'(x - c) of the rows at SI.
func (e surface) row() (y [3]value) {
	var x [3]value
	for k := range x {
		x[k] = e.less(e.load(e.word("SI", "", k)), e.number(surfaceCentre+k))
	}
	for k := range y {
		at := surfaceAxes + 3*k
		y[k] = e.three(e.number(at), x[0], e.number(at+1), x[1], e.number(at+2), x[2])
	}
	return y
}

func (e surface) theta(k int) value { return e.number(surfaceTheta + k) }

// place writes residuals in the frame, the height, and the squared norm.
func (e surface) place() {
	y := e.row()
	u, v := e.pair("DI")
	z := e.three(e.theta(0), e.times(u, u), e.theta(1), e.times(u, v), e.theta(2), e.times(v, v))
	r := [3]value{e.less(u, y[0]), e.less(v, y[1]), e.less(z, y[2])}
	for k, v := range [4]value{r[0], r[1], r[2], z} {
		e.store(v, e.word("R8", "", k))
	}
	e.store(e.three(r[0], r[0], r[1], r[1], r[2], r[2]), "(R9)")
}

// form is the squared distance at (x, y) from a point, of which residual holds the last one.
func (e surface) form(x, y value, point [3]value) (value, [3]value) {
	z := e.three(e.times(e.theta(0), x), x, e.times(e.theta(1), x), y, e.times(e.theta(2), y), y)
	r := [3]value{e.less(x, point[0]), e.less(y, point[1]), e.less(z, point[2])}
	return e.three(r[0], r[0], r[1], r[1], r[2], r[2]), r
}

// step goes to the better one of two places, and from there a Newton step of full length where the Hessian is
// safely positive definite and it lowers the form enough.
func (e surface) step() {
	point := e.row()
	x, y := e.pair("DI")
	ox, oy := e.pair("R8")
	value1, _ := e.form(x, y, point)
	value2, _ := e.form(ox, oy, point)
	other := e.above(value1, value2)
	x, y = e.choose(other, ox, x), e.choose(other, oy, y)
	from, r := e.form(x, y, point)
	a, b := e.slopes(x, y)
	two := e.sum(e.number(surfaceOne), e.number(surfaceOne))
	v := e.sum(r[2], r[2])
	vv := e.sum(v, v)
	g0, g1 := e.sum(e.sum(r[0], r[0]), e.times(v, a)), e.sum(e.sum(r[1], r[1]), e.times(v, b))
	h00 := e.sum(e.sum(two, e.times(e.sum(a, a), a)), e.times(vv, e.theta(0)))
	h01 := e.sum(e.times(e.sum(b, b), a), e.times(v, e.theta(1)))
	h11 := e.sum(e.sum(two, e.times(e.sum(b, b), b)), e.times(vv, e.theta(2)))
	det := e.less(e.times(h00, h11), e.times(h01, h01))
	flat := e.number(surfaceFlat)
	least, most := e.times(flat, h00), e.times(flat, h11)
	good := e.and(e.and(e.above(h00, least), e.above(h00, most)), e.and(e.above(det, e.times(least, h00)), e.above(det, e.times(most, h00))))
	dx := e.over(e.less(e.times(h01, g1), e.times(h11, g0)), det)
	dy := e.over(e.less(e.times(h01, g0), e.times(h00, g1)), det)
	slope := e.both(g0, dx, g1, dy)
	nx, ny := e.sum(x, dx), e.sum(y, dy)
	next, _ := e.form(nx, ny, point)
	enough := e.upTo(next, e.sum(from, e.times(e.number(surfaceArmijo), slope)))
	good = e.and(good, e.or(enough, e.upTo(next, e.sum(from, e.times(e.number(surfaceRounds), from)))))
	e.storePair(nx, ny, "R10", "(BX*1)")
	e.store(e.choose(good, next, e.number(surfaceRefuse)), "(R9)")
}

// slopes is the derivative of the height.
func (e surface) slopes(x, y value) (a, b value) {
	t1 := e.theta(1)
	return e.both(e.number(surfaceTwice), x, t1, y), e.both(t1, x, e.number(surfaceTwice+2), y)
}

// couple writes the inner derivatives of rows, and what the sums over rows take of them. At R8 are, R15 bytes
// apart, the first and the second derivative of rho and the weights, at DI residuals and heights.
func (e surface) couple() {
	x, y := e.pair("SI")
	var r [3]value
	for k := range r {
		r[k] = e.load(e.word("DI", "", k))
	}
	z := e.load(e.word("DI", "", 3))
	one, two, weight := e.load("(R8)"), e.load("(R8)(R15*1)"), e.load("(R8)(R15*2)")
	first := e.times(weight, e.sum(one, one))
	twice := e.sum(weight, weight)
	second := e.times(e.sum(twice, twice), two)
	a, b := e.slopes(x, y)
	var g, n0, n1 [3]value
	u, v := e.times(second, e.sum(r[0], e.times(r[2], a))), e.times(second, e.sum(r[1], e.times(r[2], b)))
	for k := range g {
		g[k] = e.times(first, r[k])
		n0[k], n1[k] = e.times(r[k], u), e.times(r[k], v)
	}
	n0[0], n1[1] = e.sum(first, n0[0]), e.sum(first, n1[1])
	n0[2], n1[2] = e.sum(e.times(first, a), n0[2]), e.sum(e.times(first, b), n1[2])
	e.storePair(e.sum(g[0], e.times(a, g[2])), e.sum(g[1], e.times(b, g[2])), "R9", "(BX*1)")
	e.storeInner(x, y, z, a, b, g, n0, n1)
	e.storeEight([8]value{x, y, z, e.number(surfaceOne), g[0], g[1], g[2], first}, "(BX*4)", 1, 0)
}

// storeInner writes inner Hessians and couplings, from the slopes, the gradient of the loss and the columns of its
// Hessian times the derivative of the residual.
func (e surface) storeInner(x, y, z, a, b value, g, n0, n1 [3]value) {
	gg := e.sum(g[2], g[2])
	off := e.sum(e.sum(n1[0], e.times(a, n1[2])), e.times(g[2], e.theta(1)))
	c0 := e.sum(e.sum(n0[0], e.times(a, n0[2])), e.times(gg, e.theta(0)))
	c3 := e.sum(e.sum(n1[1], e.times(b, n1[2])), e.times(gg, e.theta(2)))
	low, lower, high, higher := e.lows(c0, off), e.lows(off, c3), e.highs(c0, off), e.highs(off, c3)
	for k, v := range []value{e.zipLow(low, lower), e.zipHigh(low, lower), e.zipLow(high, higher), e.zipHigh(high, higher)} {
		e.store(v, e.word("R10", "(BX*2)", k))
	}
	for p, index := range []string{"", "(R12*1)", "(R12*2)"} {
		e.storePair(n0[p], n1[p], "R11", index)
	}
	e.storePair(e.less(e.less(e.times(n0[0], y), e.times(n0[1], x)), g[1]), e.sum(e.less(e.times(n1[0], y), e.times(n1[1], x)), g[0]), "R11", "(CX*1)")
	e.storePair(e.less(e.sum(e.less(e.times(n0[0], z), e.times(n0[2], x)), e.times(g[0], a)), g[2]),
		e.sum(e.less(e.times(n1[0], z), e.times(n1[2], x)), e.times(g[0], b)), "R11", "(R12*4)")
	e.storePair(e.sum(e.less(e.times(n0[1], z), e.times(n0[2], y)), e.times(g[1], a)),
		e.less(e.sum(e.less(e.times(n1[1], z), e.times(n1[2], y)), e.times(g[1], b)), g[2]), "R11", "(DX*1)")
	xx, xy, yy := e.times(x, x), e.times(x, y), e.times(y, y)
	e.storePair(e.sum(e.times(n0[2], xx), e.times(gg, x)), e.times(n1[2], xx), "R11", "(CX*2)")
	e.storePair(e.sum(e.times(n0[2], xy), e.times(g[2], y)), e.sum(e.times(n1[2], xy), e.times(g[2], x)), "R11", "(R14*1)")
	e.storePair(e.times(n0[2], yy), e.sum(e.times(n1[2], yy), e.times(gg, y)), "R11", "(R12*8)")
}

// storeEight writes eight of the numbers of each row, one row of so many eights after the other.
func (e surface) storeEight(v [8]value, index string, eights, at int) {
	var four [2][4]value // rows in their order
	for k := range four {
		w := v[4*k : 4*k+4]
		low, lower, high, higher := e.lows(w[0], w[1]), e.lows(w[2], w[3]), e.highs(w[0], w[1]), e.highs(w[2], w[3])
		four[k] = [4]value{e.zipLow(low, lower), e.zipHigh(low, lower), e.zipLow(high, higher), e.zipHigh(high, higher)}
	}
	for k := range 4 {
		if !e.wide { // a row in each
			e.store(four[0][k], e.word("R13", index, 2*(eights*k+at)))
			e.store(four[1][k], e.word("R13", index, 2*(eights*k+at)+1))
			continue
		}
		e.store(e.firstHalves(four[0][k], four[1][k]), e.word("R13", index, eights*2*k+at))
		e.store(e.lastHalves(four[0][k], four[1][k]), e.word("R13", index, eights*(2*k+1)+at))
	}
}

// dot is the sum of products of three numbers of the table with vectors.
func (e surface) dot(at, apart int, v [3]value) value {
	return e.three(e.number(at), v[0], e.number(at+apart), v[1], e.number(at+2*apart), v[2])
}

// words are three words at a base.
func (e surface) words(base string, from int) (v [3]value) {
	for k := range v {
		v[k] = e.load(e.word(base, "", from+k))
	}
	return v
}

func (e surface) storeWord(v value, k int) { e.store(v, e.word("R8", "", k)) }

// duals writes dual variables in the frame and returns them.
func (e surface) duals() (g, dual [3]value) {
	dual = e.words("SI", 0)
	for k := range g {
		g[k] = e.dot(surfaceAxes+3*k, 1, dual)
		e.storeWord(g[k], dualG+k)
	}
	return g, dual
}

// norms is the rounded norm of residuals, with its gradient and H.
func (e surface) norms() {
	r, size := e.words("DI", 0), e.load("(R9)")
	theta := e.root(e.sum(size, e.number(surfaceSquare)))
	inverse := e.over(e.number(surfaceOne), theta)
	g, _ := e.duals()
	var v [3]value
	for k := range v {
		v[k] = e.times(r[k], inverse)
		e.storeWord(v[k], dualSlope+k)
	}
	for k := range 3 {
		for q := range k + 1 {
			c := e.times(e.times(e.both(v[k], g[q], g[k], v[q]), e.number(surfaceHalf)), inverse)
			if q == k {
				c = e.sum(c, inverse)
			}
			e.storeWord(c, hessWord(q, k))
		}
	}
	e.storeWord(e.over(size, e.sum(theta, e.number(surfaceEps))), dualValue)
}

// powers is the sum of rounded powers 3/2 of entries.
func (e surface) powers() {
	r := e.words("DI", 0)
	_, dual := e.duals()
	var v, c [3]value
	var sum value
	for k := range v {
		at := e.dot(surfaceAxes+k, 3, r)
		theta := e.root(e.sum(e.times(at, at), e.number(surfaceSquare)))
		power := e.times(theta, e.root(theta))
		weight := e.over(e.over(power, theta), theta)
		v[k] = e.times(e.times(e.number(surfacePower), weight), at)
		bent := e.less(e.number(surfacePower), e.over(e.times(e.times(e.number(surfaceBend), dual[k]), at), power))
		c[k] = e.times(e.choose(e.above(bent, e.number(surfaceZero)), bent, e.number(surfaceZero)), weight)
		term := e.less(power, e.number(surfaceOffset))
		if k > 0 {
			term = e.sum(sum, term)
		}
		sum = term
	}
	e.storeWord(sum, dualValue)
	for q := range 3 {
		at := surfaceAxes + 3*q
		e.storeWord(e.dot(at, 1, v), dualSlope+q)
		var x [3]value
		for k := range x {
			x[k] = e.times(e.number(at+k), c[k])
		}
		for t := range q + 1 {
			other := surfaceAxes + 3*t
			e.storeWord(e.three(x[0], e.number(other), x[1], e.number(other+1), x[2], e.number(other+2)), hessWord(t, q))
		}
	}
}

// coupleDual writes what couple does for rows with dual variables.
func (e surface) coupleDual() {
	x, y := e.pair("SI")
	z := e.load(e.word("DI", "", 3))
	a, b := e.slopes(x, y)
	weight := e.load(e.word("R8", "", dualWeight))
	entry := func(r, c int) value { return e.load(e.word("R8", "", hessWord(r, c))) }
	var g, s, n0, n1 [3]value
	for k := range g {
		g[k] = e.times(weight, e.load(e.word("R8", "", dualG+k)))
		s[k] = e.times(weight, e.load(e.word("R8", "", dualSlope+k)))
		last := entry(k, 2)
		n0[k] = e.times(weight, e.sum(entry(k, 0), e.times(last, a)))
		n1[k] = e.times(weight, e.sum(entry(k, 1), e.times(last, b)))
	}
	e.storePair(e.sum(s[0], e.times(a, s[2])), e.sum(s[1], e.times(b, s[2])), "R9", "(BX*1)")
	e.storeInner(x, y, z, a, b, g, n0, n1)
	e.storeEight([8]value{x, y, z, e.number(surfaceOne), g[0], g[1], g[2], s[0]}, "(BX*8)", 2, 0)
	var h [6]value
	for k := range h {
		h[k] = e.times(weight, e.load(e.word("R8", "", dualHess+k)))
	}
	e.storeEight([8]value{s[1], s[2], h[0], h[1], h[2], h[3], h[4], h[5]}, "(BX*8)", 2, 1)
}

// moveDual moves dual variables a part of the way to the gradient + H times the change of the residual.
func (e surface) moveDual() {
	x, y := e.pair("SI")
	u, v := e.pair("R10")
	z := e.load(e.word("DI", "", 3))
	a, b := e.slopes(x, y)
	change := [3]value{u, v, e.both(a, u, b, v)}
	features := [6]value{x, y, z, e.times(x, x), e.times(x, y), e.times(y, y)}
	for r := range change {
		at := surfaceMove + 7*r
		change[r] = e.sum(change[r], e.number(at))
		for k, h := range features {
			change[r] = e.sum(change[r], e.times(e.number(at+1+k), h))
		}
	}
	dual := e.words("R9", 0)
	for r := range 3 {
		to := e.load(e.word("R8", "", dualSlope+r))
		for c, d := range change {
			to = e.sum(to, e.times(e.load(e.word("R8", "", hessWord(r, c))), d))
		}
		step := e.times(e.number(surfacePart), e.less(to, e.load(e.word("R8", "", dualG+r))))
		for k := range dual {
			dual[k] = e.sum(dual[k], e.times(step, e.number(surfaceAxes+3*r+k)))
		}
	}
	for k, v := range dual {
		e.store(v, e.word("R9", "", k))
	}
}

// surfaceKernel writes a kernel whose arguments are in registers, and n the number of rows. Some advance by so many words a group.
func surfaceKernel(s set, name, arguments string, registers []string, before []string, write func(surface), advance map[string]int) {
	c := foot{straight: &straight{set: s}}
	body := c.part(func(e foot) { write(surface{e.straight}) })
	n := 8 * len(registers)
	fmt.Fprintf(output, "// func %s%s(%s, n int)\n", name, s.name, arguments)
	fmt.Fprintf(output, "TEXT ·%s%s(SB), 0, $%d-%d\n", name, s.name, 8*s.lanes()*c.slots, n+8)
	names := strings.Split(strings.ReplaceAll(arguments, " *float64", ""), ", ")
	for i, register := range registers {
		p("MOVQ %s+%d(FP), %s", names[i], 8*i, register)
	}
	p("XORQ BX, BX")
	for _, line := range before {
		p("%s", line)
	}
	label(name + "group")
	fmt.Fprint(output, body)
	for _, register := range []string{"SI", "DI", "R8", "R9"} { // not those of pairs
		if words := advance[register]; words > 0 {
			p("ADDQ $%d, %s", 8*s.lanes()*words, register)
		}
	}
	p("MOVQ n+%d(FP), CX", n)
	p("SHLQ $4, CX")
	if advance["R11"] > 0 {
		p("SUBQ BX, R11")
	}
	p("ADDQ $%d, BX", 16*s.lanes())
	p("CMPQ BX, CX")
	p("JGE %send", name)
	p("SUBQ $%d, CX", 16*s.lanes()) // the last group ends with the last row
	p("CMPQ BX, CX")
	p("CMOVQGT CX, BX")
	if advance["R11"] > 0 {
		p("ADDQ BX, R11")
		p("LEAQ (R12)(R12*2), CX")
	}
	p("JMP %sgroup", name)
	label(name + "end")
	p("VZEROUPPER")
	p("RET\n")
}

func placeSurface(s set) {
	surfaceKernel(s, "placeSurface", "table, x, tau, e, u *float64", []string{"AX", "SI", "DI", "R8", "R9"}, nil,
		surface.place, map[string]int{"SI": 3, "R8": 4, "R9": 1})
}

func stepSurface(s set) {
	surfaceKernel(s, "stepSurface", "table, x, tau, other, form, out *float64", []string{"AX", "SI", "DI", "R8", "R9", "R10"}, nil,
		surface.step, map[string]int{"SI": 3, "R9": 1})
}

// coupleSurface has the rows of b at R11, each of stride pairs, and odd multiples of its bytes in CX, DX and R14.
func coupleSurface(s set) {
	before := []string{"SHLQ $4, R12", "LEAQ (R12)(R12*4), DX", "LEAQ (R12)(R12*2), CX", "LEAQ (CX)(R12*4), R14", "SHLQ $3, R15"}
	surfaceKernel(s, "coupleSurface", "table, tau, e, rho, grad, c, b, rows *float64, apart, stride",
		[]string{"AX", "SI", "DI", "R8", "R9", "R10", "R11", "R13", "R15", "R12"}, before, surface.couple, map[string]int{"DI": 4, "R8": 1, "R11": 1})
}

func dualSurface(s set, name string, write func(surface)) {
	surfaceKernel(s, name, "table, dual, e, words, u *float64", []string{"AX", "SI", "DI", "R8", "R9"}, nil,
		write, map[string]int{"SI": 3, "DI": 4, "R8": dualWords, "R9": 1})
}

func coupleDuals(s set) {
	before := []string{"SHLQ $4, R12", "LEAQ (R12)(R12*4), DX", "LEAQ (R12)(R12*2), CX", "LEAQ (CX)(R12*4), R14"}
	surfaceKernel(s, "coupleDuals", "table, tau, e, words, grad, c, b, rows *float64, stride",
		[]string{"AX", "SI", "DI", "R8", "R9", "R10", "R11", "R13", "R12"}, before, surface.coupleDual, map[string]int{"DI": 4, "R8": dualWords, "R11": 1})
}

func moveDuals(s set) {
	surfaceKernel(s, "moveDuals", "table, tau, e, words, dual, inner *float64", []string{"AX", "SI", "DI", "R8", "R9", "R10"}, nil,
		surface.moveDual, map[string]int{"DI": 4, "R8": dualWords, "R9": 3})
}

// sumSurface adds up gradients and weights of rows times features h, and times those and h. A row is [x y z 1 g0
// g1 g2 weight], from which order takes the two factors of the entries of h.
func sumSurface(s set) {
	fmt.Fprintf(output, "// func sumSurface%s(sums, rows *float64, order *int64, n int)\n", s.name)
	fmt.Fprintf(output, "TEXT ·sumSurface%s(SB), 0, $64-32\n", s.name)
	p("MOVQ sums+0(FP), DI")
	p("MOVQ rows+8(FP), SI")
	p("MOVQ order+16(FP), AX")
	p("MOVQ n+24(FP), CX")
	p("VMOVDQU64 (AX), Z10")
	p("VMOVDQU64 64(AX), Z11")
	for k := range 10 {
		s.zero(k)
	}
	label("sumrow")
	p("VMOVUPD (SI), Z12")
	p("VPERMPD Z12, Z10, Z13")
	p("VPERMPD Z12, Z11, Z14")
	p("VMULPD Z14, Z13, Z13")
	p("VMULPD.BCST 56(SI), Z13, Z14")
	p("VMOVUPD Z14, (SP)")
	for k := range 3 {
		p("VMULPD.BCST %d(SI), Z13, Z15", 32+8*k)
		p("VADDPD Z15, Z%d, Z%d", k, k)
	}
	for k := range 7 {
		p("VMULPD.BCST %d(SP), Z13, Z15", 8*k)
		p("VADDPD Z15, Z%d, Z%d", 3+k, 3+k)
	}
	p("ADDQ $64, SI")
	p("DECQ CX")
	p("JNE sumrow")
	for k := range 10 {
		p("VMOVUPD Z%d, %d(DI)", k, 64*k)
	}
	p("VZEROUPPER")
	p("RET\n")
}

// outerSurface adds up weight J'HJ of rows [x y z 1 g0 g1 g2 s0 s1 s2 H00 H01 H02 H11 H12 H22], without the first
// column of that, and s and g times features. Lanes are columns 1 to 8 of J, whose rows are
//
//	[0 0 y z 0 0 0 0],  [1 0 -x 0 z 0 0 0],  [0 1 0 -x -y xx xy yy],
//
// from the orders and signs at AX; Z0 to Z8 hold the rows of J'HJ, Z9 to Z14 the others.
func outerSurface(s set) {
	fmt.Fprintf(output, "// func outerSurface%s(sums, rows *float64, order *[8]int64, n int)\n", s.name)
	fmt.Fprintf(output, "TEXT ·outerSurface%s(SB), 0, $64-32\n", s.name)
	p("MOVQ sums+0(FP), DI")
	p("MOVQ rows+8(FP), SI")
	p("MOVQ order+16(FP), AX")
	p("MOVQ n+24(FP), CX")
	for k := range 15 {
		p("VMOVUPD %d(DI), Z%d", 64*k, k)
	}
	for k, mask := range []int{0x0C, 0x15, 0xFA} { // where rows of J are not 0
		p("MOVL $%d, BX", mask)
		p("KMOVW BX, K%d", k+1)
	}
	for k := range 8 {
		p("VMOVDQU64 %d(AX), Z%d", 64*k, 16+k)
	}
	label("outerrow")
	p("VMOVUPD (SI), Z24")
	p("VPERMPD.Z Z24, Z18, K1, Z25")
	p("VPERMPD.Z Z24, Z19, K2, Z26")
	p("VPXORQ Z22, Z26, Z26")
	p("VPERMPD.Z Z24, Z20, K3, Z27")
	p("VPERMPD Z24, Z21, Z28")
	p("VMULPD Z28, Z27, Z27")
	p("VPXORQ Z23, Z27, Z27")
	p("VMOVUPD Z27, (SP)")
	p("VPERMPD Z24, Z16, Z28")
	p("VPERMPD Z24, Z17, Z29")
	p("VMULPD Z29, Z28, Z24") // features
	for k := range 6 {
		p("VMULPD.BCST %d(SI), Z24, Z28", 32+8*((k+3)%6))
		p("VADDPD Z28, Z%d, Z%d", 9+k, 9+k)
	}
	outerProducts()
	p("ADDQ $128, SI")
	p("DECQ CX")
	p("JNE outerrow")
	for k := range 15 {
		p("VMOVUPD Z%d, %d(DI)", k, 64*k)
	}
	p("VZEROUPPER")
	p("RET\n")
}

// outerProducts adds J'HJ of a row, from the rows of J in Z25 to Z27.
func outerProducts() {
	entry := [3][3]int{{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}
	for r := range 3 { // HJ in Z28 to Z30
		p("VMULPD.BCST %d(SI), Z25, Z%d", 80+8*entry[r][0], 28+r)
		for c := 1; c < 3; c++ {
			p("VMULPD.BCST %d(SI), Z%d, Z31", 80+8*entry[r][c], 25+c)
			p("VADDPD Z31, Z%d, Z%d", 28+r, 28+r)
		}
		p("VADDPD Z%d, Z%d, Z%d", 28+r, r, r)
	}
	for k, v := range [3][4]int{{8, 28, 0, 29}, {16, 28, 0, 30}, {16, 29, 8, 30}} {
		p("VMULPD.BCST %d(SI), Z%d, Z25", v[0], v[1])
		p("VMULPD.BCST %d(SI), Z%d, Z26", v[2], v[3])
		p("VSUBPD Z26, Z25, Z25")
		p("VADDPD Z25, Z%d, Z%d", 3+k, 3+k)
	}
	for k := range 3 {
		p("VMULPD.BCST %d(SP), Z30, Z25", 40+8*k)
		p("VADDPD Z25, Z%d, Z%d", 6+k, 6+k)
	}
}

// rankSurface adds up v[p] weight times v[1:9], for rows of v and weight, 16 numbers apart.
func rankSurface(s set) {
	fmt.Fprintf(output, "// func rankSurface%s(sums, rows *float64, n int)\n", s.name)
	fmt.Fprintf(output, "TEXT ·rankSurface%s(SB), 0, $0-24\n", s.name)
	p("MOVQ sums+0(FP), DI")
	p("MOVQ rows+8(FP), SI")
	p("MOVQ n+16(FP), CX")
	for k := range 9 {
		p("VMOVUPD %d(DI), Z%d", 64*k, k)
	}
	label("rankrow")
	p("VMOVUPD 8(SI), Z24")
	p("VMULPD.BCST 72(SI), Z24, Z25")
	p("VMOVSD (SI), X26")
	p("VMULSD 72(SI), X26, X26")
	p("VBROADCASTSD X26, Z26")
	p("VMULPD Z24, Z26, Z26")
	p("VADDPD Z26, Z0, Z0")
	p("VMOVUPD Z25, 80(SI)") // which is beyond the row's numbers
	for k := range 8 {
		p("VMULPD.BCST %d(SI), Z24, Z26", 80+8*k)
		p("VADDPD Z26, Z%d, Z%d", 1+k, 1+k)
	}
	p("ADDQ $%d, SI", 8*18)
	p("DECQ CX")
	p("JNE rankrow")
	for k := range 9 {
		p("VMOVUPD Z%d, %d(DI)", k, 64*k)
	}
	p("VZEROUPPER")
	p("RET\n")
}
