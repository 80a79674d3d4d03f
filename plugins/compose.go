package plugins

import (
	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/plugins/protocol"
)

// A type offers a capability if it has the method for it. Each type below has one such
// method, and compose embeds those that the plugin offers.
type (
	radial    struct{ l *remote }
	separable struct{ l *remote }
	majorizer struct{ l *remote }
	second    struct{ l *remote }
	smoother  struct{ l *remote }
)

// Rho implements [framework.Radial].
func (c radial) Rho(rho, d1, d2, u []float64) { c.l.profile(rho, d1, d2, u) }

// Phi implements [framework.Separable].
func (c separable) Phi(phi, d1, d2, r []float64) { c.l.profile(phi, d1, d2, r) }

// Weights implements [framework.Majorizer].
func (c majorizer) Weights(w, r []float64, dim int) error { return c.l.weights(w, r, dim) }

// HessianProduct implements [framework.SecondOrder].
func (c second) HessianProduct(dst, r, v []float64, dim int) error {
	return c.l.product(dst, r, v, dim)
}

// Smooth implements [framework.Smoother].
func (c smoother) Smooth(eps float64) framework.Loss { return c.l.plugin.compose(eps) }

// compose returns a loss that implements the interfaces the plugin offers. It returns
// nil if this program does not know the structure of the loss.
func (p *Plugin) compose(eps float64) framework.Loss {
	l := &remote{p, max(eps, 0)}
	switch o := p.offer; {
	case o.Structure == protocol.Structure_STRUCTURE_RADIAL:
		return composeRadial(l, o)
	case o.Structure == protocol.Structure_STRUCTURE_SEPARABLE:
		return composeSeparable(l, o)
	case o.Structure == protocol.Structure_STRUCTURE_BLACK_BOX:
		return composeBlackBox(l, o)
	default:
		return nil
	}
}

// offered encodes the optional capabilities that o offers as a bit mask.
func offered(o *protocol.ConfigureResponse) int {
	n := 0
	for i, has := range []bool{o.Weights, o.Products, o.Smoothing} {
		if has {
			n |= 1 << i
		}
	}
	return n
}

func composeBlackBox(l *remote, o *protocol.ConfigureResponse) framework.Loss {
	switch offered(o) {
	case 0:
		return l
	case 1:
		return struct {
			*remote
			majorizer
		}{l, majorizer{l}}
	case 2:
		return struct {
			*remote
			second
		}{l, second{l}}
	case 3:
		return struct {
			*remote
			majorizer
			second
		}{l, majorizer{l}, second{l}}
	case 4:
		return struct {
			*remote
			smoother
		}{l, smoother{l}}
	case 5:
		return struct {
			*remote
			majorizer
			smoother
		}{l, majorizer{l}, smoother{l}}
	case 6:
		return struct {
			*remote
			second
			smoother
		}{l, second{l}, smoother{l}}
	default:
		return struct {
			*remote
			majorizer
			second
			smoother
		}{l, majorizer{l}, second{l}, smoother{l}}
	}
}

func composeRadial(l *remote, o *protocol.ConfigureResponse) framework.Loss {
	switch offered(o) {
	case 0:
		return struct {
			*remote
			radial
		}{l, radial{l}}
	case 1:
		return struct {
			*remote
			radial
			majorizer
		}{l, radial{l}, majorizer{l}}
	case 2:
		return struct {
			*remote
			radial
			second
		}{l, radial{l}, second{l}}
	case 3:
		return struct {
			*remote
			radial
			majorizer
			second
		}{l, radial{l}, majorizer{l}, second{l}}
	case 4:
		return struct {
			*remote
			radial
			smoother
		}{l, radial{l}, smoother{l}}
	case 5:
		return struct {
			*remote
			radial
			majorizer
			smoother
		}{l, radial{l}, majorizer{l}, smoother{l}}
	case 6:
		return struct {
			*remote
			radial
			second
			smoother
		}{l, radial{l}, second{l}, smoother{l}}
	default:
		return struct {
			*remote
			radial
			majorizer
			second
			smoother
		}{l, radial{l}, majorizer{l}, second{l}, smoother{l}}
	}
}

func composeSeparable(l *remote, o *protocol.ConfigureResponse) framework.Loss {
	switch offered(o) {
	case 0:
		return struct {
			*remote
			separable
		}{l, separable{l}}
	case 1:
		return struct {
			*remote
			separable
			majorizer
		}{l, separable{l}, majorizer{l}}
	case 2:
		return struct {
			*remote
			separable
			second
		}{l, separable{l}, second{l}}
	case 3:
		return struct {
			*remote
			separable
			majorizer
			second
		}{l, separable{l}, majorizer{l}, second{l}}
	case 4:
		return struct {
			*remote
			separable
			smoother
		}{l, separable{l}, smoother{l}}
	case 5:
		return struct {
			*remote
			separable
			majorizer
			smoother
		}{l, separable{l}, majorizer{l}, smoother{l}}
	case 6:
		return struct {
			*remote
			separable
			second
			smoother
		}{l, separable{l}, second{l}, smoother{l}}
	default:
		return struct {
			*remote
			separable
			majorizer
			second
			smoother
		}{l, separable{l}, majorizer{l}, second{l}, smoother{l}}
	}
}
