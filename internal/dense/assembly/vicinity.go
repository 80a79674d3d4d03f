package main

import "fmt"

// writeVicinity writes the kernel of lookups in a copy of the rows near by.
func writeVicinity() {
	begin()
	for _, s := range sets {
		nearRows(s)
	}
}

// nearRows writes the kernel of vicinity.go in package lookup: squared distances of rows, and a byte for eight of them that
// says which are within the limit. The numbers of the table are the point and the limit.
func nearRows(s set) {
	fmt.Fprintf(output, "// func nearRows%s(table, x *float64, xStride int, squares *float64, within *byte, groups int)\n", s.rank)
	fmt.Fprintf(output, "TEXT ·nearRows%s(SB), 0, $0-48\n", s.rank)
	for i, argument := range []string{"table", "x", "xStride", "squares", "within", "groups"} {
		p("MOVQ %s+%d(FP), %s", argument, 8*i, []string{"AX", "SI", "DX", "DI", "BX", "CX"}[i])
	}
	p("SHLQ $3, DX")
	for i := range 4 {
		p("VBROADCASTSD %d(AX), %s", 8*i, s.reg(i))
	}
	label("near")
	for half := range s.halves {
		for j := range 3 {
			at := fmt.Sprintf("%d(SI)%s", 32*half, []string{"", "(DX*1)", "(DX*2)"}[j])
			p("VSUBPD %s, %s, %s", at, s.reg(j), s.reg(4+j))
			p("VMULPD %s, %s, %s", s.reg(4+j), s.reg(4+j), s.reg(4+j))
		}
		p("VADDPD %s, %s, %s", s.reg(5), s.reg(4), s.reg(4))
		p("VADDPD %s, %s, %s", s.reg(6), s.reg(4), s.reg(4))
		p("VMOVUPD %s, %d(DI)", s.reg(4), 32*half)
		if s.wide {
			p("VCMPPD $0x12, Z3, Z4, K1")
			p("KMOVW K1, R8")
			continue
		}
		p("VCMPPD $0x12, Y3, Y4, Y4")
		p("VMOVMSKPD Y4, %s", []string{"R8", "R9"}[half])
	}
	if !s.wide {
		p("SHLQ $4, R9")
		p("ORQ R9, R8")
	}
	p("MOVB R8, (BX)")
	p("ADDQ $64, SI")
	p("ADDQ $64, DI")
	p("INCQ BX")
	p("DECQ CX")
	p("JNE near")
	p("VZEROUPPER")
	p("RET\n")
}
