package main

import "fmt"

// tileAxes is the number of axes, or of rows of sums, that a kernel holds in registers.
const tileAxes = 6

// frameTile writes the kernel of FrameProducts for a few rows of x. It reads the rows once
// for all axes of a panel. Each sum has eight lanes; lane j sums columns j, j+8, j+16, ...
func frameTile(s set) {
	fmt.Fprintf(output, "// func frameTile%s(y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)\n", s.rank)
	fmt.Fprintf(output, "TEXT ·frameTile%s(SB), NOSPLIT, $0-88\n", s.rank)
	f := frame{s}
	p("MOVQ x+24(FP), SI")
	p("MOVQ xStride+32(FP), AX")
	if s.rows == 4 {
		p("LEAQ (SI)(AX*1), R8")
		p("LEAQ (SI)(AX*2), R9")
		p("LEAQ (R8)(AX*2), R10")
	}
	p("MOVQ c+40(FP), R11")
	p("MOVQ axes+48(FP), DI")
	p("MOVQ axesStride+56(FP), DX")
	p("MOVQ length+64(FP), CX")
	p("MOVQ count+72(FP), R12")
	p("MOVQ squares+16(FP), R13")
	p("LEAQ (DX)(DX*2), R15")
	p("LEAQ (DX)(DX*4), R14")
	for i := range tileAxes * s.rows * s.halves {
		s.zero(i)
	}
	p("MOVQ ahead+80(FP), AX")
	p("XORQ BX, BX")
	p("SUBQ $8, CX")
	p("JLT frametail")
	label("framefull")
	f.prefetch()
	f.block("full", false)
	p("ADDQ $64, AX")
	p("ADDQ $64, BX")
	p("ADDQ $64, DI")
	p("SUBQ $8, CX")
	p("JGE framefull")
	label("frametail")
	p("ADDQ $8, CX")
	p("JEQ framesums")
	f.prefetch()
	f.mask()
	f.block("part", true)
	label("framesums")
	f.sums()
	p("VZEROUPPER")
	p("RET\n")
}

// frame is the code of a frameTile.
type frame struct{ set }

var (
	rowAt  = []string{"SI", "R8", "R9", "R10"}
	axisAt = []string{"(DI)", "(DI)(DX*1)", "(DI)(DX*2)", "(DI)(R15*1)", "(DI)(DX*4)", "(DI)(R14*1)"}
)

// sum is the register of one half of the lanes of the sum of axis k and row r.
func (f frame) sum(k, r, h int) int { return (k*f.rows+r)*f.halves + h }

// entry is the register of one half of the entries of row r.
func (f frame) entry(r, h int) int { return tileAxes*f.rows*f.halves + r*f.halves + h }

// prefetch prefetches the data AX bytes ahead.
func (f frame) prefetch() {
	for r := range f.rows {
		p("PREFETCHT0 (%s)(AX*1)", rowAt[r])
	}
}

// mask writes code that sets the masks for the first CX entries of eight, CX from 1 to 7.
func (f frame) mask() {
	if f.wide {
		p("MOVQ $1, AX")
		p("SHLQ CX, AX")
		p("DECQ AX")
		p("KMOVW AX, K1")
		return
	}
	p("LEAQ ·lanes(SB), AX")
	p("NEGQ CX")
	p("LEAQ 64(AX)(CX*8), AX")
}

// block adds eight columns to all sums.
func (f frame) block(name string, part bool) {
	temp := f.entry(f.rows, 0)
	for r := range f.rows {
		for h := range f.halves {
			f.load(fmt.Sprintf("%d(%s)(BX*1)", 32*h, rowAt[r]), f.entry(r, h), part, h, temp)
		}
	}
	p("TESTQ R11, R11")
	p("JEQ frame%sdeviations", name)
	for h := range f.halves {
		f.load(fmt.Sprintf("%d(R11)(BX*1)", 32*h), temp, part, h, temp+1)
		for r := range f.rows {
			p("VSUBPD %s, %s, %s", f.reg(temp), f.reg(f.entry(r, h)), f.reg(f.entry(r, h)))
		}
	}
	label("frame" + name + "deviations")
	p("TESTQ R13, R13")
	p("JEQ frame%saxes", name)
	for r := range f.rows {
		for h := range f.halves {
			e := f.entry(r, h)
			t := temp + (r+h)%2
			f.multiplyAdd(f.sum(tileAxes-1, r, h), e, f.reg(e), t)
		}
	}
	label("frame" + name + "axes")
	for k := range tileAxes {
		p("CMPQ R12, $%d", k)
		p("JLE frame%sdone", name)
		for h := range f.halves {
			at := axisAt[k]
			if h > 0 {
				at = "32" + at
			}
			if !f.wide {
				f.load(at, temp, part, h, temp+1)
				f.multiplyAdd(f.sum(k, 0, h), f.entry(0, h), f.reg(temp), temp)
				continue
			}
			f.load(at, temp, part, h, temp+1)
			for r := range f.rows {
				f.multiplyAdd(f.sum(k, r, h), f.entry(r, h), f.reg(temp), temp+1+r%(31-temp))
			}
		}
	}
	label("frame" + name + "done")
}

// sums writes code that adds the lanes of each sum: ((0+4) + (1+5)) + ((2+6) + (3+7)).
func (f frame) sums() {
	p("MOVQ y+0(FP), DI")
	p("MOVQ yStride+8(FP), DX")
	for k := range tileAxes {
		p("CMPQ R12, $%d", k)
		p("JLE framesquares")
		f.store(k, "DI")
		if k < tileAxes-1 {
			p("ADDQ DX, DI")
		}
	}
	label("framesquares")
	p("TESTQ R13, R13")
	p("JEQ frameend")
	f.store(tileAxes-1, "R13")
	label("frameend")
}

func (f frame) store(k int, to string) {
	if !f.wide {
		a, b := f.sum(k, 0, 0), f.sum(k, 0, 1)
		p("VADDPD Y%d, Y%d, Y%d", b, a, a)
		p("VHADDPD Y%d, Y%d, Y%d", a, a, a)
		p("VEXTRACTF128 $1, Y%d, X15", a)
		p("VADDSD X15, X%d, X%d", a, a)
		p("VMOVSD X%d, (%s)", a, to)
		return
	}
	for r := range 4 {
		p("VEXTRACTF64X4 $1, Z%d, Y%d", f.sum(k, r, 0), 24+r)
	}
	for r := range 4 {
		p("VADDPD Y%d, Y%d, Y%d", 24+r, f.sum(k, r, 0), 24+r)
	}
	p("VUNPCKLPD Y25, Y24, Y28")
	p("VUNPCKHPD Y25, Y24, Y29")
	p("VUNPCKLPD Y27, Y26, Y30")
	p("VUNPCKHPD Y27, Y26, Y31")
	p("VADDPD Y29, Y28, Y28")
	p("VADDPD Y31, Y30, Y30")
	p("VSHUFF64X2 $0, Y30, Y28, Y24")
	p("VSHUFF64X2 $3, Y30, Y28, Y25")
	p("VADDPD Y25, Y24, Y24")
	p("VMOVUPD Y24, (%s)", to)
}

// addTile writes the kernel that adds weighted rows of x to sums. A tile of sums stays in
// registers over all rows.
func addTile(s set) {
	fmt.Fprintf(output, "// func addTile%s(dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)\n", s.rank)
	fmt.Fprintf(output, "TEXT ·addTile%s(SB), NOSPLIT, $0-88\n", s.rank)
	a := adder{set: s, vectors: 2}
	if s.wide {
		a.vectors = 4
	}
	p("MOVQ dst+0(FP), BX")
	p("MOVQ dstStride+8(FP), R13")
	p("MOVQ w+16(FP), DI")
	p("MOVQ wColumn+32(FP), DX")
	p("MOVQ x+40(FP), SI")
	p("MOVQ columns+80(FP), CX")
	p("MOVQ count+72(FP), R12")
	p("MOVQ c+56(FP), R11")
	p("LEAQ (DX)(DX*2), R9")
	p("LEAQ (DX)(DX*4), R10")
	p("LEAQ (R13)(R13*2), R14")
	p("LEAQ (R13)(R13*4), R15")
	lanes := s.lanes()
	for v := 1; v < a.vectors; v++ {
		p("CMPQ CX, $%d", v*lanes)
		p("JLE add%d", v)
	}
	for v := a.vectors; v > 0; v-- {
		label(fmt.Sprintf("add%d", v))
		a.tile(v)
	}
	fmt.Fprintln(output)
}

// adder is the code of an addTile.
type adder struct {
	set
	vectors int
}

var (
	weightAt = []string{"(DI)", "(DI)(DX*1)", "(DI)(DX*2)", "(DI)(R9*1)", "(DI)(DX*4)", "(DI)(R10*1)"}
	sumAt    = []string{"(BX)", "(BX)(R13*1)", "(BX)(R13*2)", "(BX)(R14*1)", "(BX)(R13*4)", "(BX)(R15*1)"}
)

func (a adder) sum(k, v int) int { return k*a.vectors + v }
func (a adder) entry(v int) int  { return tileAxes*a.vectors + v }

// tile writes code for a number of vectors of columns, the last of which may be partial.
func (a adder) tile(vectors int) {
	bytes, last := 8*a.lanes(), vectors-1
	a.mask(last)
	p("MOVQ n+64(FP), CX")
	p("MOVQ xStride+48(FP), AX")
	a.each(vectors, "load", func(k, v int) {
		a.masked(fmt.Sprintf("%d%s", v*bytes, sumAt[k]), a.sum(k, v), v == last)
	})
	label(fmt.Sprintf("add%drow", vectors))
	if !a.wide {
		p("VMOVUPD (R8), Y15")
	}
	a.entries(vectors)
	a.each(vectors, "sum", func(k, v int) { a.weigh(k, v, last) })
	p("ADDQ AX, SI")
	p("ADDQ wRow+24(FP), DI")
	p("DECQ CX")
	p("JNE add%drow", vectors)
	if !a.wide {
		p("VMOVUPD (R8), Y15")
	}
	a.each(vectors, "store", func(k, v int) {
		at := fmt.Sprintf("%d%s", v*bytes, sumAt[k])
		switch {
		case v < last:
			p("VMOVUPD %s, %s", a.reg(a.sum(k, v)), at)
		case a.wide:
			p("VMOVUPD %s, K1, %s", a.reg(a.sum(k, v)), at)
		default:
			p("VMASKMOVPD %s, Y15, %s", a.reg(a.sum(k, v)), at)
		}
	})
	p("VZEROUPPER")
	p("RET")
}

// mask writes code that sets the mask of the last vector, for CX columns minus those of earlier vectors.
func (a adder) mask(last int) {
	p("SUBQ $%d, CX", last*a.lanes())
	if a.wide {
		p("MOVQ $1, AX")
		p("SHLQ CX, AX")
		p("DECQ AX")
		p("KMOVW AX, K1")
		return
	}
	p("LEAQ ·lanes(SB), AX")
	p("NEGQ CX")
	p("LEAQ 64(AX)(CX*8), R8")
	p("VMOVUPD (R8), Y15")
}

// entries writes code that reads a row of x and subtracts c.
func (a adder) entries(vectors int) {
	bytes, last := 8*a.lanes(), vectors-1
	for v := range vectors {
		a.masked(fmt.Sprintf("%d(SI)", v*bytes), a.entry(v), v == last)
	}
	p("TESTQ R11, R11")
	p("JEQ add%dweights", vectors)
	for v := range last {
		p("VSUBPD %d(R11), %s, %s", v*bytes, a.reg(a.entry(v)), a.reg(a.entry(v)))
	}
	temp := a.entry(a.vectors)
	a.masked(fmt.Sprintf("%d(R11)", last*bytes), temp, true)
	p("VSUBPD %s, %s, %s", a.reg(temp), a.reg(a.entry(last)), a.reg(a.entry(last)))
	label(fmt.Sprintf("add%dweights", vectors))
}

// weigh writes code that adds vector v of a row, times its weight, to sum k.
func (a adder) weigh(k, v, last int) {
	weight := a.entry(a.vectors)
	if v == 0 {
		p("VBROADCASTSD %s, %s", weightAt[k], a.reg(weight))
	}
	switch {
	case a.wide:
		a.multiplyAdd(a.sum(k, v), a.entry(v), a.reg(weight), weight+1+v%3)
	case v < last: // there is no register left for another product
		a.multiplyAdd(a.sum(k, v), a.entry(v), a.reg(weight), 15)
	default:
		a.multiplyAdd(a.sum(k, v), a.entry(v), a.reg(weight), weight)
	}
}

// each writes code that calls do for every vector of the requested sums.
func (a adder) each(vectors int, name string, do func(k, v int)) {
	for k := range tileAxes {
		p("CMPQ R12, $%d", k)
		p("JLE add%d%sdone", vectors, name)
		for v := range vectors {
			do(k, v)
		}
	}
	label(fmt.Sprintf("add%d%sdone", vectors, name))
}
