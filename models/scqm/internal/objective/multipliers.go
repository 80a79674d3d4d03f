package objective

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/framework/rowloss"
	"github.com/scqm/scqm/internal/dense"
)

// The dual variables of a fit are one row g_i of length D for every row of the
// data: subgradients of the loss, where the loss is a support function, else vectors that
// converge to its gradient. They do not include the weights of the rows.

// DualScale implements [latent.PrimalDual]. The scale is the median loss of a row. If the loss is separable it is the
// median loss per entry out of D - d, because tau can make d entries zero. For powers it is the median size of an
// entry.
func (p *Objective) DualScale(x framework.Point) (n int, scale float64, err error) {
	_, power := p.PlainLoss().(rowloss.PowerSum)
	if _, support := p.PlainLoss().(rowloss.SupportFunction); !support && !power {
		return 0, 0, nil
	}
	touched, err := p.RoundingScale(x)
	if err != nil || touched == 0 {
		return 0, 0, err
	}
	if power {
		return p.data.N * p.data.D, touched, nil
	}
	values := make([]float64, p.data.N)
	if err := p.PlainLoss().Evaluate(values, nil, p.residuals, p.data.D); err != nil {
		return 0, 0, fmt.Errorf("scqm: loss %s: %w", p.loss.Name(), err)
	}
	values = slices.DeleteFunc(values, func(v float64) bool { return !(v > 0) })
	if len(values) == 0 {
		return 0, 0, nil
	}
	slices.Sort(values)
	scale = values[len(values)/2]
	if _, radial := p.PlainLoss().(framework.Radial); !radial {
		scale /= float64(max(1, p.sheet.D-p.sheet.Latent))
	}
	return p.data.N * p.data.D, scale, nil
}

// StartDual writes the gradients of the current loss at x into dual, n x D.
func (p *Objective) StartDual(dual []float64, x framework.Point) error {
	if err := p.KeepResiduals(x); err != nil {
		return err
	}
	if err := p.loss.Evaluate(nil, dual, p.residuals, p.data.D); err != nil {
		return fmt.Errorf("scqm: loss %s: %w", p.loss.Name(), err)
	}
	return nil
}

// SetMultipliers sets the subgradients that Stationarity uses, n x D; nil removes them.
func (p *Objective) SetMultipliers(dual []float64) {
	p.multipliers, p.known = append(p.multipliers[:0], dual...), false
}

// PlainLoss returns the loss without smoothing.
func (p *Objective) PlainLoss() framework.Loss {
	if p.smoothing.plain != nil {
		return p.smoothing.plain
	}
	return p.loss
}

// losses evaluates the loss at residuals r of the rows that begin with row from. If linear holds multipliers g_i, it
// evaluates the linear function g_i'r - l*(g_i) instead, a lower bound of the loss.
func (p *Objective) losses(values, g, r []float64, from int) error {
	D := p.sheet.D
	if p.linear == nil {
		return p.evaluateLoss(values, g, r)
	}
	at := p.linear[from*D : from*D+len(r)]
	copy(g, at)
	for i := range values {
		dual := at[i*D : (i+1)*D]
		values[i] = floats.Dot(dual, r[i*D:(i+1)*D]) - conjugate(p.PlainLoss(), dual)
	}
	return nil
}

// conjugate returns l*(g) = sup g'r - l(r). It is nonzero for a [rowloss.PowerSum]. It is 0 for a support function,
// whose multipliers are in its ball.
func conjugate(loss framework.Loss, g []float64) (sum float64) {
	power, ok := loss.(rowloss.PowerSum)
	if !ok {
		return 0
	}
	p := power.Power()
	for _, v := range g {
		sum += (p - 1) * math.Pow(math.Abs(v)/p, p/(p-1))
	}
	return sum
}

// evaluateLoss evaluates the loss. It writes NaN for rows that are not finite, as a bounded loss would hide them.
func (p *Objective) evaluateLoss(values, g, r []float64) error {
	D := p.sheet.D
	evaluate := func(r []float64) error { return p.loss.Evaluate(values, g, r, D) }
	var err error
	if p.data.Missing || dense.FiniteUntil(r) == len(r) {
		err = evaluate(r)
	} else {
		err = dense.WithFiniteRows(r, D, evaluate, values, g)
	}
	if err != nil {
		return fmt.Errorf("scqm: loss %s: %w", p.loss.Name(), err)
	}
	return nil
}

// multiplierCertificate evaluates the first-order conditions at x with the multipliers in place of gradients. With
// the conjugate l* of the loss,
//
//	l(y) >= g_i'y - l*(g_i) = l(r_i) + g_i'(y - r_i) - e_i,   e_i = l(r_i) + l*(g_i) - g_i'r_i:
//
// g_i is an e_i-subgradient, as in CertificateSlack. Plain is the sum of the losses at x.
func (p *Objective) multiplierCertificate(x framework.Point, plain float64) (firstOrder, error) {
	defer func() { p.linear = nil }()
	p.linear = p.multipliers
	o, err := p.firstOrderOf(p.PlainLoss(), x)
	if err == nil && plain > 0 {
		o.slack = (o.slack + math.Max(0, plain-o.loss)) / plain
	}
	return o, err
}
