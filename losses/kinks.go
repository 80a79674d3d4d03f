package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// Rounded makes a loss with undeclared kinks smoothable. It searches residuals of length dim, of about the given
// size, for jumps of the gradient. If the gradient jumps only where an entry is 0, and the loss does not depend on
// the signs of entries, it returns a [framework.Smoother] that replaces each entry r_k by sqrt(r_k^2 + eps^2). For
// other kinks it returns an error that says what to implement. It returns unchanged a loss without kinks, one with
// a declared structure, one that is a [framework.Smoother], and every loss if size is 0. It calls the loss at most
// 42 times.
func Rounded(l framework.Loss, dim int, size float64) (framework.Loss, error) {
	if _, ok := l.(framework.Smoother); ok || l == nil || rowloss.StructureOf(l) != rowloss.StructureBlackBox || !(size > 0) || math.IsInf(size, 0) {
		return l, nil
	}
	s := kinkSearch{loss: l, dim: dim, size: size, rng: rand.New(rand.NewPCG(1, uint64(dim)))}
	kinks, err := s.kinks()
	if err != nil || kinks == nil {
		return l, err
	}
	even, err := s.even()
	if err != nil {
		return nil, err
	}
	for _, r := range kinks {
		atZero := slices.ContainsFunc(r, func(v float64) bool { return math.Abs(v) <= atKink*size })
		if !even || !atZero {
			return nil, fmt.Errorf("losses: the gradient of the loss %s jumps at the residual %.3g, and nothing says how to round it: let the loss implement "+
				"framework.Smoother (smooth(eps) in a plugin), or take a built-in one, as l1, l2 or quantile: %w", l.Name(), r[:min(dim, maxShown)], framework.ErrInvalid)
		}
	}
	return evenOf(l), nil
}

const (
	// Kinks are searched on lines between points from smallest to largest, each kinkStep times the one before, in
	// units of the size.
	kinkStep, smallest, largest = 2.5, 1e-3, 30.
	// The number of times that an interval is halved, and the jump of the slope over the last interval, relative to
	// the largest slope, that counts as a kink.
	halvings, kinkJump = 40, 1e-4
	// atKink is the size of an entry that counts as at a kink. sameLoss is the relative difference up to which two
	// losses are equal.
	atKink, sameLoss = 1e-9, 1e-10
	// maxShown is the number of entries that an error shows.
	maxShown = 5
)

type kinkSearch struct {
	loss framework.Loss
	dim  int
	size float64
	rng  *rand.Rand
	most float64 // the largest slope seen
}

// stretch is an interval of the line at + t along, with the derivatives along it at its ends.
type stretch struct {
	at, along   []float64
	lo, hi      float64
	first, last float64
}

// kinks returns residuals at which the gradient jumps, on lines through 0 and near 0.
func (s *kinkSearch) kinks() (found [][]float64, err error) {
	zero, axis := make([]float64, s.dim), make([]float64, s.dim)
	axis[0] = s.size
	var list []stretch
	for _, at := range [][]float64{zero, s.draw()} {
		for _, along := range [][]float64{axis, s.draw()} {
			for t := smallest; t < largest; t *= kinkStep {
				list = append(list, stretch{at: at, along: along, lo: t, hi: t * kinkStep}, stretch{at: at, along: along, lo: -t * kinkStep, hi: -t})
			}
			list = append(list, stretch{at: at, along: along, lo: -smallest, hi: smallest * 1.3}) // halves do not end at 0
		}
	}
	first, err := s.slopes(list, func(i stretch) float64 { return i.lo })
	if err != nil {
		return nil, err
	}
	last, err := s.slopes(list, func(i stretch) float64 { return i.hi })
	for i := range list {
		list[i].first, list[i].last = first[i], last[i]
	}
	for k := 0; k < halvings && err == nil; k++ {
		if list, err = s.halve(list); k == halvings/2 || k == halvings-1 {
			list = slices.DeleteFunc(list, func(i stretch) bool { return !(math.Abs(i.last-i.first) > kinkJump*s.most) })
		}
	}
	for _, i := range list {
		found = append(found, floats.AddScaledTo(make([]float64, s.dim), i.at, i.lo, i.along))
	}
	return found, err
}

// halve keeps the half of each stretch on which the slope changes more.
func (s *kinkSearch) halve(list []stretch) ([]stretch, error) {
	middle := func(i stretch) float64 { return i.lo/2 + i.hi/2 }
	slopes, err := s.slopes(list, middle)
	if err != nil {
		return nil, err
	}
	for k, v := range slopes {
		i := &list[k]
		if math.Abs(v-i.first) > math.Abs(i.last-v) {
			i.hi, i.last = middle(*i), v
		} else {
			i.lo, i.first = middle(*i), v
		}
	}
	return list, nil
}

// slopes returns the derivatives along stretches at a given point of each.
func (s *kinkSearch) slopes(list []stretch, place func(stretch) float64) ([]float64, error) {
	var r []float64
	for _, i := range list {
		r = append(r, floats.AddScaledTo(make([]float64, s.dim), i.at, place(i), i.along)...)
	}
	err := s.loss.Evaluate(nil, r, r, s.dim)
	slopes := make([]float64, len(list))
	for k, i := range list {
		slopes[k] = floats.Dot(i.along, r[k*s.dim:(k+1)*s.dim])
		s.most = max(s.most, math.Abs(slopes[k]))
	}
	return slopes, err
}

// even reports whether the loss is invariant under changes of sign of entries.
func (s *kinkSearch) even() (bool, error) {
	r := s.draw()
	for k, v := range r[:s.dim] {
		r = append(r, v)
		if s.rng.IntN(2) == 0 || k == 0 {
			r[s.dim+k] = -v
		}
	}
	values := make([]float64, 2)
	err := s.loss.Evaluate(values, nil, r, s.dim)
	return math.Abs(values[1]-values[0]) <= sameLoss*values[0], err
}

// draw returns a random row of the given size.
func (s *kinkSearch) draw() []float64 {
	v := make([]float64, s.dim)
	for k := range v {
		v[k] = s.rng.NormFloat64() * s.size
	}
	return v
}

// evenLoss is a loss with kinks at zero entries only.
type evenLoss struct{ framework.Loss }

// evenOf preserves the optional methods of a loss computed by a program.
func evenOf(l framework.Loss) framework.Loss {
	base := evenLoss{l}
	far, isFar := l.(rowloss.HighLatency)
	program, isProgram := l.(rowloss.Identified)
	switch {
	case isFar && isProgram:
		return struct {
			evenLoss
			rowloss.HighLatency
			rowloss.Identified
		}{base, far, program}
	case isFar:
		return struct {
			evenLoss
			rowloss.HighLatency
		}{base, far}
	}
	return base
}

// Params implements [rowloss.Parametric].
func (l evenLoss) Params() map[string]float64 {
	if p, ok := l.Loss.(rowloss.Parametric); ok {
		return p.Params()
	}
	return nil
}

// Notes implements [rowloss.Noted].
func (l evenLoss) Notes() []string {
	if n, ok := l.Loss.(rowloss.Noted); ok {
		return n.Notes()
	}
	return nil
}

// Smooth implements [framework.Smoother].
func (l evenLoss) Smooth(eps float64) framework.Loss {
	if !(eps > tiny) {
		return l
	}
	return evenRounded{l, eps}
}

// evenRounded is a loss of sqrt(r_k^2 + eps^2).
type evenRounded struct {
	l   evenLoss
	eps float64
}

// Name implements [framework.Loss].
func (l evenRounded) Name() string { return l.l.Name() }

// Params implements [rowloss.Parametric].
func (l evenRounded) Params() map[string]float64 { return l.l.Params() }

// Evaluate implements [framework.Loss].
func (l evenRounded) Evaluate(values, grad, r []float64, dim int) error {
	buffer := borrow(2 * len(r))
	defer scratch.Put(buffer)
	s, slopes := (*buffer)[:len(r)], (*buffer)[len(r):]
	for k, v := range r {
		s[k] = hypotenuse(v, l.eps)
	}
	if grad == nil {
		return l.l.Evaluate(values, nil, s, dim)
	}
	err := l.l.Evaluate(values, slopes, s, dim)
	for k, v := range r {
		grad[k] = slopes[k] * (v / s[k])
	}
	return err
}
