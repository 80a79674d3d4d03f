package main

import "fmt"

// The numbers that kernels of smoothed losses read, by their place in the table: see smoothTable
// in package losses.
const (
	smoothOne = iota
	smoothSquare
	smoothMost
	smoothLength
	smoothPower
	smoothBend
	smoothInverse
	smoothBelow
	smoothOffset
	smoothSeries
	smoothTerms = 7
)

func writeSmooth() {
	begin()
	hypotenuses()
	for _, k := range []struct {
		name  string
		write func(entry) value
	}{
		{"powerValuesFour", entry.powerValue}, {"powerSlopesFour", entry.powerSlope}, {"powerCurvaturesFour", entry.powerCurvature},
		{"absoluteValuesFour", entry.absoluteValue}, {"absoluteSlopesFour", entry.absoluteSlope}, {"absoluteCurvaturesFour", entry.absoluteCurvature},
	} {
		entries(k.name, k.write)
	}
}

// entry is the code for as many entries as there are lanes: their residuals at SI, s = sqrt(r^2 +
// eps^2) at DX, and s^(p-1) at R8.
type entry struct{ *straight }

func (e entry) number(i int) value { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }
func (e entry) r() value           { return e.load("(SI)") }
func (e entry) s() value           { return e.load("(DX)") }
func (e entry) w() value           { return e.load("(R8)") }

// powerValue returns s^p - eps^p, by its series if it is near 0.
func (e entry) powerValue() value {
	x := e.times(e.r(), e.number(smoothInverse))
	z := e.times(x, x)
	sum := e.times(e.number(smoothSeries+smoothTerms-1), z)
	for j := smoothTerms - 2; j >= 0; j-- {
		sum = e.times(e.sum(sum, e.number(smoothSeries+j)), z)
	}
	whole := e.less(e.times(e.s(), e.w()), e.number(smoothOffset))
	return e.choose(e.above(e.number(smoothBelow), z), sum, whole)
}

// weight returns p s^(p-2).
func (e entry) weight() value { return e.over(e.times(e.number(smoothPower), e.w()), e.s()) }

func (e entry) powerSlope() value { return e.times(e.weight(), e.r()) }

func (e entry) powerCurvature() value {
	ratio := e.over(e.r(), e.s())
	bend := e.times(e.times(e.number(smoothBend), ratio), ratio)
	return e.times(e.weight(), e.less(e.number(smoothOne), bend))
}

// absoluteValue returns s - eps.
func (e entry) absoluteValue() value {
	r := e.r()
	return e.times(e.over(r, e.sum(e.s(), e.number(smoothLength))), r)
}

func (e entry) absoluteSlope() value { return e.over(e.r(), e.s()) }

func (e entry) absoluteCurvature() value {
	s := e.s()
	ratio := e.over(e.number(smoothLength), s)
	return e.over(e.times(ratio, ratio), s)
}

// smoothArguments are the arguments of all kernels in this file.
const smoothArguments = "dst, r, s, w, table *float64, groups int"

// entries writes a kernel that computes formula for each entry.
func entries(name string, formula func(entry) value) {
	code := &straight{}
	code.store(formula(entry{code}), "(DI)")
	text := code.text()
	code.open(name, smoothArguments+")", 48)
	arguments([]string{"dst", "r", "s", "w", "table", "groups"}, "DI", "SI", "DX", "R8", "AX", "R11")
	label(name + "group")
	fmt.Fprint(output, text)
	advance(1, "DI", "SI", "DX", "R8")
	again("R11", name+"group")
	leave()
}

// hypotenuses writes the kernel of s, which also reports whether all squares were in range.
func hypotenuses() {
	e := entry{&straight{}}
	held := e.slot()
	square := e.sum(e.times(e.r(), e.r()), e.number(smoothSquare))
	e.store(e.root(square), "(DI)")
	e.store(e.and(e.load(held), e.upTo(square, e.number(smoothMost))), held)
	text := e.text()
	e.open("hypotenuses", "dst, r, table *float64, groups int) bool", 33)
	arguments([]string{"dst", "r", "table", "groups"}, "DI", "SI", "AX", "R11")
	p("VPCMPEQQ Y0, Y0, Y0")
	p("VMOVUPD Y0, %s", held)
	label("hypotenusesgroup")
	fmt.Fprint(output, text)
	advance(1, "DI", "SI")
	again("R11", "hypotenusesgroup")
	p("VMOVUPD %s, Y0", held)
	p("VMOVMSKPD Y0, BX")
	p("CMPL BX, $15")
	p("SETEQ ret+32(FP)")
	leave()
}
