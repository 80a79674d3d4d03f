package objective

import (
	"gonum.org/v1/gonum/floats"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dense"
)

// secondDerivatives holds what products with the Hessian at one point have in common:
// the weighted loss gradients g, Q'g, and the Hessians of the loss as far as its
// structure gives them few numbers,
//
//	2 rho' I + 4 rho" r r'  of a radial loss,  diag(phi")  of a separable one.
//
// Of other losses products are asked for one by one, of those without second
// derivatives by differences of gradients ([framework.HessianOf]).
type secondDerivatives struct {
	x       framework.Point // where known holds
	loss    int             // with the loss after so many changes
	data    uint64          // and this version of the data
	known   bool
	g       []float64 // n x D
	pulled  []float64 // n x m
	one     []float64 // n: 2 w rho', or n x D: w phi"
	two     []float64 // n: 4 w rho"
	squares []float64 // n
	second  framework.SecondOrder
}

// prepare makes room, and forgets what belongs to another point or loss.
func (s *secondDerivatives) prepare(p *Objective, x framework.Point) {
	n, f := p.data.N, p.sheet
	if s.x == nil {
		s.x, s.g, s.pulled = x.Clone(), make([]float64, n*f.D), make([]float64, n*f.M)
		switch p.loss.(type) {
		case framework.Radial:
			s.one, s.two, s.squares = make([]float64, n), make([]float64, n), make([]float64, n)
		case framework.Separable:
			s.one = make([]float64, n*f.D)
		}
	}
	if s.loss != p.smoothing.changes || s.data != p.version || !s.x.Equal(x) {
		s.known = false
		s.x.CopyFrom(x)
		s.loss, s.data = p.smoothing.changes, p.version
	}
	if !s.known {
		s.second = framework.HessianOf(p.loss)
	}
}

// load computes the derivatives of the rows from to to, unless they are known.
func (s *secondDerivatives) load(p *Objective, from, to int) error {
	if s.known {
		return nil
	}
	D, n := p.sheet.D, to-from
	r, g := p.residuals[from*D:to*D], s.g[from*D:to*D]
	if err := p.loss.Evaluate(nil, g, r, D); err != nil {
		return err
	}
	switch l := p.loss.(type) {
	case framework.Radial:
		for i := range n {
			row := r[i*D : (i+1)*D]
			s.squares[from+i] = dense.Dot(row, row)
		}
		l.Rho(nil, s.one[from:to], s.two[from:to], s.squares[from:to])
		floats.Scale(2, s.one[from:to])
		floats.Scale(4, s.two[from:to])
	case framework.Separable:
		l.Phi(nil, nil, s.one[from*D:to*D], r)
	}
	for i := range n {
		weight := p.data.Weight(from + i)
		weigh(g[i*D:(i+1)*D], weight)
		switch p.loss.(type) {
		case framework.Radial:
			weigh(s.one[from+i:from+i+1], weight)
			weigh(s.two[from+i:from+i+1], weight)
		case framework.Separable:
			weigh(s.one[(from+i)*D:(from+i+1)*D], weight)
		}
	}
	p.sheet.RowsToFrame(s.pulled[from*p.sheet.M:to*p.sheet.M], g, n)
	return nil
}

// apply writes the weighted Hessians of the loss of the rows from to to times those of
// dr.
func (s *secondDerivatives) apply(p *Objective, dg, dr []float64, from, to int) error {
	D := p.sheet.D
	r := p.residuals[from*D : to*D]
	switch p.loss.(type) {
	case framework.Radial:
		for i := range to - from {
			ri, vi, out := r[i*D:(i+1)*D], dr[i*D:(i+1)*D], dg[i*D:(i+1)*D]
			floats.ScaleTo(out, s.one[from+i], vi)
			if two := s.two[from+i]; two != 0 {
				floats.AddScaled(out, two*dense.Dot(ri, vi), ri)
			}
		}
		return nil
	case framework.Separable:
		floats.MulTo(dg, s.one[from*D:to*D], dr)
		return nil
	}
	if err := s.second.HessianProduct(dg, r, dr, D); err != nil {
		return err
	}
	for i := range to - from {
		weigh(dg[i*D:(i+1)*D], p.data.Weight(from+i))
	}
	return nil
}

// weigh multiplies numbers of a row by its weight; one without weight may be on a kink.
func weigh(row []float64, weight float64) {
	if weight == 0 {
		clear(row)
		return
	}
	dense.Scale(row, weight)
}
