package main

import "fmt"

// writeRoundedSums writes the kernels of absoluteStarts.
func writeRoundedSums() {
	begin()
	for _, s := range sets {
		for d := 1; d <= 3; d++ {
			roundedSums(s, d)
		}
	}
}

// roundedSums writes the kernel that adds one entry after the other to the derivatives of a sum of rounded
// absolute values, for as many rows as there are lanes: the coefficients of an entry are at BX, the rows'
// numbers at SI, what is known of their multipliers at R8, tau, the square of the length and what tells the
// first step at DX, and the sums at DI.
func roundedSums(s set, d int) {
	e := &straight{set: s}
	forms := d * (d + 1) / 2
	coefficient := func(i int) value { return e.broadcast(fmt.Sprintf("%d(BX)", 8*i)) }
	at := func(i int) value { return e.load(fmt.Sprintf("%d(DX)", 64*i)) }
	sum := func(i int, v value) {
		place := fmt.Sprintf("%d(DI)", 64*i)
		e.store(e.sum(e.load(place), v), place)
	}
	r := e.less(coefficient(0), e.load("(SI)"))
	var slopes []value
	for i := range d {
		inner, slope := coefficient(1+i), coefficient(1+i)
		for j := range d {
			term := e.times(coefficient(1+d+upper(i, j, d)), at(j))
			if slope = e.sum(slope, term); j == i {
				slope = e.sum(slope, term)
			}
			if j >= i {
				inner = e.sum(inner, term)
			}
		}
		r = e.sum(r, e.times(inner, at(i)))
		slopes = append(slopes, slope)
	}
	one := e.broadcast("(AX)")
	minus, zero := e.broadcast("8(AX)"), e.broadcast("16(AX)")
	inverse := e.over(one, e.root(e.sum(e.times(r, r), at(d))))
	q := e.times(r, inverse)
	g := e.sum(e.load("(R8)"), e.times(e.load("64(R8)"), r))
	g = e.add("VMAXPD", "", e.add("VMINPD", "", g, one), minus)
	g = e.choose(e.above(at(d+1), zero), q, g)
	weight := e.times(e.add("VMAXPD", "", e.less(one, e.times(g, q)), zero), inverse)
	e.store(e.less(q, e.times(weight, r)), "(R8)")
	e.store(weight, "64(R8)")
	for i, v := range slopes {
		sum(i, e.times(q, v))
		by := e.times(weight, v)
		for j := i; j < d; j++ {
			sum(d+upper(i, j, d), e.times(by, slopes[j]))
		}
	}
	for a := range forms {
		sum(d+forms+a, e.times(g, coefficient(1+d+a)))
	}
	text := e.text()
	name := fmt.Sprintf("roundedSums%d", d)
	fmt.Fprintf(output, "// func %s%s(table, coefficients, x, multipliers, at, sums *float64, n int)\n", name, s.name)
	fmt.Fprintf(output, "TEXT ·%s%s(SB), 0, $%d-56\n", name, s.name, 8*s.lanes()*e.slots)
	arguments([]string{"table", "coefficients", "x", "multipliers", "at", "sums", "n"}, "AX", "BX", "SI", "R8", "DX", "DI", "R11")
	label("entry")
	fmt.Fprint(output, text)
	p("ADDQ $64, SI")
	p("ADDQ $128, R8")
	p("ADDQ $%d, BX", 8*cutTerms(d))
	p("DECQ R11")
	p("JNE entry")
	p("VZEROUPPER")
	p("RET\n")
}
