package dataset

import (
	"strconv"
	"strings"
)

// npyHeader is the dictionary at the start of an NPY file.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
}

// parseNPYHeader parses the Python dictionary of an NPY header. It must have exactly the
// keys of npyHeader, in any order.
func parseNPYHeader(text string) (npyHeader, error) {
	var h npyHeader
	p := literal{text: text, rest: text}
	seen := map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.quoted()
		p.expect(":")
		switch {
		case seen[key]:
			p.fail("each key once")
		case key == "descr":
			h.descr = p.descr()
		case key == "fortran_order":
			h.fortran = p.boolean()
		case key == "shape":
			h.shape = p.tuple()
		default:
			p.fail("the keys descr, fortran_order and shape")
		}
		seen[key] = true
		if !p.accept(",") && !p.ahead("}") {
			p.fail(`"," or "}"`)
		}
	}
	switch {
	case p.err == nil && len(seen) < 3:
		p.fail("the keys descr, fortran_order and shape")
	case !p.ahead(""):
		p.fail("nothing after the dictionary")
	}
	return h, p.err
}

// literal parses Python tokens. After the first error its position no longer changes.
type literal struct {
	text, rest string
	err        error
}

func (p *literal) fail(wanted string) {
	if p.err == nil {
		p.err = inputErrorf(ErrFormat, "NPY header: at byte %d: expected %s; the file is damaged", len(p.text)-len(p.rest), wanted)
	}
}

// ahead reports whether token comes next; "" means the end of the text.
func (p *literal) ahead(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\n")
	if token == "" {
		return p.rest == ""
	}
	return strings.HasPrefix(p.rest, token)
}

func (p *literal) accept(token string) bool {
	if p.err != nil || !p.ahead(token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *literal) expect(token string) {
	if !p.accept(token) {
		p.fail(strconv.Quote(token))
	}
}

// quoted reads a string without escapes; valid keys and types never need them.
func (p *literal) quoted() string {
	for _, quote := range []string{"'", `"`} {
		if !p.accept(quote) {
			continue
		}
		s, rest, ok := strings.Cut(p.rest, quote)
		if !ok || strings.ContainsAny(s, "\\\n") {
			break
		}
		p.rest = rest
		return s
	}
	p.fail("a string")
	return ""
}

// descr reads a type. It does not parse the list of a record type, which parseDescr
// rejects by its first byte.
func (p *literal) descr() string {
	if p.err == nil && p.ahead("[") {
		p.err = unreadableType("[...]", "[")
		return ""
	}
	return p.quoted()
}

func (p *literal) boolean() bool {
	if p.accept("True") {
		return true
	}
	p.expect("False")
	return false
}

func (p *literal) tuple() []int {
	shape := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		shape = append(shape, p.integer())
		if len(shape) > maxDims {
			p.fail("at most " + strconv.Itoa(maxDims) + " dimensions")
		}
		if !p.accept(",") && !p.ahead(")") {
			p.fail(`"," or ")"`)
		}
	}
	return shape
}

func (p *literal) integer() int {
	p.ahead("")
	digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
	n, err := strconv.Atoi(p.rest[:digits])
	if err != nil {
		p.fail("a whole number of values")
		return 0
	}
	p.rest = p.rest[digits:]
	return n
}

func unreadableType(descr, name string) error {
	what, remedy := "values of type %q", "save it with X.astype(float)"
	switch name[:min(1, len(name))] {
	case "O":
		what = "Python objects (type %q)"
	case "U", "S", "a":
		what = "text (type %q)"
	case "c":
		what, remedy = "complex numbers (type %q)", "save real and imaginary parts as columns"
	case "V", "[":
		what, remedy = "records (type %q)", "save its fields as the columns of one plain array"
	}
	return inputErrorf(ErrFormat, "holds "+what+", which cannot be read; "+remedy, descr)
}
