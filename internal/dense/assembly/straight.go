package main

import (
	"bytes"
	"fmt"
)

// straight is code without branches on vectors of AVX2, which are numbered in the order in which they are computed.
// Registers are allocated as the code is written. If none is free, the vector whose next use is farthest is spilled
// to memory.
type straight struct {
	code  []step
	homes map[value]string // where a vector is in memory, by its number
	slots int              // vectors taken on the stack
	kept  int              // registers at the end that are left alone; at least two are
}

type value int

// Vectors have so many numbers, in so many registers.
const lanes, registers = 4, 16

// step is one instruction: op on arguments, from memory, or to memory.
type step struct {
	op        string
	arguments []value
	at        string
}

func (s *straight) add(op, at string, arguments ...value) value {
	s.code = append(s.code, step{op, arguments, at})
	return value(len(s.code) - 1)
}

func (s *straight) load(at string) value      { return s.add("load", at) }
func (s *straight) broadcast(at string) value { return s.add("broadcast", at) }
func (s *straight) store(v value, at string)  { s.add("store", at, v) }
func (s *straight) sum(a, b value) value      { return s.add("VADDPD", "", a, b) }
func (s *straight) less(a, b value) value     { return s.add("VSUBPD", "", a, b) }
func (s *straight) times(a, b value) value    { return s.add("VMULPD", "", a, b) }
func (s *straight) over(a, b value) value     { return s.add("VDIVPD", "", a, b) }
func (s *straight) root(a value) value        { return s.add("VSQRTPD", "", a) }
func (s *straight) and(a, b value) value      { return s.add("and", "", a, b) }
func (s *straight) above(a, b value) value    { return s.add("compare 0x1E", "", a, b) } // a > b
func (s *straight) upTo(a, b value) value     { return s.add("compare 0x12", "", a, b) } // a <= b

// accumulate adds to one of the registers that are left alone, counted from the end.
func (s *straight) accumulate(i int, v value) {
	s.add("accumulate", ymm(registers-1-i), v)
}

// choose is a where the mask is set, else b.
func (s *straight) choose(mask, a, b value) value { return s.add("choose", "", mask, a, b) }

// slot is memory for a vector on the stack.
func (s *straight) slot() string {
	at := fmt.Sprintf("%d(SP)", 8*lanes*s.slots)
	s.slots++
	return at
}

// writer allocates registers.
type writer struct {
	*straight
	uses   [][]int // of each vector: where it is used
	in     []value // by register; -1 for none
	where  map[value]int
	at     int
	locked map[int]bool
}

// write writes the code.
func (s *straight) write() {
	w := &writer{straight: s, uses: make([][]int, len(s.code)), where: map[value]int{}}
	for range registers - max(s.kept, 2) {
		w.in = append(w.in, -1)
	}
	s.homes = map[value]string{}
	needed := s.needed()
	for i, c := range s.code {
		if !needed[i] {
			continue
		}
		for _, a := range c.arguments {
			w.uses[a] = append(w.uses[a], i)
		}
		if c.op == "load" || c.op == "broadcast" {
			s.homes[value(i)] = c.at
		}
	}
	for i, c := range s.code {
		if w.at, w.locked = i, map[int]bool{}; needed[i] {
			w.write(c)
		}
	}
}

// text returns what write writes.
func (s *straight) text() string {
	var body bytes.Buffer
	to := output
	output = &body
	s.write()
	output = to
	return body.String()
}

// needed tells what something is stored of.
func (s *straight) needed() []bool {
	needed := make([]bool, len(s.code))
	for i := len(s.code) - 1; i >= 0; i-- {
		needed[i] = needed[i] || s.code[i].op == "store" || s.code[i].op == "accumulate"
		for _, a := range s.code[i].arguments {
			needed[a] = needed[a] || needed[i]
		}
	}
	return needed
}

func (w *writer) write(c step) {
	if c.op == "load" || c.op == "broadcast" {
		return // at its first use
	}
	for _, a := range c.arguments {
		if r, ok := w.where[a]; ok {
			w.locked[r] = true
		}
	}
	var from []string
	for _, a := range c.arguments {
		from = append(from, ymm(w.bring(a)))
	}
	switch c.op {
	case "store":
		p("VMOVUPD %s, %s", from[0], c.at)
		return
	case "accumulate":
		p("VADDPD %s, %s, %s", from[0], c.at, c.at)
		return
	}
	for _, a := range c.arguments { // which are not needed any more
		if w.next(a) < 0 {
			if r, ok := w.where[a]; ok {
				w.in[r], w.locked[r] = -1, false
				delete(w.where, a)
			}
		}
	}
	to := w.free()
	w.in[to], w.where[value(w.at)] = value(w.at), to
	w.operate(c.op, from, to)
}

// operate writes one instruction.
func (w *writer) operate(op string, from []string, to int) {
	dst := ymm(to)
	switch op {
	case "and":
		p("VPAND %s, %s, %s", from[1], from[0], dst)
	case "compare 0x1E", "compare 0x12":
		p("VCMPPD $%s, %s, %s, %s", op[len("compare "):], from[1], from[0], dst)
	case "choose":
		p("VBLENDVPD %s, %s, %s, %s", from[0], from[1], from[2], dst)
	case "VSQRTPD":
		p("%s %s, %s", op, from[0], dst)
	default:
		p("%s %s, %s, %s", op, from[1], from[0], dst)
	}
}

// bring returns the register of a vector, after reading it from memory where it is there.
func (w *writer) bring(v value) int {
	r, ok := w.where[v]
	if !ok {
		r = w.free()
		w.in[r], w.where[v] = v, r
		if w.code[v].op == "broadcast" {
			p("VBROADCASTSD %s, %s", w.homes[v], ymm(r))
		} else {
			p("VMOVUPD %s, %s", w.homes[v], ymm(r))
		}
	}
	w.locked[r] = true
	return r
}

// next is where a vector is used next, -1 for nowhere.
func (w *writer) next(v value) int {
	for _, at := range w.uses[v] {
		if at > w.at {
			return at
		}
	}
	return -1
}

// free returns a register that holds nothing any more.
func (w *writer) free() int {
	farthest, found := -1, -1
	for r, v := range w.in {
		if w.locked[r] {
			continue
		}
		if v < 0 {
			return r
		}
		next := w.next(v)
		if next < 0 {
			next = len(w.code)
		}
		if next > farthest {
			farthest, found = next, r
		}
	}
	v := w.in[found]
	if _, kept := w.homes[v]; !kept && w.next(v) >= 0 {
		w.homes[v] = w.slot()
		p("VMOVUPD %s, %s", ymm(found), w.homes[v])
	}
	delete(w.where, v)
	w.in[found] = -1
	return found
}

// ymm is the name of a register.
func ymm(i int) string { return fmt.Sprintf("Y%d", i) }

// part returns the instructions that write adds, whose places on the stack are after those of s.
func (s *straight) part(write func(*straight)) string {
	part := &straight{slots: s.slots, kept: s.kept}
	write(part)
	body := part.text()
	s.slots = part.slots
	return body
}

// open begins a kernel with so many bytes of arguments.
func (s *straight) open(name, signature string, size int) {
	fmt.Fprintf(output, "// func %s(%s\n", name, signature)
	fmt.Fprintf(output, "TEXT ·%s(SB), 0, $%d-%d\n", name, 8*lanes*s.slots, size)
}

// advance moves registers on by so many vectors.
func advance(vectors int, registers ...string) {
	for _, r := range registers {
		p("ADDQ $%d, %s", 8*lanes*vectors, r)
	}
}

// again counts a register down, and goes back where it is not 0.
func again(register, to string) {
	p("DECQ %s", register)
	p("JNE %s", to)
}

func leave() {
	p("VZEROUPPER")
	p("RET\n")
}

// arguments reads those of a function, 8 bytes each.
func arguments(names []string, registers ...string) {
	for i, r := range registers {
		if r != "" {
			p("MOVQ %s+%d(FP), %s", names[i], 8*i, r)
		}
	}
}
