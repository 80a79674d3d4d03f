package main

import (
	"fmt"
	"regexp"
	"strconv"
)

// Straight code, and the little that is around it, is written with the names of registers and places in memory of
// amd64, of which these are what they are on arm64. R16 and R17 hold nothing for long.

// neonSet is the instruction set of arm64, for kernels of which the text is that of the others. It takes groups of two
// numbers, twice as many as it is told, so that its callers are those of AVX2.
var neonSet = set{name: "NEON", rank: "Wide", neon: true, halves: 4}

var general = map[string]string{"AX": "R0", "BX": "R1", "CX": "R2", "DX": "R3", "SI": "R4", "DI": "R5", "SP": "RSP"}

// register is a register of general use.
func (s set) register(name string) string {
	if other, ok := general[name]; ok && s.neon {
		return other
	}
	return name
}

var place = regexp.MustCompile(`^(-?\d*)\((\w+)\)(?:\((\w+)\*(\d)\))?$`)

// neonPlace is a place in memory. Before a stack are two words, the first of which is the link register's.
func (s set) neonPlace(at string) (offset int, base string) {
	part := place.FindStringSubmatch(at)
	offset, _ = strconv.Atoi("0" + part[1])
	base = s.register(part[2])
	if part[2] == "SP" {
		offset += 16
	}
	if part[3] == "" {
		return offset, base
	}
	shift := map[string]int{"1": 0, "2": 1, "4": 2, "8": 3}[part[4]]
	p("ADD %s<<%d, %s, R16", s.register(part[3]), shift, base)
	return offset, "R16"
}

// neonRead reads a vector, or one number into both lanes.
func (s set) neonRead(at string, to int, broadcast bool) {
	offset, base := s.neonPlace(at)
	if !broadcast {
		p("FMOVQ %d(%s), F%d", offset, base, to)
		return
	}
	if offset > 0 {
		p("ADD $%d, %s, R16", offset, base)
		base = "R16"
	}
	p("VLD1R (%s), [V%d.D2]", base, to)
}

func (s set) neonWrite(from int, at string) {
	offset, base := s.neonPlace(at)
	p("FMOVQ F%d, %d(%s)", from, offset, base)
}

// neonOperate writes an operation of straight code.
func (w *writer) neonOperate(op string, from []int, to int) {
	logic := func(op string, a, b int) { p("%s V%d.B16, V%d.B16, V%d.B16", op, b, a, to) }
	switch op {
	case "VADDPD", "VSUBPD", "VMULPD", "VDIVPD":
		name := map[string]string{"VADDPD": "fadd", "VSUBPD": "fsub", "VMULPD": "fmul", "VDIVPD": "fdiv"}[op]
		both(name, to, from[0], from[1])
	case "VSQRTPD":
		ofOne("fsqrt", to, from[0])
	case "and":
		logic("VAND", from[0], from[1])
	case "or":
		logic("VORR", from[0], from[1])
	case "compare 0x1E":
		both("fcmgt", to, from[0], from[1])
	case "compare 0x12":
		both("fcmge", to, from[1], from[0])
	case "compare 0x16":
		both("fcmge", to, from[1], from[0])
		ofOne("mvn", to, to)
	case "choose":
		p("VMOV V%d.B16, V%d.B16", from[0], to)
		logic("VBSL", from[1], from[2])
	case "VUNPCKLPD", "VUNPCKHPD":
		zip(op == "VUNPCKHPD", to, from[0], from[1])
	default:
		panic("assembly: no " + op + " of two lanes")
	}
}

// open begins a kernel with so many words of vectors on the stack.
func (s set) open(name, signature string, slots, size int) {
	frame := 8 * s.lanes() * slots
	if s.neon && frame > 0 {
		frame += 8
	}
	fmt.Fprintf(output, "// func %s(%s\n", name, signature)
	fmt.Fprintf(output, "TEXT ·%s(SB), 0, $%d-%d\n", name, frame, size)
}

// argument reads one into a register.
func (s set) argument(name string, offset int, register string) {
	if s.neon {
		argument(name, offset, s.register(register))
		return
	}
	p("MOVQ %s+%d(FP), %s", name, offset, register)
}

// groups reads arguments, those that have registers, and doubles the number of groups, which is the last one.
func (s set) groups(names []string, registers ...string) {
	for i, r := range registers {
		if r != "" {
			s.argument(names[i], 8*i, r)
		}
	}
	if s.neon {
		last := s.register(registers[len(registers)-1])
		p("LSL $1, %s, %s", last, last)
	}
}

// advance moves registers on by so many vectors.
func (s set) advance(vectors int, registers ...string) {
	for _, r := range registers {
		if bytes, r := 8*s.lanes()*vectors, s.register(r); s.neon {
			p("ADD $%d, %s, %s", bytes, r, r)
		} else {
			p("ADDQ $%d, %s", bytes, r)
		}
	}
}

// again counts a register down, and goes back where it is not 0.
func (s set) again(register, to string) {
	if r := s.register(register); s.neon {
		p("SUBS $1, %s, %s", r, r)
		p("BNE %s", to)
		return
	}
	p("DECQ %s", register)
	p("JNE %s", to)
}

// scaled writes a register and times, 2 or 4, it into another.
func (s set) scaled(from string, times int, to string) {
	if from := s.register(from); s.neon {
		p("ADD %[1]s<<%[2]d, %[1]s, %[3]s", from, times/2, to)
		return
	}
	p("LEAQ (%[1]s)(%[1]s*%[2]d), %[3]s", from, times, to)
}

// bytes makes a number of words one of bytes.
func (s set) bytes(register string) {
	if r := s.register(register); s.neon {
		p("LSL $3, %s, %s", r, r)
		return
	}
	p("SHLQ $3, %s", register)
}

// ifTrue jumps where an argument is true. It takes BX.
func (s set) ifTrue(argument, to string) {
	if s.neon {
		p("MOVBU %s, R16", argument)
		p("CBNZ R16, %s", to)
		return
	}
	p("MOVBLZX %s, BX", argument)
	p("TESTL BX, BX")
	p("JNE %s", to)
}

func (s set) jump(to string) {
	if s.neon {
		p("B %s", to)
		return
	}
	p("JMP %s", to)
}

func (s set) leave() {
	if !s.neon {
		p("VZEROUPPER")
	}
	p("RET\n")
}

// lanesOf writes into R16 whether a mask in memory is set in any lane, or in all.
func (s set) lanesOf(held, op string) {
	s.neonRead(held, 0, false)
	p("VMOV V0.D[0], R16")
	p("VMOV V0.D[1], R17")
	p("%s R17, R16, R16", op)
}

// unlessAny jumps where a mask in memory is set in no lane. It takes BX.
func (s set) unlessAny(held, to string) {
	if s.neon {
		s.lanesOf(held, "ORR")
		p("CBZ R16, %s", to)
		return
	}
	s.signs(held)
	p("TESTL BX, BX")
	p("JEQ %s", to)
}

// signs writes into BX which lanes of a mask are set.
func (s set) signs(held string) {
	p("VMOVUPD %s, %s", held, s.reg(0))
	if s.wide {
		p("VPTESTMQ Z0, Z0, K1")
		p("KMOVW K1, BX")
		return
	}
	p("VMOVMSKPD Y0, BX")
}

// setAll sets a mask in memory in all lanes.
func (s set) setAll(held string) {
	switch {
	case s.neon:
		p("VMOVI $255, V0.B16")
		s.neonWrite(0, held)
		return
	case s.wide:
		p("VPTERNLOGQ $0xFF, Z0, Z0, Z0")
	default:
		p("VPCMPEQQ Y0, Y0, Y0")
	}
	p("VMOVUPD %s, %s", s.reg(0), held)
}

// returnAll returns whether a mask in memory is set in all lanes.
func (s set) returnAll(held, result string) {
	if s.neon {
		s.lanesOf(held, "AND")
		p("AND $1, R16, R16")
		p("MOVB R16, %s", result)
		return
	}
	s.signs(held)
	p("CMPL BX, $%d", 1<<s.lanes()-1)
	p("SETEQ %s", result)
}
