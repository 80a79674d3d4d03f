package main

import "fmt"

// writeVicinity writes the kernel of vicinity.go in package lookup. It computes squared distances of rows from a point
// and, for each eight rows, a byte with the bits of those within a limit. The table holds the point and the limit.
func writeVicinity() {
	begin()
	fmt.Fprintln(output, "// func nearRows(table, x *float64, xStride int, squares *float64, within *byte, groups int)")
	fmt.Fprintln(output, "TEXT ·nearRows(SB), 0, $0-48")
	arguments([]string{"table", "x", "xStride", "squares", "within", "groups"}, "AX", "SI", "DX", "DI", "BX", "CX")
	p("SHLQ $3, DX")
	for i := range 4 {
		p("VBROADCASTSD %d(AX), Y%d", 8*i, i)
	}
	label("near")
	for half := range halves {
		for j := range 3 {
			p("VSUBPD %d(SI)%s, Y%d, Y%d", 32*half, []string{"", "(DX*1)", "(DX*2)"}[j], j, 4+j)
			p("VMULPD Y%[1]d, Y%[1]d, Y%[1]d", 4+j)
		}
		p("VADDPD Y5, Y4, Y4")
		p("VADDPD Y6, Y4, Y4")
		p("VMOVUPD Y4, %d(DI)", 32*half)
		p("VCMPPD $0x12, Y3, Y4, Y4")
		p("VMOVMSKPD Y4, %s", []string{"R8", "R9"}[half])
	}
	p("SHLQ $4, R9")
	p("ORQ R9, R8")
	p("MOVB R8, (BX)")
	p("ADDQ $64, SI")
	p("ADDQ $64, DI")
	p("INCQ BX")
	again("CX", "near")
	leave()
}
