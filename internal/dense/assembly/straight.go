package main

import (
	"bytes"
	"fmt"
)

// straight is code without branches on vectors, which are numbered in the order in which
// they are computed. Registers are given out as it is written: where there is none left,
// the vector whose next use is farthest goes to memory.
type straight struct {
	set
	code  []step
	homes map[value]string // where a vector is in memory, by its number
	slots int              // words of eight numbers taken on the stack
	kept  int              // registers at the end that are left alone; at least two are
}

type value int

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
func (s *straight) or(a, b value) value       { return s.add("or", "", a, b) }
func (s *straight) above(a, b value) value    { return s.add("compare 0x1E", "", a, b) } // a > b
func (s *straight) beyond(a, b value) value   { return s.add("compare 0x16", "", a, b) } // not a <= b
func (s *straight) upTo(a, b value) value     { return s.add("compare 0x12", "", a, b) } // a <= b

// lows and highs are the first and the second numbers of pairs in a and b, which are in memory one after the other,
// in an order of their own: that of the two is the same. Of such numbers they are the pairs in a and b again.
func (s *straight) lows(a, b value) value  { return s.add("VUNPCKLPD", "", a, b) }
func (s *straight) highs(a, b value) value { return s.add("VUNPCKHPD", "", a, b) }

// evens and odds are the first and the second pairs of fours of numbers in a and b, in their order. zipLow and zipHigh
// are the fours again, first halves and second halves of the pairs in a and b.
func (s *straight) evens(a, b value) value   { return s.add("evens", "", a, b) }
func (s *straight) odds(a, b value) value    { return s.add("odds", "", a, b) }
func (s *straight) zipLow(a, b value) value  { return s.add("zip low", "", a, b) }
func (s *straight) zipHigh(a, b value) value { return s.add("zip high", "", a, b) }

// firstHalves and lastHalves are halves of a and of b, of eight lanes each.
func (s *straight) firstHalves(a, b value) value { return s.add("first halves", "", a, b) }
func (s *straight) lastHalves(a, b value) value  { return s.add("last halves", "", a, b) }

// accumulate adds to one of the registers that are left alone, counted from the end.
func (s *straight) accumulate(i int, v value) {
	s.add("accumulate", s.reg(s.registers()-1-i), v)
}

func (s *straight) registers() int {
	if s.wide || s.neon {
		return 32
	}
	return 16
}

// choose is a where the mask is set, else b.
func (s *straight) choose(mask, a, b value) value { return s.add("choose", "", mask, a, b) }

// slot is memory for a vector on the stack.
func (s *straight) slot() string {
	at := fmt.Sprintf("%d(SP)", 8*s.lanes()*s.slots)
	s.slots++
	return at
}

// writer gives out registers.
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
	for range s.registers() - max(s.kept, 2) {
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
	var numbers []int
	for _, a := range c.arguments {
		r := w.bring(a)
		numbers, from = append(numbers, r), append(from, w.reg(r))
	}
	switch c.op {
	case "store":
		w.save(numbers[0], c.at)
		return
	case "accumulate":
		p("VADDPD %s, %s, %s", from[0], c.at, c.at)
		return
	}
	for _, a := range c.arguments { // which are not needed any more
		if w.next(a) < 0 {
			if r, ok := w.where[a]; ok {
				w.in[r] = -1
				delete(w.where, a)
				w.locked[r] = c.op == "choose" && (w.wide || w.neon) // written before all are read
			}
		}
	}
	to := w.free()
	w.in[to], w.where[value(w.at)] = value(w.at), to
	if w.neon {
		w.neonOperate(c.op, numbers, to)
		return
	}
	w.operate(c.op, from, to)
}

// operate writes one instruction, or two.
func (w *writer) operate(op string, from []string, to int) {
	dst := w.reg(to)
	switch op {
	case "and":
		p("%s %s, %s, %s", w.logic("VPAND"), from[1], from[0], dst)
	case "or":
		p("%s %s, %s, %s", w.logic("VPOR"), from[1], from[0], dst)
	case "compare 0x1E", "compare 0x12", "compare 0x16":
		predicate := op[len("compare "):]
		if !w.wide {
			p("VCMPPD $%s, %s, %s, %s", predicate, from[1], from[0], dst)
			return
		}
		p("VCMPPD $%s, %s, %s, K1", predicate, from[1], from[0])
		p("VPTERNLOGQ.Z $0xFF, %s, %s, K1, %s", dst, dst, dst)
	case "choose":
		if !w.wide {
			p("VBLENDVPD %s, %s, %s, %s", from[0], from[1], from[2], dst)
			return
		}
		p("VMOVAPD %s, %s", from[0], dst)
		p("VPTERNLOGQ $0xCA, %s, %s, %s", from[2], from[1], dst)
	case "evens", "odds", "zip low", "zip high":
		w.pairs(op, from, dst)
	case "first halves":
		p("VSHUFF64X2 $0x44, %s, %s, %s", from[1], from[0], dst)
	case "last halves":
		p("VSHUFF64X2 $0xEE, %s, %s, %s", from[1], from[0], dst)
	case "VSQRTPD":
		p("%s %s, %s", op, from[0], dst)
	default:
		p("%s %s, %s, %s", op, from[1], from[0], dst)
	}
}

// pairs moves pairs of numbers.
func (w *writer) pairs(op string, from []string, dst string) {
	if !w.wide {
		half := map[string]string{"evens": "0x20", "odds": "0x31", "zip low": "0x20", "zip high": "0x31"}[op]
		p("VPERM2F128 $%s, %s, %s, %s", half, from[1], from[0], dst)
		return
	}
	lanes := map[string]string{"evens": "0x88", "odds": "0xDD", "zip low": "0x44", "zip high": "0xEE"}[op]
	p("VSHUFF64X2 $%s, %s, %s, %s", lanes, from[1], from[0], dst)
	if op == "zip low" || op == "zip high" {
		p("VSHUFF64X2 $0xD8, %s, %s, %s", dst, dst, dst)
	}
}

func (w *writer) logic(op string) string {
	if w.wide {
		return op + "Q"
	}
	return op
}

// bring returns the register of a vector, after reading it from memory where it is there.
func (w *writer) bring(v value) int {
	r, ok := w.where[v]
	if !ok {
		r = w.free()
		w.in[r], w.where[v] = v, r
		w.fetch(w.homes[v], r, w.code[v].op == "broadcast")
	}
	w.locked[r] = true
	return r
}

// fetch reads a vector, or one number into all lanes.
func (s set) fetch(at string, to int, broadcast bool) {
	switch {
	case s.neon:
		s.neonRead(at, to, broadcast)
	case broadcast:
		p("VBROADCASTSD %s, %s", at, s.reg(to))
	default:
		p("VMOVUPD %s, %s", at, s.reg(to))
	}
}

func (s set) save(from int, at string) {
	if s.neon {
		s.neonWrite(from, at)
		return
	}
	p("VMOVUPD %s, %s", s.reg(from), at)
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
		w.save(found, w.homes[v])
	}
	delete(w.where, v)
	w.in[found] = -1
	return found
}
