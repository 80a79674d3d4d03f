package main

import "fmt"

// writeNeonGram writes the products of two rows, in R1 and R5, with four, in R2 and R6 to R8: eight sums of four numbers each, in
// two registers.
func writeNeonGram() {
	begin()
	kernel("products2x4Wide", "dst *[8]float64, a, b *float64, stride, n int)", 40)
	for i, a := range []string{"dst", "a", "b", "stride", "n"} {
		argument(a, 8*i, fmt.Sprintf("R%d", i))
	}
	p("LSL $3, R3, R3")
	p("ADD R3, R1, R5")
	p("ADD R3, R2, R6")
	p("ADD R3, R6, R7")
	p("ADD R3, R7, R8")
	rows := []string{"R2", "R6", "R7", "R8"}
	zeros(0, 16)
	p("SUBS $4, R4, R4")
	p("BLT reduce")
	label("four")
	take("R1", 16, 2)
	take("R5", 18, 2)
	for j, row := range rows {
		take(row, 20, 2)
		for i := range 4 {
			addRounded(2*(4*(i/2)+j)+i%2, 16+i, 20+i%2, 24+i)
		}
	}
	p("SUBS $4, R4, R4")
	p("BGE four")
	label("reduce")
	for i := range 8 {
		both("fadd", 2*i, 2*i, 2*i+1)
		toOne("faddp", 2*i, 2*i)
	}
	p("ADDS $4, R4, R4")
	p("BEQ done")
	label("one")
	take("R1", 16, 0)
	take("R5", 18, 0)
	for j, row := range rows {
		take(row, 20, 0)
		for r := range 2 {
			p("FMULD F20, F%d, F%d", 16+2*r, 24+r)
			p("FADDD F%d, F%d, F%d", 24+r, 2*(4*r+j), 2*(4*r+j))
		}
	}
	p("SUBS $1, R4, R4")
	p("BNE one")
	label("done")
	for i := range 8 {
		p("FMOVD.P F%d, 8(R0)", 2*i)
	}
	p("RET\n")
}
