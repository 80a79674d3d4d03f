package losses

import (
	"fmt"
	"math"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
)

// ByEntry returns the form of a loss that is a sum over entries: a
// [framework.Separable] itself, squared_l2 as sum_k r_k^2, and huber entry by
// entry,
//
//	sum_k  r_k^2/2                    where |r_k| <= delta
//	       delta |r_k| - delta^2/2    elsewhere.
//
// For other losses, which combine the entries of a row, it returns an error.
func ByEntry(l framework.Loss) (framework.Separable, error) {
	switch l := l.(type) {
	case framework.Separable:
		return l, nil
	case squaredL2:
		return squareEntries(), nil
	case huber:
		return newHuberEntries(l.name, l.delta), nil
	default:
		return nil, fmt.Errorf("losses: loss %s is no sum over entries, and a part of a row has none; "+
			"missing entries can be ignored with squared_l2, huber (by entry), l1, lp and other losses that are separable (in Python, a Loss with separable = True): %w",
			l.Name(), framework.ErrInvalid)
	}
}

// IgnoreMissing returns a loss by entry, see [ByEntry], that treats NaN entries of residuals as missing: their loss,
// derivatives and weights are 0. The loss of a row with only missing entries is NaN.
func IgnoreMissing(l framework.Loss) (framework.Separable, error) {
	by, err := ByEntry(l)
	if err != nil {
		return nil, err
	}
	return ignoreMissing(by), nil
}

// ignoreMissing preserves the optional capabilities of a loss.
func ignoreMissing(l framework.Separable) framework.Separable {
	base := observed{l}
	if d, ok := l.(rowloss.HighLatency); ok {
		return ignoreMissingFar(distant{base, d})
	}
	bound, hasBound := l.(framework.Majorizer)
	kinked, hasKinks := l.(framework.Smoother)
	switch {
	case hasBound && hasKinks:
		return struct {
			observed
			observedWeights
			observedKinks
		}{base, observedWeights{bound}, observedKinks{kinked, base}}
	case hasBound:
		return struct {
			observed
			observedWeights
		}{base, observedWeights{bound}}
	case hasKinks:
		return struct {
			observed
			observedKinks
		}{base, observedKinks{kinked, base}}
	default:
		return base
	}
}

// distant is an observed loss that another program computes.
type distant struct {
	observed
	rowloss.HighLatency
}

// ignoreMissingFar is ignoreMissing for losses that another program computes.
func ignoreMissingFar(base distant) framework.Separable {
	bound, hasBound := base.l.(framework.Majorizer)
	kinked, hasKinks := base.l.(framework.Smoother)
	switch {
	case hasBound && hasKinks:
		return struct {
			distant
			observedWeights
			observedKinks
		}{base, observedWeights{bound}, observedKinks{kinked, base.observed}}
	case hasBound:
		return struct {
			distant
			observedWeights
		}{base, observedWeights{bound}}
	case hasKinks:
		return struct {
			distant
			observedKinks
		}{base, observedKinks{kinked, base.observed}}
	default:
		return base
	}
}

// squareEntries is squared_l2 as a sum over entries.
func squareEntries() framework.Separable {
	return concave{separable{"squared_l2", func(phi, d1, d2, r []float64) {
		for k := range phi {
			phi[k] = r[k] * r[k]
		}
		for k := range d2 {
			d2[k] = 2
		}
		if d1 != nil {
			double(d1, r)
		}
	}}}
}

// observed is a separable loss of the entries that are not NaN.
type observed struct{ l framework.Separable }

// Name implements [framework.Loss].
func (o observed) Name() string { return o.l.Name() }

// Params implements [rowloss.Parametric].
func (o observed) Params() map[string]float64 {
	if l, ok := o.l.(rowloss.Parametric); ok {
		return l.Params()
	}
	return nil
}

// Err implements [rowloss.ErrReporter].
func (o observed) Err() error {
	if l, ok := o.l.(rowloss.ErrReporter); ok {
		return l.Err()
	}
	return nil
}

// Phi implements [framework.Separable].
func (o observed) Phi(phi, d1, d2, r []float64) {
	split(r, func(filled, present []float64) {
		o.l.Phi(phi, d1, d2, filled)
		for _, dst := range [][]float64{phi, d1, d2} {
			clearMissing(dst, present)
		}
	})
}

// split calls work with the residuals, with 0 for missing entries, and with a mask: 1 for present entries, 0 for
// missing ones.
func split(r []float64, work func(filled, present []float64)) {
	buffer := borrow(2 * len(r))
	defer scratch.Put(buffer)
	filled, present := (*buffer)[:len(r)], (*buffer)[len(r):]
	for k, v := range r {
		filled[k], present[k] = v, 1
		if v != v {
			filled[k], present[k] = 0, 0
		}
	}
	work(filled, present)
}

// clearMissing writes 0 for entries that are not present.
func clearMissing(dst, present []float64) {
	for k := range dst {
		if present[k] == 0 {
			dst[k] = 0
		}
	}
}

// Evaluate implements [framework.Loss].
func (o observed) Evaluate(values, grad, r []float64, dim int) error {
	countRows(o.l.Name(), values, grad, r, dim)
	split(r, func(filled, present []float64) {
		if values == nil {
			o.l.Phi(nil, grad, nil, filled)
			clearMissing(grad, present)
			return
		}
		terms := borrow(len(r))
		defer scratch.Put(terms)
		o.l.Phi(*terms, grad, nil, filled)
		clearMissing(*terms, present)
		clearMissing(grad, present)
		for i := range values {
			values[i] = sum((*terms)[i*dim : (i+1)*dim])
			if sum(present[i*dim:(i+1)*dim]) == 0 {
				values[i] = math.NaN()
			}
		}
	})
	if l, ok := o.l.(rowloss.ErrReporter); ok {
		return l.Err()
	}
	return nil
}

// HessianProduct implements [framework.SecondOrder].
func (o observed) HessianProduct(dst, r, v []float64, dim int) error {
	countRows(o.l.Name(), nil, dst, r, dim)
	second := borrow(len(r))
	defer scratch.Put(second)
	o.Phi(nil, nil, *second, r)
	for k, c := range *second {
		dst[k] = c * v[k]
	}
	return nil
}

// observedWeights is the part of a loss with a quadratic bound.
type observedWeights struct{ bound framework.Majorizer }

// Weights implements [framework.Majorizer].
func (o observedWeights) Weights(w, r []float64, dim int) (err error) {
	split(r, func(filled, present []float64) {
		err = o.bound.Weights(w, filled, dim)
		clearMissing(w, present)
	})
	return err
}

// observedKinks is the part of a loss with kinks.
type observedKinks struct {
	kinked framework.Smoother
	plain  observed
}

// Smooth implements [framework.Smoother].
func (o observedKinks) Smooth(eps float64) framework.Loss {
	rounded, ok := o.kinked.Smooth(eps).(framework.Separable)
	if !ok {
		return ignoreMissing(o.plain.l)
	}
	return ignoreMissing(rounded)
}
