package main

// writeNeonVectors writes the kernels of long vectors and of their entries: in R0 is x, in R1 y, in R2 the length.
func writeNeonVectors() {
	begin()
	neonInnerProduct()
	neonFarthest()
	for _, k := range []neonEntries{
		{"addScaledWide", "dst []float64, factor float64, x []float64)", 56, 32, 0, true, func(q int) {
			byLane("fmul", q, q, neonFactor, 0)
			both("fadd", q, 4+q, q)
		}},
		{"productsWide", "dst, x, y []float64)", 72, 24, 48, false, func(q int) { both("fmul", q, q, 4+q) }},
		{"magnitudesWide", "dst, x []float64)", 48, 24, -1, false, func(q int) { ofOne("fabs", q, q) }},
		{"rootsWide", "dst, x []float64)", 48, 24, -1, false, func(q int) { ofOne("fsqrt", q, q) }},
		{"withSignsWide", "dst []float64, factor float64, x, y []float64)", 80, 32, 56, true, func(q int) {
			byLane("fmul", q, q, neonFactor, 0)
			p("VBIT V%d.B16, V%d.B16, V%d.B16", neonSign, 4+q, q)
		}},
	} {
		k.write()
	}
}

// The registers of a factor and of the bit of the sign.
const neonFactor, neonSign = 16, 17

// neonEntries is a kernel of entries.
type neonEntries struct {
	name, arguments string
	size, x, y      int // the bytes of arguments, and where two of them are; y may be -1 for none
	factor          bool
	entry           func(q int) // of x in register q and y in 4+q, into q
}

func (k neonEntries) write() {
	kernel(k.name, k.arguments, k.size)
	argument("dst_base", 0, "R3")
	argument("x_base", k.x, "R0")
	argument("x_len", k.x+8, "R2")
	switch k.y {
	case -1:
	case 0:
		p("MOVD R3, R1")
	default:
		argument("y_base", k.y, "R1")
	}
	if k.factor {
		p("FMOVD factor+24(FP), F%d", neonFactor)
		p("MOVD $1<<63, R4")
		p("VDUP R4, V%d.D2", neonSign)
	}
	rounds("entry", func(count int) {
		take("R0", 0, count)
		if k.y >= 0 {
			take("R1", 4, count)
		}
		for q := range max(count, 1) {
			k.entry(q)
		}
		put("R3", 0, count)
	})
	p("RET\n")
}

// neonInnerProduct writes that of vectors in 16 partial sums, which are added like the four registers of others.
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

// neonFarthest writes the largest |x_k - y_k|: of a number and what is none fmaxnm takes the number.
func neonFarthest() {
	kernel("farthestWide", "x, y []float64) float64", 56)
	argument("x_base", 0, "R0")
	argument("x_len", 8, "R2")
	argument("y_base", 24, "R1")
	zeros(0, 4)
	rounds("far", func(count int) {
		take("R0", 4, count)
		take("R1", 8, count)
		for q := range max(count, 1) {
			both("fabd", 4+q, 4+q, 8+q)
			both("fmaxnm", q, q, 4+q)
		}
	})
	both("fmaxnm", 0, 0, 1)
	both("fmaxnm", 2, 2, 3)
	both("fmaxnm", 0, 0, 2)
	toOne("fmaxnmp", 0, 0)
	p("FMOVD F0, ret+48(FP)")
	p("RET\n")
}
