package main

import "fmt"

func writeNeonProducts() {
	begin()
	neonFrameTile()
	neonAddTile()
}

// Registers for numbers of neonFrameTile and neonAddTile: 24 sums, four for a row, and four more.
const (
	neonEntry = 4 * tileAxes
	neonTemp  = neonEntry + 4
)

// neonFrameTile writes frameTile for one row of x. Registers: R0 x, R1 c, R2 entries left
// in the row, R3 number of axes, R4 squares, R5 to R10 axes, R11 prefetch distance.
func neonFrameTile() {
	kernel("frameTileWide", "y *float64, yStride int, squares, x *float64, xStride int, c, axes *float64, axesStride, length, count, ahead int)", 88)
	for _, a := range []struct {
		name     string
		at       int
		register string
	}{
		{"squares", 16, "R4"}, {"x", 24, "R0"}, {"c", 40, "R1"}, {"axes", 48, "R5"}, {"axesStride", 56, "R12"},
		{"length", 64, "R2"}, {"count", 72, "R3"}, {"ahead", 80, "R11"},
	} {
		argument(a.name, a.at, a.register)
	}
	p("ADD R0, R11, R11")
	for k := 1; k < tileAxes; k++ {
		p("ADD R12, R%d, R%d", 4+k, 5+k)
	}
	zeros(0, neonEntry)
	p("SUBS $8, R2, R2")
	p("BLT frametail")
	label("framefull")
	p("PRFM (R11), PLDL1KEEP")
	neonFrameColumns("full", 0, 4)
	p("ADD $64, R11, R11")
	p("SUBS $8, R2, R2")
	p("BGE framefull")
	label("frametail")
	p("ADDS $8, R2, R2")
	p("BEQ framesums")
	p("PRFM (R11), PLDL1KEEP")
	for q := range 3 {
		p("SUBS $2, R2, R2")
		p("BLT frameodd%d", q)
		neonFrameColumns(fmt.Sprintf("pair%d", q), q, 1)
	}
	p("SUBS $2, R2, R2")
	for q := 3; q >= 0; q-- { // of -1 a number is left, of -2 none
		label(fmt.Sprintf("frameodd%d", q))
		p("ADDS $1, R2, R2")
		p("BNE framesums")
		neonFrameColumns(fmt.Sprintf("one%d", q), q, 0)
		p("B framesums")
	}
	neonFrameSums()
}

// neonFrameColumns adds columns to the sums of all axes: count registers of columns, or one number if count is 0.
func neonFrameColumns(name string, from, count int) {
	vectors := max(count, 1)
	take("R0", neonEntry, count)
	p("CBZ R1, frame%sdeviations", name)
	take("R1", neonTemp, count)
	for q := range vectors {
		both("fsub", neonEntry+q, neonEntry+q, neonTemp+q)
	}
	label("frame" + name + "deviations")
	p("CBZ R4, frame%saxes", name)
	neonFrameAdd(tileAxes-1, from, vectors, neonEntry)
	label("frame" + name + "axes")
	for k := range tileAxes {
		p("CMP $%d, R3", k)
		p("BLE frame%sdone", name)
		take(fmt.Sprintf("R%d", 5+k), neonTemp, count)
		neonFrameAdd(k, from, vectors, neonTemp)
	}
	label("frame" + name + "done")
}

// neonFrameAdd adds the products of a row with consecutive registers to sum k.
func neonFrameAdd(k, from, vectors, with int) {
	for q := range vectors {
		both("fmul", neonTemp+q, neonEntry+q, with+q)
	}
	for q := range vectors {
		sum := 4*k + from + q
		both("fadd", sum, sum, neonTemp+q)
	}
}

// neonFrameSums adds up lanes: ((0+4) + (1+5)) + ((2+6) + (3+7)).
func neonFrameSums() {
	label("framesums")
	argument("y", 0, "R0")
	argument("yStride", 8, "R1")
	for k := range tileAxes {
		p("CMP $%d, R3", k)
		p("BLE framesquares")
		neonFold(4 * k)
		p("FMOVD F%d, (R0)", 4*k)
		p("ADD R1, R0, R0")
	}
	label("framesquares")
	p("CBZ R4, frameend")
	neonFold(4 * (tileAxes - 1))
	p("FMOVD F%d, (R4)", 4*(tileAxes-1))
	label("frameend")
	p("RET\n")
}

// neonFold adds up the lanes of four registers into the first one.
func neonFold(sum int) {
	both("fadd", sum, sum, sum+2)
	both("fadd", sum+1, sum+1, sum+3)
	both("faddp", sum, sum, sum+1)
	toOne("faddp", sum, sum)
}

// neonAddTile writes addTile for up to eight columns. Registers: R0 sums, R1 their stride, R2 weights,
// R3 and R4 the strides of their rows and columns, R5 x, R6 its stride, R7 c, R8 rows left, R9 number
// of sums, R11 to R14 offsets of the third to sixth weight of a row.
func neonAddTile() {
	kernel("addTileWide", "dst *float64, dstStride int, w *float64, wRow, wColumn int, x *float64, xStride int, c *float64, n, count, columns int)", 88)
	for i, a := range []string{"dst", "dstStride", "w", "wRow", "wColumn", "x", "xStride", "c", "n", "count", "columns"} {
		argument(a, 8*i, fmt.Sprintf("R%d", i))
	}
	p("ADD R4, R4, R11")
	for k := 3; k < tileAxes; k++ {
		p("ADD R4, R%d, R%d", 8+k, 9+k)
	}
	const most = 8
	for columns := 1; columns < most; columns++ {
		p("CMP $%d, R10", columns)
		p("BEQ add%d", columns)
	}
	for columns := most; columns > 0; columns-- {
		label(fmt.Sprintf("add%d", columns))
		neonAdder{columns}.tile()
	}
	fmt.Fprintln(output)
}

// neonAdder is the code of an addTile for a number of columns.
type neonAdder struct{ columns int }

// weightAtR are the addresses of the weights in a row.
var weightAtR = []string{"(R2)", "(R2)(R4)", "(R2)(R11)", "(R2)(R12)", "(R2)(R13)", "(R2)(R14)"}

// vectors is the number of registers for a row. If the number of columns is odd, the last holds one number.
func (a neonAdder) vectors() int { return (a.columns + 1) / 2 }

func (a neonAdder) tile() {
	p("MOVD R0, R15")
	a.each("load", func(k int) {
		a.read("R15", 4*k)
		p("ADD R1, R15, R15")
	})
	label(fmt.Sprintf("add%drow", a.columns))
	a.read("R5", neonEntry)
	p("CBZ R7, add%dweights", a.columns)
	a.read("R7", neonTemp)
	for v := range a.vectors() {
		both("fsub", neonEntry+v, neonEntry+v, neonTemp+v)
	}
	label(fmt.Sprintf("add%dweights", a.columns))
	a.each("sum", a.weigh)
	p("ADD R6, R5, R5")
	p("ADD R3, R2, R2")
	p("SUBS $1, R8, R8")
	p("BNE add%drow", a.columns)
	a.each("store", func(k int) {
		a.write("R0", 4*k)
		p("ADD R1, R0, R0")
	})
	p("RET")
}

// read and write move the columns between memory and registers.
func (a neonAdder) read(at string, to int) {
	if pairs := a.columns / 2; pairs > 0 {
		p("VLD1 (%s), %s", at, list(to, pairs))
	}
	if a.columns%2 > 0 {
		p("FMOVD %d(%s), F%d", 8*(a.columns-1), at, to+a.columns/2)
	}
}

func (a neonAdder) write(at string, from int) {
	if pairs := a.columns / 2; pairs > 0 {
		p("VST1 %s, (%s)", list(from, pairs), at)
	}
	if a.columns%2 > 0 {
		p("FMOVD F%d, %d(%s)", from+a.columns/2, 8*(a.columns-1), at)
	}
}

// weigh adds a row, times a weight, to sum k. The last product overwrites the register of the weight.
func (a neonAdder) weigh(k int) {
	p("FMOVD %s, F%d", weightAtR[k], neonTemp)
	product := func(v int) int { return neonTemp + (v+1)%4 }
	for v := range a.vectors() {
		byLane("fmul", product(v), neonEntry+v, neonTemp, 0)
	}
	for v := range a.vectors() {
		both("fadd", 4*k+v, 4*k+v, product(v))
	}
}

// each writes code that calls do for each of the requested sums.
func (a neonAdder) each(name string, do func(k int)) {
	for k := range tileAxes {
		if k > 0 {
			p("CMP $%d, R9", k)
			p("BLE add%d%sdone", a.columns, name)
		}
		do(k)
	}
	label(fmt.Sprintf("add%d%sdone", a.columns, name))
}
