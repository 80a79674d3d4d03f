package main

import "fmt"

// writeNeonPlanes writes the kernel of EliminatePlanes, two matrices at a time: in R0 is the table, in R1 to R6 are its other
// vectors, in R7 and R8 their counts, in R9 the number of the first matrix, in R10 the bytes of a row of B.
func writeNeonPlanes() {
	begin()
	kernel("eliminatePlanesWide", "table, roots, c, f, grad, ff, b *float64, n, count int) bool", 73)
	for i, a := range []string{"table", "roots", "c", "f", "grad", "ff", "b", "n", "count"} {
		argument(a, 8*i, fmt.Sprintf("R%d", i))
	}
	p("VLD1R.P 8(R0), [V%d.D2]", neonFlat)
	p("VLD1R (R0), [V%d.D2]", neonOne)
	p("LSL $4, R7, R10")
	p("MOVD ZR, R9")
	label("planesgroup")
	neonPlaneRoots()
	p("VMOV V%d.D[0], R11", neonGood)
	p("VMOV V%d.D[1], R12", neonGood)
	p("AND R11, R12, R11")
	p("CBZ R11, planesbad")
	p("ADD R9<<4, R4, R11")
	p("ADD R9<<4, R3, R12")
	neonTimesRoots()
	p("ADD R9<<4, R6, R11")
	p("ADD R9<<4, R5, R12")
	p("MOVD R8, R13")
	label("planesrow")
	neonTimesRoots()
	p("ADD R10, R11, R11")
	p("ADD R10, R12, R12")
	p("SUBS $1, R13, R13")
	p("BNE planesrow")
	p("ADD $2, R9, R9")
	p("CMP R7, R9")
	p("BGE planesend")
	p("SUB $2, R7, R11") // the last group ends with the last matrix
	p("CMP R11, R9")
	p("CSEL GT, R11, R9, R9")
	p("B planesgroup")
	label("planesend")
	p("MOVD $1, R11")
	p("MOVB R11, ret+72(FP)")
	p("RET")
	label("planesbad")
	p("MOVB ZR, ret+72(FP)")
	p("RET\n")
}

// The registers that hold something for a group: the entries of R that are not 0, and whether all is well.
const neonR0, neonR1, neonR3, neonGood, neonFlat, neonOne = 20, 21, 22, 23, 24, 25

// zip writes the first numbers of n and m, or the second ones.
func zip(second bool, d, n, m int) {
	op := "VZIP1"
	if second {
		op = "VZIP2"
	}
	p("%s V%d.D2, V%d.D2, V%d.D2", op, m, n, d)
}

// neonPlaneRoots computes the R of a group.
func neonPlaneRoots() {
	const c0, c1, c3, least, other, temp, zero = 4, 5, 6, 16, 17, 18, 19
	p("ADD R9<<5, R2, R11")
	p("VLD1 (R11), %s", list(0, 4))
	zip(false, c0, 0, 2)
	zip(true, c1, 0, 2)
	zip(true, c3, 1, 3)
	both("fmul", least, neonFlat, c0)
	both("fmul", other, neonFlat, c3)
	both("fcmgt", neonGood, c0, least)
	above := func(pivot, bound int) {
		both("fcmgt", temp, pivot, bound)
		p("VAND V%[1]d.B16, V%[2]d.B16, V%[2]d.B16", temp, neonGood)
	}
	above(c0, other)
	ofOne("fsqrt", neonR0, c0)
	both("fdiv", neonR0, neonOne, neonR0)
	both("fmul", c1, c1, neonR0) // now l
	both("fmul", temp, c1, c1)
	both("fsub", c3, c3, temp) // now the pivot
	above(c3, least)
	above(c3, other)
	ofOne("fsqrt", neonR3, c3)
	both("fdiv", neonR3, neonOne, neonR3)
	ofOne("fneg", neonR1, c1)
	both("fmul", neonR1, neonR1, neonR0)
	both("fmul", neonR1, neonR1, neonR3)
	zeros(zero, 1)
	zip(false, 0, neonR0, neonR1)
	zip(false, 1, zero, neonR3)
	zip(true, 2, neonR0, neonR1)
	zip(true, 3, zero, neonR3)
	p("ADD R9<<5, R1, R11")
	p("VST1 %s, (R11)", list(0, 4))
}

// neonTimesRoots writes b R for two pairs b, from R11 to R12.
func neonTimesRoots() {
	const x, y, left, right = 2, 3, 4, 5
	p("VLD1 (R11), %s", list(0, 2))
	zip(false, x, 0, 1)
	zip(true, y, 0, 1)
	both("fmul", left, x, neonR0)
	both("fmul", right, x, neonR1)
	addRounded(right, y, neonR3, y)
	zip(false, 0, left, right)
	zip(true, 1, left, right)
	p("VST1 %s, (R12)", list(0, 2))
}
