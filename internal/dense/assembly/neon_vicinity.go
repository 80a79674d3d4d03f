package main

import "fmt"

// writeNeonVicinity writes nearRows of eight rows at a time: in R0 is the table, in R1, R7 and R8 are the columns of rows, in R3 the
// squares, in R4 what is within the limit, in R5 the groups left.
func writeNeonVicinity() {
	begin()
	kernel("nearRowsWide", "table, x *float64, xStride int, squares *float64, within *byte, groups int)", 48)
	for i, a := range []string{"table", "x", "xStride", "squares", "within", "groups"} {
		argument(a, 8*i, fmt.Sprintf("R%d", i))
	}
	p("ADD R2<<3, R1, R7")
	p("ADD R2<<3, R7, R8")
	const limit, bits, row = 3, 4, 16
	for j := range limit + 1 {
		p("VLD1R.P 8(R0), [V%d.D2]", j)
	}
	for i := range 8 {
		p("MOVD $%d, R6", 1<<i)
		p("VMOV R6, V%d.D[%d]", bits+i/2, i%2)
	}
	label("near")
	for j, at := range []string{"R1", "R7", "R8"} {
		take(at, row+4*j, 4)
		for q := row + 4*j; q < row+4*j+4; q++ {
			both("fsub", q, j, q)
			both("fmul", q, q, q)
		}
	}
	for q := row; q < row+4; q++ {
		both("fadd", q, q, q+4)
		both("fadd", q, q, q+8)
	}
	put("R3", row, 4)
	for q := range 4 {
		both("fcmge", row+q, limit, row+q)
		p("VAND V%[1]d.B16, V%[2]d.B16, V%[2]d.B16", bits+q, row+q)
		if q > 0 {
			p("VORR V%[1]d.B16, V%[2]d.B16, V%[2]d.B16", row+q, row)
		}
	}
	p("VMOV V%d.D[0], R6", row)
	p("VMOV V%d.D[1], R9", row)
	p("ORR R9, R6, R6")
	p("MOVB.P R6, 1(R4)")
	p("SUBS $1, R5, R5")
	p("BNE near")
	p("RET\n")
}
