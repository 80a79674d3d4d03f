package main

import "fmt"

func writeNeonPolynomials() {
	begin()
	neonCombine()
	for _, terms := range []int{3, 6, 10} {
		neonSignedSums(terms)
	}
}

// neonCombine writes the kernel of CombineColumns, eight numbers of all columns in a round: in R0 is dst, in R1 where the round
// begins in the first column, in R2 and R3 the factors, in R4 the numbers left, in R5 the bytes of a column.
func neonCombine() {
	kernel("combineWide", "dst, columns, factors []float64)", 72)
	argument("dst_base", 0, "R0")
	argument("columns_base", 24, "R1")
	argument("factors_base", 48, "R2")
	argument("factors_len", 56, "R3")
	argument("dst_len", 8, "R4")
	p("LSL $3, R4, R5")
	label("block")
	p("MOVD R1, R6")
	p("MOVD R2, R7")
	p("MOVD R3, R8")
	neonTerms(func(q int) { byLane("fmul", q, 4+q, 8, 0) })
	p("SUBS $1, R8, R8")
	p("BEQ store")
	label("term")
	p("ADD R5, R6, R6")
	neonTerms(func(q int) {
		byLane("fmul", 4+q, 4+q, 8, 0)
		both("fadd", q, q, 4+q)
	})
	p("SUBS $1, R8, R8")
	p("BNE term")
	label("store")
	put("R0", 0, 4)
	p("ADD $64, R1, R1")
	p("SUBS $8, R4, R4")
	p("BNE block")
	p("RET\n")
}

// neonTerms reads eight numbers of a column and its factor, and does something with each register.
func neonTerms(do func(q int)) {
	p("VLD1 (R6), %s", list(4, 4))
	take("R7", 8, 0)
	for q := range 4 {
		do(q)
	}
}

// The registers of neonSignedSums after those of ten sums, two each.
const (
	neonTotal   = 20
	neonValue   = 22
	neonFactors = 24
	neonScratch = 29
)

// neonSignedSums writes the kernel of SignedSums, four numbers of all columns in a round: in R0 are the sums, in R1 where the round
// begins in the first column, in R4 the numbers left, in R5 the bytes of a column.
func neonSignedSums(terms int) {
	kernel(fmt.Sprintf("signedSums%dWide", terms), "sums, columns, factors []float64, n int) float64", 88)
	argument("sums_base", 0, "R0")
	argument("columns_base", 24, "R1")
	argument("factors_base", 48, "R2")
	argument("n", 72, "R4")
	p("LSL $3, R4, R5")
	for a := range terms / 2 {
		p("FMOVQ %d(R2), F%d", 16*a, neonFactors+a)
	}
	if terms%2 > 0 {
		p("FMOVD %d(R2), F%d", 8*(terms-1), neonFactors+terms/2)
	}
	zeros(0, 2*terms)
	zeros(neonTotal, 2)
	label("block")
	neonValues(terms)
	neonSigns()
	p("MOVD R1, R6")
	for a := range terms {
		for h := range 2 {
			p("FMOVQ %d(R6), F%d", 16*h, neonScratch)
			both("bic", neonScratch, neonScratch, neonScratch+1+h)
			p("VEOR V%[2]d.B16, V%[1]d.B16, V%[1]d.B16", neonScratch, neonValue+h)
			both("fadd", 2*a+h, 2*a+h, neonScratch)
		}
		if a < terms-1 {
			p("ADD R5, R6, R6")
		}
	}
	p("ADD $32, R1, R1")
	p("SUBS $4, R4, R4")
	p("BNE block")
	for a := range terms {
		both("fadd", 2*a, 2*a, 2*a+1)
		toOne("faddp", 2*a, 2*a)
		p("FMOVD.P F%d, 8(R0)", 2*a)
	}
	both("fadd", neonTotal, neonTotal, neonTotal+1)
	toOne("faddp", neonTotal, neonTotal)
	p("FMOVD F%d, ret+80(FP)", neonTotal)
	p("RET\n")
}

// neonValues sums up the columns times their factors.
func neonValues(terms int) {
	p("MOVD R1, R6")
	for a := range terms {
		if a > 0 {
			p("ADD R5, R6, R6")
		}
		p("VLD1 (R6), %s", list(neonScratch, 2))
		for h := range 2 {
			to := neonScratch + h
			if a == 0 {
				to = neonValue + h
			}
			byLane("fmul", to, neonScratch+h, neonFactors+a/2, a%2)
			if a > 0 {
				both("fadd", neonValue+h, neonValue+h, to)
			}
		}
	}
}

// neonSigns adds the sizes of values to their total, and leaves their signs, and which of them are 0.
func neonSigns() {
	for h := range 2 {
		value := neonValue + h
		ofOne("fcmeq 0", neonScratch+1+h, value)
		ofOne("fabs", neonScratch, value)
		both("fadd", neonTotal+h, neonTotal+h, neonScratch)
		p("VEOR V%[1]d.B16, V%[2]d.B16, V%[2]d.B16", neonScratch, value)
	}
}
