package main

import (
	"fmt"
	"strings"
)

// Kernels for arm64 are written with AdvSIMD, which every processor of that kind has: 32 registers of two
// numbers. Eight lanes of sums are four registers, so that bits are those of the other sets.

// words are the encodings, with all operands 0, of instructions on two numbers that Go's
// assembler cannot name; see chapter C7.2 of Arm's architecture manual.
var words = map[string]uint32{
	"fadd":  0x4e60d400,
	"fsub":  0x4ee0d400,
	"fmul":  0x6e60dc00,
	"faddp": 0x6e60d400,

	"fmul by lane": 0x4fc09000,
	"faddp to one": 0x7e70d800,
}

// word writes an instruction as a number, with its name in the manual as a comment.
func word(op string, bits int, as string, registers ...any) {
	p("WORD $%#08x // %s", words[op]|uint32(bits), fmt.Sprintf(as, registers...))
}

// both writes d = n op m for both lanes.
func both(op string, d, n, m int) {
	word(op, m<<16|n<<5|d, op+" v%d.2d, v%d.2d, v%d.2d", d, n, m)
}

// byLane writes an operation of both lanes of n with one lane of m.
func byLane(op string, d, n, m, lane int) {
	word(op+" by lane", lane<<11|m<<16|n<<5|d, op+" v%d.2d, v%d.2d, v%d.d[%d]", d, n, m, lane)
}

// toOne writes an operation that combines both lanes of n in the first lane of d.
func toOne(op string, d, n int) { word(op+" to one", n<<5|d, op+" d%d, v%d.2d", d, n) }

// addRounded adds the product of n and m, rounded first, to a sum.
func addRounded(sum, n, m, temp int) {
	both("fmul", temp, n, m)
	both("fadd", sum, sum, temp)
}

// zeros sets consecutive registers to 0.
func zeros(from, count int) {
	for i := from; i < from+count; i++ {
		p("VEOR V%[1]d.B16, V%[1]d.B16, V%[1]d.B16", i)
	}
}

// list formats a list of consecutive registers.
func list(from, count int) string {
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("V%d.D2", from+i))
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// take reads count registers and advances the address. For count 0 it reads one number, and 0 for the other lane.
func take(at string, to, count int) {
	switch count {
	case 0:
		p("FMOVD.P 8(%s), F%d", at, to)
	case 1:
		p("FMOVQ.P 16(%s), F%d", at, to)
	default:
		p("VLD1.P %d(%s), %s", 16*count, at, list(to, count))
	}
}

// put writes registers to memory, with the same arguments as take.
func put(at string, from, count int) {
	switch count {
	case 0:
		p("FMOVD.P F%d, 8(%s)", from, at)
	case 1:
		p("FMOVQ.P F%d, 16(%s)", from, at)
	default:
		p("VST1.P %s, %d(%s)", list(from, count), 16*count, at)
	}
}

// kernel begins a kernel without a stack frame, with size bytes of arguments.
func kernel(name, arguments string, size int) {
	fmt.Fprintf(output, "// func %s(%s\n", name, arguments)
	fmt.Fprintf(output, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", name, size)
}

// argument reads an argument into a register.
func argument(name string, offset int, register string) {
	p("MOVD %s+%d(FP), %s", name, offset, register)
}

// rounds writes a loop over R2 numbers: four registers at a time, then one register, then
// one number. body gets the count of registers, 0 for one number, as in take.
func rounds(name string, body func(count int)) {
	p("SUBS $8, R2, R2")
	p("BLT %spairs", name)
	label(name + "eight")
	body(4)
	p("SUBS $8, R2, R2")
	p("BGE %seight", name)
	label(name + "pairs")
	p("ADDS $6, R2, R2")
	p("BLT %slast", name)
	label(name + "pair")
	body(1)
	p("SUBS $2, R2, R2")
	p("BGE %spair", name)
	label(name + "last")
	p("ADDS $2, R2, R2")
	p("BEQ %sdone", name)
	body(0)
	label(name + "done")
}
