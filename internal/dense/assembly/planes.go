package main

import "fmt"

// writePlanes writes the kernel of EliminatePlanes in package dense, for rows in the order of interleaved pairs.
func writePlanes() {
	begin()
	for _, s := range sets {
		eliminatePlanes(s)
	}
}

// The numbers that the kernel reads, by their place in its table.
const (
	planeFlat = iota
	planeOne
	planeMinus
)

// plane is the code of that kernel. AX has the table, BX 16 times the number of the first row.
type plane struct {
	*straight
	held [3]string // of a group, on the stack: the entries of R that are not 0
	good string
}

func eliminatePlanes(s set) {
	e := plane{straight: &straight{set: s}}
	for k := range e.held {
		e.held[k] = e.slot()
	}
	e.good = e.slot()
	roots := e.part(plane.roots)
	row := e.part(func(e plane) {
		e.timesRoots("(CX)", fmt.Sprintf("%d(CX)", 8*s.lanes()), "(DX)", fmt.Sprintf("%d(DX)", 8*s.lanes()))
	})
	fmt.Fprintf(output, "// func eliminatePlanes%s(table, roots, c, f, grad, ff, b *float64, n, count int) bool\n", s.rank)
	fmt.Fprintf(output, "TEXT ·eliminatePlanes%s(SB), 0, $%d-73\n", s.rank, 8*s.lanes()*e.slots)
	for i, name := range []string{"table", "roots", "c", "f", "grad", "ff", "b", "n"} {
		p("MOVQ %s+%d(FP), %s", name, 8*i, []string{"AX", "DI", "SI", "R9", "R8", "R11", "R10", "R13"}[i])
	}
	p("SHLQ $4, R13")
	p("XORQ BX, BX")
	label("planesgroup")
	fmt.Fprint(output, roots)
	p("VMOVUPD %s, %s", e.good, e.reg(0))
	if s.wide {
		p("VPTESTMQ Z0, Z0, K1")
		p("KMOVW K1, CX")
		p("CMPL CX, $255")
	} else {
		p("VMOVMSKPD Y0, CX")
		p("CMPL CX, $15")
	}
	p("JNE planesbad")
	p("LEAQ (R10)(BX*1), CX")
	p("LEAQ (R11)(BX*1), DX")
	p("MOVQ count+64(FP), R12")
	label("planesrow")
	fmt.Fprint(output, row)
	p("ADDQ R13, CX")
	p("ADDQ R13, DX")
	p("DECQ R12")
	p("JNE planesrow")
	p("ADDQ $%d, BX", 16*s.lanes())
	p("CMPQ BX, R13")
	p("JGE planesend")
	p("LEAQ %d(R13), CX", -16*s.lanes()) // the last group ends with the last row
	p("CMPQ BX, CX")
	p("CMOVQGT CX, BX")
	p("JMP planesgroup")
	label("planesend")
	p("MOVB $1, ret+72(FP)")
	p("VZEROUPPER")
	p("RET")
	label("planesbad")
	p("MOVB $0, ret+72(FP)")
	p("VZEROUPPER")
	p("RET\n")
}

// part returns the instructions of a part.
func (e *plane) part(write func(plane)) string {
	part := *e
	part.straight = &straight{set: e.set, slots: e.slots}
	write(part)
	body := part.text()
	e.slots = part.slots
	return body
}

func (e plane) number(i int) value { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }

// at is word k of a group in memory, of which a row has as many bytes as BX says, or twice as many.
func (e plane) at(base string, times, k int) string {
	if k == 0 {
		return fmt.Sprintf("(%s)(BX*%d)", base, times)
	}
	return fmt.Sprintf("%d(%s)(BX*%d)", 8*e.lanes()*k, base, times)
}

// roots computes the R of a group, and f.
func (e plane) roots() {
	var word [4]value
	for k := range word {
		word[k] = e.load(e.at("SI", 2, k))
	}
	first, second := e.evens(word[0], word[1]), e.evens(word[2], word[3])
	third, fourth := e.odds(word[0], word[1]), e.odds(word[2], word[3])
	c0, c1, c3 := e.lows(first, second), e.highs(first, second), e.highs(third, fourth)
	one, flat := e.number(planeOne), e.number(planeFlat)
	least, other := e.times(flat, c0), e.times(flat, c3)
	good := e.and(e.above(c0, least), e.above(c0, other))
	r0 := e.over(one, e.root(c0))
	l := e.times(c1, r0)
	pivot := e.less(c3, e.times(l, l))
	good = e.and(good, e.and(e.above(pivot, least), e.above(pivot, other)))
	r3 := e.over(one, e.root(pivot))
	r1 := e.times(e.times(e.times(l, e.number(planeMinus)), r0), r3)
	e.store(good, e.good)
	for k, r := range []value{r0, r1, r3} {
		e.store(r, e.held[k])
	}
	zero := e.less(one, one)
	low, lower := e.lows(r0, r1), e.lows(zero, r3)
	high, higher := e.highs(r0, r1), e.highs(zero, r3)
	for k, v := range []value{e.zipLow(low, lower), e.zipHigh(low, lower), e.zipLow(high, higher), e.zipHigh(high, higher)} {
		e.store(v, e.at("DI", 2, k))
	}
	e.timesRoots(e.at("R8", 1, 0), e.at("R8", 1, 1), e.at("R9", 1, 0), e.at("R9", 1, 1))
}

// timesRoots writes b R for the pairs b of a group.
func (e plane) timesRoots(from, next, to, last string) {
	u, v := e.load(from), e.load(next)
	x, y := e.lows(u, v), e.highs(u, v)
	r0, r1, r3 := e.load(e.held[0]), e.load(e.held[1]), e.load(e.held[2])
	left := e.times(x, r0)
	right := e.sum(e.times(x, r1), e.times(y, r3))
	e.store(e.lows(left, right), to)
	e.store(e.highs(left, right), last)
}
