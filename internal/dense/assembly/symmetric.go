package main

import "fmt"

// symmetricTile writes the kernel of addSymmetricProduct for a few rows: eight lanes of columns in
// which their products with v are summed, and in the columns after those of the diagonal block
// what they add to the other entries of the product, all in one read.
func symmetricTile(s set) {
	rows := 8 / s.halves
	t := symmetric{s, rows}
	fmt.Fprintf(output, "// func symmetricTile%s(y, sums, a *float64, stride int, v, weights *float64, blocks int)\n", s.rank)
	fmt.Fprintf(output, "TEXT ·symmetricTile%s(SB), NOSPLIT, $0-56\n", s.rank)
	p("MOVQ y+0(FP), DI")
	p("MOVQ a+16(FP), SI")
	p("MOVQ stride+24(FP), AX")
	p("MOVQ v+32(FP), DX")
	p("MOVQ weights+40(FP), R11")
	p("MOVQ blocks+48(FP), CX")
	p("LEAQ (AX)(AX*2), R8")
	p("LEAQ (AX)(AX*4), R9")
	p("LEAQ (R8)(AX*4), R10")
	for r := range rows {
		p("VBROADCASTSD %d(R11), %s", 8*r, s.reg(t.weight(r)))
		for h := range s.halves {
			s.zero(t.sum(r, h))
		}
	}
	t.block(false)
	p("DECQ CX")
	p("JEQ symmetricsums")
	label("symmetricblocks")
	p("ADDQ $64, SI")
	p("ADDQ $64, DI")
	p("ADDQ $64, DX")
	t.block(true)
	p("DECQ CX")
	p("JNE symmetricblocks")
	label("symmetricsums")
	p("MOVQ sums+8(FP), DI")
	for r := range rows {
		t.add(r, fmt.Sprintf("%d(DI)", 8*r))
	}
	p("VZEROUPPER")
	p("RET\n")
}

// symmetric is the code of a symmetricTile.
type symmetric struct {
	set
	tall int // rows at a time
}

var tallAt = []string{"(SI)", "(SI)(AX*1)", "(SI)(AX*2)", "(SI)(R8*1)", "(SI)(AX*4)", "(SI)(R9*1)", "(SI)(R8*2)", "(SI)(R10*1)"}

func (t symmetric) weight(r int) int { return r }
func (t symmetric) sum(r, h int) int { return t.tall + r*t.halves + h }

// block adds eight columns to the sums, and where they are across to y.
func (t symmetric) block(across bool) {
	next := t.tall * (1 + t.halves)
	for h := range t.halves {
		// There are three registers left with AVX2: v stays in memory.
		entry, product := next, next+1
		y := next + 2
		if across {
			p("VMOVUPD %d(DI), %s", 32*h, t.reg(y))
		}
		v := fmt.Sprintf("%d(DX)", 32*h)
		if t.wide {
			p("VMOVUPD %s, %s", v, t.reg(next+3))
			v = t.reg(next + 3)
		}
		for r := range t.tall {
			if t.wide {
				entry, product = next+4+r%4, next+8+r%4
			}
			p("VMOVUPD %s, %s", t.column(h, tallAt[r]), t.reg(entry))
			t.multiplyAdd(t.sum(r, h), entry, v, product)
			if across {
				t.multiplyAdd(y, entry, t.reg(t.weight(r)), product)
			}
		}
		if across {
			p("VMOVUPD %s, %d(DI)", t.reg(y), 32*h)
		}
	}
}

func (t symmetric) column(h int, at string) string {
	if h == 0 {
		return at
	}
	return fmt.Sprintf("%d%s", 32*h, at)
}

// add adds up the lanes of a sum: ((0+4) + (1+5)) + ((2+6) + (3+7)).
func (t symmetric) add(r int, to string) {
	a := t.sum(r, 0)
	if t.wide {
		p("VEXTRACTF64X4 $1, Z%d, Y%d", a, 0)
		p("VADDPD Y0, Y%d, Y%d", a, a)
	} else {
		p("VADDPD Y%d, Y%d, Y%d", t.sum(r, 1), a, a)
	}
	p("VHADDPD Y%d, Y%d, Y%d", a, a, a)
	p("VEXTRACTF128 $1, Y%d, X0", a)
	p("VADDSD X0, X%d, X%d", a, a)
	p("VMOVSD X%d, %s", a, to)
}
