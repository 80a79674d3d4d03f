package main

import "fmt"

// writeNeonVectors writes the kernels of long vectors: in R0 is x, in R1 y, in R2 the length.
func writeNeonVectors() {
	begin()
	neonInnerProduct()
	neonAddScaled()
}

// neonAddScaled writes dst + factor x, with dst in R1 and R3.
func neonAddScaled() {
	const factor = 16
	kernel("addScaledWide", "dst []float64, factor float64, x []float64)", 56)
	argument("dst_base", 0, "R3")
	argument("x_base", 32, "R0")
	argument("x_len", 40, "R2")
	p("MOVD R3, R1")
	p("FMOVD factor+24(FP), F%d", factor)
	rounds("entry", func(count int) {
		take("R0", 0, count)
		take("R1", 4, count)
		for q := range max(count, 1) {
			byLane("fmul", q, q, factor, 0)
			both("fadd", q, 4+q, q)
		}
		put("R3", 0, count)
	})
	p("RET\n")
}

// neonInnerProduct writes the inner product in 16 partial sums, added in the same order as on other processors.
func neonInnerProduct() {
	kernel("innerProductWide", "x, y []float64) float64", 56)
	argument("x_base", 0, "R0")
	argument("x_len", 8, "R2")
	argument("y_base", 24, "R1")
	zeros(0, 8)
	p("SUBS $16, R2, R2")
	p("BLT innerfours")
	label("innersixteen")
	for half := range 2 {
		take("R0", 8+4*half, 4)
		take("R1", 16+4*half, 4)
	}
	for q := range 8 {
		addRounded(q, 8+q, 16+q, 8+q)
	}
	p("SUBS $16, R2, R2")
	p("BGE innersixteen")
	label("innerfours")
	p("ADDS $12, R2, R2")
	p("BLT inneradd")
	label("innerfour")
	take("R0", 8, 2)
	take("R1", 16, 2)
	for q := range 2 {
		addRounded(q, 8+q, 16+q, 8+q)
	}
	p("SUBS $4, R2, R2")
	p("BGE innerfour")
	label("inneradd")
	for q := range 2 {
		both("fadd", q, q, q+2)
		both("fadd", q+4, q+4, q+6)
		both("fadd", q, q, q+4)
	}
	both("fadd", 0, 0, 1)
	toOne("faddp", 0, 0)
	p("ADDS $4, R2, R2")
	p("BEQ innerdone")
	label("innerone")
	take("R0", 8, 0)
	take("R1", 16, 0)
	p("FMULD F16, F8, F8")
	p("FADDD F8, F0, F0")
	p("SUBS $1, R2, R2")
	p("BNE innerone")
	label("innerdone")
	p("FMOVD F0, ret+48(FP)")
	p("RET\n")
}

// writeNeonGram writes the kernel of products of two rows (in R1 and R5) with four (in R2
// and R6 to R8). Each of the eight sums has four lanes, in two registers.
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
