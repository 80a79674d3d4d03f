package main

import (
	"bytes"
	"fmt"
)

// straight is branch-free code on AVX2 vectors, numbered in order of computation.
// Registers are allocated as the code is written. If none is free, the vector whose next
// use is farthest is spilled to memory.
type straight struct {
	code  []step
	homes map[value]string // address of each vector that is in memory
	slots int              // number of stack slots used
	kept  int              // number of last registers that are not allocated; at least two
}

type value int

// lanes is the number of numbers of a vector, registers the number of registers.
const lanes, registers = 4, 16

// step is one instruction: op on arguments, a load or a store.
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

// accumulate adds v to a register that is not allocated; i counts from the last register.
func (s *straight) accumulate(i int, v value) {
	s.add("accumulate", ymm(registers-1-i), v)
}

// choose returns a where the mask is set, else b.
func (s *straight) choose(mask, a, b value) value { return s.add("choose", "", mask, a, b) }

// slot returns the address of a new stack slot for a vector.
func (s *straight) slot() string {
	at := fmt.Sprintf("%d(SP)", 8*lanes*s.slots)
	s.slots++
	return at
}

// writer allocates registers.
type writer struct {
	*straight
	uses   [][]int // of each vector: the steps that use it
	in     []value // vector in each register; -1 for none
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

// text returns the code that write would output.
func (s *straight) text() string {
	var body bytes.Buffer
	to := output
	output = &body
	s.write()
	output = to
	return body.String()
}

// needed reports for each step whether a stored result depends on it.
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

// bring returns the register of a vector. If the vector is in memory, it first loads it.
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

// next returns the next step that uses a vector, -1 if there is none.
func (w *writer) next(v value) int {
	for _, at := range w.uses[v] {
		if at > w.at {
			return at
		}
	}
	return -1
}

// free returns a free register, after spilling a vector if necessary.
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

// part returns the instructions of write, whose stack slots come after those of s.
func (s *straight) part(write func(*straight)) string {
	part := &straight{slots: s.slots, kept: s.kept}
	write(part)
	body := part.text()
	s.slots = part.slots
	return body
}

// open begins a kernel with size bytes of arguments.
func (s *straight) open(name, signature string, size int) {
	fmt.Fprintf(output, "// func %s(%s\n", name, signature)
	fmt.Fprintf(output, "TEXT ·%s(SB), 0, $%d-%d\n", name, 8*lanes*s.slots, size)
}

// advance increments address registers by a number of vectors.
func advance(vectors int, registers ...string) {
	for _, r := range registers {
		p("ADDQ $%d, %s", 8*lanes*vectors, r)
	}
}

// again decrements a register and jumps to a label if the result is not 0.
func again(register, to string) {
	p("DECQ %s", register)
	p("JNE %s", to)
}

func leave() {
	p("VZEROUPPER")
	p("RET\n")
}

// arguments reads the arguments of a function, 8 bytes each, into registers.
func arguments(names []string, registers ...string) {
	for i, r := range registers {
		if r != "" {
			p("MOVQ %s+%d(FP), %s", names[i], 8*i, r)
		}
	}
}
