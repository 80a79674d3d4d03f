package main

import "fmt"

const (
	// laneBytes is the distance of vectors in memory: eight lanes.
	laneBytes = 64
	// chunk is the number of sums that a loop keeps in registers.
	chunk = 6
)

// writeForms writes the kernels of Feet: quadratic forms of four rows at a time, of eight in memory.
func writeForms() {
	begin()
	fmt.Fprint(output, "DATA ·half+0(SB)/8, $0.5\nGLOBL ·half(SB), RODATA|NOPTR, $8\n\n")
	fmt.Fprint(output, "DATA ·unit+0(SB)/8, $1.0\nGLOBL ·unit(SB), RODATA|NOPTR, $8\n\n")
	formImages()
	formDerivatives()
	formEliminate()
}

// Registers 0 to 5 of these kernels are sums.

// arguments reads those of a function, 8 bytes each.
func arguments(names []string, registers ...string) {
	for i, r := range registers {
		if r != "" {
			p("MOVQ %s+%d(FP), %s", names[i], 8*i, r)
		}
	}
}

// scaled writes the product of a register and a number in memory.
func scaled(at string, a, to int) {
	p("VBROADCASTSD %s, %s", at, ymm(to))
	p("VMULPD %s, %s, %s", ymm(to), ymm(a), ymm(to))
}

func load1(at string, to int)          { p("VMOVUPD %s, %s", at, ymm(to)) }
func save(from int, at string)         { p("VMOVUPD %s, %s", ymm(from), at) }
func plus(a, sum int)                  { p("VADDPD %s, %s, %s", ymm(a), ymm(sum), ymm(sum)) }
func times(at string, a, to int)       { p("VMULPD %s, %s, %s", at, ymm(a), ymm(to)) }
func vector(i int, base string) string { return fmt.Sprintf("%d%s", i*laneBytes, base) }
func text(name, arguments string, frame, size int) {
	fmt.Fprintf(output, "// func %s(%s)\n", name, arguments)
	fmt.Fprintf(output, "TEXT ·%s(SB), NOSPLIT, $%d-%d\n", name, frame, size)
}

// chunks writes a loop for each number of sums, and jumps to the one for those that are left: all
// but more in a register, at most six.
func chunks(name, left string, more int, body func(name string, count int)) {
	label(name)
	p("CMPQ %s, $%d", left, chunk-more)
	p("JGE %s%d", name, chunk)
	for count := chunk - 1; count > 1; count-- {
		p("CMPQ %s, $%d", left, count-more)
		p("JEQ %s%d", name, count)
	}
	for count := 1; count <= chunk; count++ {
		label(fmt.Sprintf("%s%d", name, count))
		body(fmt.Sprintf("%s%d", name, count), count)
		if count < chunk {
			p("JMP %send", name)
		}
	}
	label(name + "end")
}

// images writes the kernel of products of forms with tau, of z, and of the squared distance.
func formImages() {
	text("formImages", "n, e, h, t, tau, b *float64, bStride, d, s int", 0, 72)
	names := []string{"n", "e", "h", "t", "tau", "b", "bStride", "d", "s"}
	arguments(names, "DI", "R8", "AX", "SI", "BX", "R9", "", "DX", "CX")
	const v, temp, z, sum, half = 6, 7, 9, 10, 11 // 8 is another temp
	load1("(AX)", sum)
	p("VBROADCASTSD ·half(SB), %s", ymm(half))
	p("LEAQ (DX*8), R12")
	label("imagesform")
	p("VXORPD %[1]s, %[1]s, %[1]s", ymm(z))
	p("MOVQ DX, R10")
	p("MOVQ BX, R13")
	p("MOVQ SI, R11")
	chunks("imageschunk", "R10", 0, func(name string, count int) {
		for q := range count {
			p("VXORPD %[1]s, %[1]s, %[1]s", ymm(q))
		}
		p("MOVQ R11, AX")
		p("MOVQ BX, R14")
		p("MOVQ DX, R15")
		label(name + "entry")
		load1("(R14)", v)
		for q := range count {
			scaled(fmt.Sprintf("%d(AX)", 8*q), v, temp+q%2)
			plus(temp+q%2, q)
		}
		p("ADDQ R12, AX")
		p("ADDQ $%d, R14", laneBytes)
		p("DECQ R15")
		p("JNE %sentry", name)
		for q := range count {
			save(q, vector(q, "(DI)"))
			times(vector(q, "(R13)"), q, temp+q%2)
			plus(temp+q%2, z)
		}
		p("ADDQ $%d, DI", laneBytes*count)
		if count == chunk {
			p("ADDQ $%d, R13", laneBytes*count)
			p("ADDQ $%d, R11", 8*count)
			p("SUBQ $%d, R10", count)
			p("JNE imageschunk")
		}
	})
	p("VMULPD %s, %s, %s", ymm(half), ymm(z), ymm(z))
	p("VSUBPD (R9), %s, %s", ymm(z), ymm(z))
	save(z, "(R8)")
	p("VMULPD %s, %s, %s", ymm(z), ymm(z), ymm(z))
	plus(z, sum)
	p("ADDQ $%d, R8", laneBytes)
	p("ADDQ bStride+48(FP), R9")
	p("MOVQ DX, AX")
	p("IMULQ R12, AX")
	p("ADDQ AX, SI")
	p("DECQ CX")
	p("JNE imagesform")
	p("MOVQ h+16(FP), AX")
	save(sum, "(AX)")
	p("VZEROUPPER")
	p("RET\n")
}

// derivatives writes the kernel of gradient and Hessian.
func formDerivatives() {
	text("formDerivatives", "h, grad, n, e, t *float64, d, s int, gram bool", 8, 57)
	names := []string{"h", "grad", "n", "e", "t", "d", "s"}
	arguments(names, "DI", "R8", "SI", "BX", "R9", "DX", "")
	p("MOVQ DX, R12")
	p("SHLQ $6, R12")
	p("MOVQ DX, R10")
	p("MOVQ SI, R11")
	gradient()
	p("MOVQ DX, AX")
	p("IMULQ DX, AX")
	p("SHLQ $3, AX")
	p("MOVQ AX, forms-8(SP)")
	p("XORQ R8, R8")
	p("MOVBLZX gram+56(FP), AX")
	p("TESTL AX, AX")
	p("JEQ bendrow")
	hessian("gram", true)
	hessian("bend", false)
}

// The registers of derivatives, beside the sums; the one behind products is another.
const (
	residual = 6 // entries of e
	own      = 7 // of N
	products = 8
)

// gradient adds N'e.
func gradient() {
	chunks("gradient", "R10", 0, func(name string, count int) {
		for q := range count {
			load1(vector(q, "(R8)"), q)
		}
		p("MOVQ R11, AX")
		p("MOVQ BX, R13")
		p("MOVQ s+48(FP), CX")
		label(name + "form")
		load1("(R13)", residual)
		for q := range count {
			times(vector(q, "(AX)"), residual, products+q%2)
			plus(products+q%2, q)
		}
		p("ADDQ R12, AX")
		p("ADDQ $%d, R13", laneBytes)
		p("DECQ CX")
		p("JNE %sform", name)
		for q := range count {
			save(q, vector(q, "(R8)"))
		}
		if count == chunk {
			p("ADDQ $%d, R8", laneBytes*count)
			p("ADDQ $%d, R11", laneBytes*count)
			p("SUBQ $%d, R10", count)
			p("JNE gradient")
		}
	})
}

// hessian adds the forms weighed by e, and the products of N where asked, row by row.
func hessian(name string, gram bool) {
	label(name + "row")
	p("XORQ R10, R10")
	label(name + "columns")
	p("MOVQ R10, AX")
	p("SHLQ $6, AX")
	p("LEAQ (DI)(AX*1), R11")
	p("ADDQ SI, AX")
	p("MOVQ BX, R14")
	p("LEAQ (R9)(R10*8), R15")
	p("MOVQ s+48(FP), CX")
	p("MOVQ R8, R13")
	p("SUBQ R10, R13")
	chunks(name, "R13", 1, func(at string, count int) {
		for q := range count {
			load1(vector(q, "(R11)"), q)
		}
		p("SHLQ $6, R13")
		label(at + "form")
		load1("(R14)", residual)
		if gram {
			load1("(AX)(R13*1)", own)
		}
		for q := range count {
			scaled(fmt.Sprintf("%d(R15)", 8*q), residual, products)
			plus(products, q)
			if gram {
				times(vector(q, "(AX)"), own, products+1)
				plus(products+1, q)
			}
		}
		p("ADDQ R12, AX")
		p("ADDQ $%d, R14", laneBytes)
		p("ADDQ forms-8(SP), R15")
		p("DECQ CX")
		p("JNE %sform", at)
		for q := range count {
			save(q, vector(q, "(R11)"))
		}
		if count == chunk {
			p("ADDQ $%d, R10", count)
			p("CMPQ R10, R8")
			p("JLE %scolumns", name)
		}
	})
	p("ADDQ R12, DI")
	p("LEAQ (R9)(DX*8), R9")
	p("INCQ R8")
	p("CMPQ R8, DX")
	p("JLT %srow", name)
	p("VZEROUPPER")
	p("RET\n")
}

// eliminate writes the kernel that solves with symmetric matrices.
func formEliminate() {
	text("formEliminate", "h, x, r *float64, d int", 0, 32)
	arguments([]string{"h", "x", "r", "d"}, "DI", "BX", "R9", "DX")
	p("VBROADCASTSD ·unit(SB), %s", ymm(unity))
	p("MOVQ DX, R12")
	p("SHLQ $6, R12")
	p("XORQ R8, R8")
	p("XORQ R14, R14")
	p("MOVQ DI, R11")
	label("eliminatecolumn") // R8 = j, R14 = 64 j, R11 = row j
	p("MOVQ R11, SI")
	p("LEAQ (R11)(R14*1), R10")
	p("MOVQ R8, R13")
	label("eliminaterow") // R13 = i, SI = row i, R10 = entry (j, i)
	load1("(SI)(R14*1)", remainder)
	p("MOVQ SI, AX")
	p("LEAQ (DI)(R14*1), R15")
	p("MOVQ R8, CX")
	inner("eliminateentry", along, "R12")
	save(remainder, "(SI)(R14*1)")
	p("CMPQ R13, R8")
	p("JNE eliminatebelow")
	p("VDIVPD %s, %s, %s", ymm(remainder), ymm(unity), ymm(reciprocal))
	save(reciprocal, "(R9)(R14*1)")
	p("JMP eliminatenext")
	label("eliminatebelow")
	p("VMULPD %s, %s, %s", ymm(reciprocal), ymm(remainder), ymm(remainder))
	save(remainder, "(R10)")
	label("eliminatenext")
	p("ADDQ R12, SI")
	p("ADDQ $%d, R10", laneBytes)
	p("INCQ R13")
	p("CMPQ R13, DX")
	p("JLT eliminaterow")
	p("ADDQ R12, R11")
	p("ADDQ $%d, R14", laneBytes)
	p("INCQ R8")
	p("CMPQ R8, DX")
	p("JLT eliminatecolumn")
	substitute()
}

// The registers of eliminate.
const (
	remainder = iota
	factor
	reciprocal
	unity
)

// along is the step of vectors one after the other.
var along = fmt.Sprintf("$%d", laneBytes)

// inner subtracts products of what AX and R15 point to, CX times.
func inner(name string, stepA, stepB string) {
	p("TESTQ CX, CX")
	p("JEQ %send", name)
	label(name)
	load1("(AX)", factor)
	times("(R15)", factor, factor)
	p("VSUBPD %s, %s, %s", ymm(factor), ymm(remainder), ymm(remainder))
	p("ADDQ %s, AX", stepA)
	p("ADDQ %s, R15", stepB)
	p("DECQ CX")
	p("JNE %s", name)
	label(name + "end")
}

// substitute writes the solution of the triangular systems.
func substitute() {
	p("XORQ R8, R8")
	p("XORQ R14, R14")
	label("eliminateforward")
	load1("(BX)(R14*1)", remainder)
	p("LEAQ (DI)(R14*1), AX")
	p("MOVQ BX, R15")
	p("MOVQ R8, CX")
	inner("eliminatebefore", "R12", along)
	save(remainder, "(BX)(R14*1)")
	p("ADDQ $%d, R14", laneBytes)
	p("INCQ R8")
	p("CMPQ R8, DX")
	p("JLT eliminateforward")

	label("eliminateback") // R8 = i + 1, R14 = 64 (i + 1), R11 = row i + 1
	p("SUBQ R12, R11")
	p("LEAQ (R11)(R14*1), AX")
	p("LEAQ (BX)(R14*1), R15")
	p("MOVQ DX, CX")
	p("SUBQ R8, CX")
	p("SUBQ $%d, R14", laneBytes)
	load1("(BX)(R14*1)", remainder)
	times("(R9)(R14*1)", remainder, remainder)
	inner("eliminateafter", along, along)
	save(remainder, "(BX)(R14*1)")
	p("DECQ R8")
	p("JNE eliminateback")
	p("VZEROUPPER")
	p("RET\n")
}
