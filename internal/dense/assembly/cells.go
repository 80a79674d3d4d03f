package main

import "fmt"

// The numbers that kernels of cells read, by their place in the table: see absolute_cells.go in
// package nearest.
const (
	cellZero = iota
	cellOne
	cellMinus
	cellFloor
	cellCut
)

func writeCells() {
	begin()
	for _, s := range sets {
		for d := 1; d <= 3; d++ {
			beginCells(s, d)
			extendCells(s, d)
		}
	}
}

// cell is the code for as many cells as there are lanes, whose group is at DI; the table is at AX and a
// cut at BX.
type cell struct {
	*straight
	d int
}

func (e cell) number(i int) value       { return e.broadcast(fmt.Sprintf("%d(AX)", 8*i)) }
func (e cell) term(i int) value         { return e.broadcast(fmt.Sprintf("%d(BX)", 8*i)) }
func (e cell) slopeOf(j int) value      { return e.term(1 + j) }
func (e cell) ray(i, j int) value       { return e.load(fmt.Sprintf("%d(DI)", 64*(i*e.d+j))) }
func (e cell) reachedAt() string        { return fmt.Sprintf("%d(DI)", 64*e.d*e.d) }
func (e cell) end() value               { return e.load(fmt.Sprintf("%d(DI)", 64*(e.d*e.d+1))) }
func (e cell) lesser(a, b value) value  { return e.add("VMINPD", "", a, b) }
func (e cell) greater(a, b value) value { return e.add("VMAXPD", "", a, b) }

// cutTerms is the number of terms of a cut, after which comes its largest bend.
func cutTerms(d int) int { return 1 + d + d*(d+1)/2 }

// upper is the place of entry i, j in the upper half of a symmetric matrix, row by row.
func upper(i, j, d int) int {
	if i > j {
		i, j = j, i
	}
	return i*d - i*(i+1)/2 + j
}

// slope is g'ray_i.
func (e cell) slope(g func(int) value, i int) value {
	v := e.times(g(0), e.ray(i, 0))
	for j := 1; j < e.d; j++ {
		v = e.sum(v, e.times(g(j), e.ray(i, j)))
	}
	return v
}

// bends are ray_i'B ray_j for j <= i.
func (e cell) bends(b func(int) value) (bends [][]value) {
	for i := range e.d {
		var image, row []value
		for a := range e.d {
			v := e.times(b(upper(0, a, e.d)), e.ray(i, 0))
			for k := 1; k < e.d; k++ {
				v = e.sum(v, e.times(b(upper(k, a, e.d)), e.ray(i, k)))
			}
			image = append(image, v)
		}
		for j := range i + 1 {
			v := e.times(image[0], e.ray(j, 0))
			for a := 1; a < e.d; a++ {
				v = e.sum(v, e.times(image[a], e.ray(j, a)))
			}
			row = append(row, v)
		}
		bends = append(bends, row)
	}
	return bends
}

// least are the least slope and bend.
func (e cell) least(slopes []value, bends [][]value) (slope, bend value) {
	slope, bend = slopes[0], bends[0][0]
	for i := 1; i < e.d; i++ {
		slope = e.lesser(slope, slopes[i])
		for j := range i + 1 {
			bend = e.lesser(bend, bends[i][j])
		}
	}
	return slope, bend
}

// covers is the mask of the lanes where a cut is not below 0 at reached, which are not at the end.
func (e cell) covers(at, low, slope, bend value) value {
	high := e.upTo(e.number(cellZero), e.sum(low, e.times(at, e.sum(slope, e.times(at, bend)))))
	return e.and(high, e.above(e.end(), at))
}

// extended is how far a cut reaches from at on.
func (e cell) extended(covers, at, low, slope, bend value) value {
	zero := e.number(cellZero)
	double := e.sum(bend, bend)
	square := e.less(e.times(slope, slope), e.times(e.sum(double, double), low))
	root := e.root(square)
	falls := e.above(zero, bend)
	next := e.over(e.choose(falls, e.sum(slope, root), e.sum(low, low)), e.choose(falls, e.less(zero, double), e.less(root, slope)))
	rises := e.or(e.upTo(zero, e.sum(slope, e.times(at, double))), e.beyond(zero, square))
	next = e.choose(falls, next, e.choose(rises, e.end(), next))
	return e.choose(e.and(covers, e.above(next, at)), next, at)
}

// extendCells writes the kernel that extends cells by cuts. What takes long, and is needed in few cells, is left
// out where it is in none.
func extendCells(s set, d int) {
	e := cell{&straight{set: s}, d}
	slope, bend, mask := e.slot(), e.slot(), e.slot()
	slots := e.slots
	part := func(write func(e cell, at value)) string {
		e := cell{&straight{set: s, slots: slots}, d}
		write(e, e.load(e.reachedAt()))
		text := e.text()
		slots = e.slots
		return text
	}
	slopes := part(func(e cell, at value) {
		least := e.slope(e.slopeOf, 0)
		for i := 1; i < d; i++ {
			least = e.lesser(least, e.slope(e.slopeOf, i))
		}
		e.store(least, slope)
		e.store(e.covers(at, e.term(0), least, e.term(cutTerms(d))), mask)
	})
	bends := part(func(e cell, at value) {
		bends := e.bends(func(a int) value { return e.term(1 + d + a) })
		least := bends[0][0]
		for i := 1; i < d; i++ {
			for j := range i + 1 {
				least = e.lesser(least, bends[i][j])
			}
		}
		e.store(least, bend)
		e.store(e.covers(at, e.term(0), e.load(slope), least), mask)
	})
	end := part(func(e cell, at value) {
		e.store(e.extended(e.load(mask), at, e.term(0), e.load(slope), e.load(bend)), e.reachedAt())
	})
	name := fmt.Sprintf("cellsExtend%d", d)
	fmt.Fprintf(output, "// func %s%s(table, group, cuts *float64, n int)\n", name, s.name)
	fmt.Fprintf(output, "TEXT ·%s%s(SB), 0, $%d-32\n", name, s.name, 8*s.lanes()*slots)
	arguments([]string{"table", "group", "cuts", "n"}, "AX", "DI", "BX", "R11")
	label("cut")
	fmt.Fprint(output, slopes)
	s.unless(mask, "next")
	fmt.Fprint(output, bends)
	s.unless(mask, "next")
	fmt.Fprint(output, end)
	label("next")
	p("ADDQ $%d, BX", 8*(cutTerms(d)+1))
	p("DECQ R11")
	p("JNE cut")
	p("VZEROUPPER")
	p("RET\n")
}

// unless goes to a label where no lane of a mask is set.
func (s set) unless(mask, to string) {
	p("VMOVUPD %s, %s", mask, s.reg(0))
	if s.wide {
		p("VPTESTMQ Z0, Z0, K1")
		p("KMOVW K1, CX")
	} else {
		p("VMOVMSKPD Y0, CX")
	}
	p("TESTL CX, CX")
	p("JEQ %s", to)
}

// beginCells writes the kernel that finds how far cells are covered by what is known of the best place.
func beginCells(s set, d int) {
	e := cell{&straight{set: s}, d}
	from := func(at int) func(int) value { return func(i int) value { return e.number(at + i) } }
	var slopes []value
	for i := range d {
		slopes = append(slopes, e.slope(from(cellCut+1), i))
	}
	bends := e.bends(from(cellCut + 1 + d))
	table := cellCut + cutTerms(d)
	for range d {
		var u []value
		for i := range d {
			u = append(u, e.slope(from(table+3), i))
		}
		low, high := u[0], u[0]
		for _, v := range u[1:] {
			low, high = e.lesser(low, v), e.greater(high, v)
		}
		zero := e.number(cellZero)
		by := e.choose(e.upTo(zero, low), e.number(table+1), e.choose(e.upTo(high, zero), e.number(table+2), zero))
		for i, row := range e.bends(from(table + 3 + d)) {
			slopes[i] = e.sum(slopes[i], e.times(by, u[i]))
			for j, v := range row {
				bends[i][j] = e.sum(bends[i][j], e.times(by, v))
			}
		}
		table += cutTerms(d) + 2
	}
	at := e.greater(e.load(e.reachedAt()), e.over(e.number(cellOne), e.surroundings(from(table))))
	slope, bend := e.least(slopes, bends)
	low := e.number(cellCut)
	e.store(e.extended(e.covers(at, low, slope, bend), at, low, slope, bend), e.reachedAt())
	text := e.text()
	name := fmt.Sprintf("cellsBegin%d", d)
	fmt.Fprintf(output, "// func %s%s(table, group *float64)\n", name, s.name)
	fmt.Fprintf(output, "TEXT ·%s%s(SB), 0, $%d-16\n", name, s.name, 8*s.lanes()*e.slots)
	arguments([]string{"table", "group"}, "AX", "DI")
	fmt.Fprint(output, text)
	p("VZEROUPPER")
	p("RET\n")
}

// surroundings is the inverse of how far cells are within the surroundings of the vertex.
func (e cell) surroundings(vertex func(int) value) value {
	var far []value // at least |u| for s = 1
	for a := range e.d {
		var most value
		for i := range e.d {
			u := e.slope(func(j int) value { return vertex(a*e.d + j) }, i)
			if u = e.greater(u, e.less(e.number(cellZero), u)); i == 0 {
				most = u
			} else {
				most = e.greater(most, u)
			}
		}
		far = append(far, most)
	}
	floor := e.number(cellFloor)
	for a := range e.d {
		sum := e.times(vertex(e.d*e.d+a*e.d), far[0])
		for k := 1; k < e.d; k++ {
			sum = e.sum(sum, e.times(vertex(e.d*e.d+a*e.d+k), far[k]))
		}
		floor = e.greater(floor, sum)
	}
	return floor
}
